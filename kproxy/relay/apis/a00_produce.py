"""Produce (0): requests pass by their head; from v10 on, responses name new leaders (KIP-951).

With acks=0 there is no response, so none is expected. A response is small and is rewritten whole.

Version notes: v3 is the lowest that Kafka 4 takes; v9 is the first flexible one; v10 adds NodeEndpoints; v13 replaces
topic names by ids (KIP-516).
"""

from typing import Final

from kproxy.relay.apis.addresses import replace_all
from kproxy.relay.routes import Offer, OnRequest, OnResponse

KEY: Final = 0
OFFER: Final = Offer(on_request=OnRequest.ACKS, on_response=OnResponse.WHOLE, response=replace_all, response_from=10)
