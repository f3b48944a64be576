# This module is pure.
"""ShareAcknowledge (79): NodeEndpoints name new leaders, as in Produce (KIP-932).

Version notes: v1 is the first stable one, in Kafka 4.1.
"""

from typing import Final

from kproxy.protocol.api_table import ApiPolicy, OnResponse
from kproxy.relay.apis.addresses import replace_all

KEY: Final = 79
POLICY: Final = ApiPolicy(on_response=OnResponse.WHOLE, glances=True, response=replace_all)
