"""SaslHandshake (17): passes; v0 is refused.

Version notes: after v0 the client sends bare tokens that are no Kafka requests, so nothing could be told apart in
them; v1 (Kafka 1.0, KIP-152) wraps them in SaslAuthenticate. No client of this decade sends v0.
"""

from typing import Final

from kproxy.relay.routes import Offer

KEY: Final = 17
OFFER: Final = Offer(refuse_below=1)
