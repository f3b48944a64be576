"""DescribeCluster (60): the brokers' addresses are replaced and learnt, as in Metadata.

Version notes: v1 adds EndpointType; the addresses of controllers are masked, though a broker's listener tells none.
"""

from typing import Final

from kproxy.relay.apis.addresses import replace_and_learn
from kproxy.relay.routes import Offer, OnResponse

KEY: Final = 60
OFFER: Final = Offer(on_response=OnResponse.WHOLE, response=replace_and_learn)
