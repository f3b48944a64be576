# This module is pure.
"""ShareFetch (78): as Fetch; NodeEndpoints are a plain array at the end (KIP-932).

Version notes: v1 is the first stable one, in Kafka 4.1.
"""

from typing import Final

from kproxy.protocol.api_table import ApiPolicy, OnResponse
from kproxy.relay.apis.addresses import replace_all

KEY: Final = 78
POLICY: Final = ApiPolicy(on_response=OnResponse.STREAM, glances=True, response=replace_all)
