# This module is pure.
"""DescribeQuorum (55): the controllers' listeners are masked, for no controller can be reached through kproxy.

Version notes: v2 adds the nodes with their listeners (KIP-853).
"""

from typing import Final

from kproxy.protocol.api_table import ApiPolicy, OnResponse
from kproxy.relay.apis.addresses import replace_all

KEY: Final = 55
POLICY: Final = ApiPolicy(on_response=OnResponse.WHOLE, response=replace_all, response_from=2)
