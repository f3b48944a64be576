# This module is pure.
"""Fetch (1): requests pass; from v16 on, responses may name new leaders behind all records (KIP-951).

A response that is complete in one read is rewritten; a larger one streams, record blobs unseen, and at its end the
endpoints are rewritten in place or, where they do not fit, taken out: its length is long gone out.

Version notes: v12 is the first flexible one; v13 replaces topic names by ids; v16 adds NodeEndpoints.
"""

from typing import Final

from kproxy.protocol.api_table import ApiPolicy, OnResponse
from kproxy.relay.apis.addresses import replace_all

KEY: Final = 1
POLICY: Final = ApiPolicy(on_response=OnResponse.STREAM, glances=True, response=replace_all, response_from=16)
