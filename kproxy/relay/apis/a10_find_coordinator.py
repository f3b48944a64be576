# This module is pure.
"""FindCoordinator (10): the coordinators' addresses are replaced; an absent one (id -1) stays absent.

Version notes: up to v3 one coordinator at the top level; from v4 on a list, one for each key (KIP-699).
"""

from typing import Final

from kproxy.protocol.api_table import ApiPolicy, OnResponse
from kproxy.relay.apis.addresses import replace_all

KEY: Final = 10
POLICY: Final = ApiPolicy(on_response=OnResponse.WHOLE, response=replace_all)
