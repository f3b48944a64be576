"""Metadata (3): the brokers' addresses are replaced; what they were is learnt, so that every node has its port.

Only the bytes up to the brokers array are looked at; topics pass as they are.

Version notes: v9 is the first flexible one; v13 adds a top-level error code (KIP-1102).
"""

from typing import Final

from kproxy.relay.apis.addresses import replace_and_learn
from kproxy.relay.routes import Offer, OnResponse

KEY: Final = 3
OFFER: Final = Offer(on_response=OnResponse.WHOLE, response=replace_and_learn)
