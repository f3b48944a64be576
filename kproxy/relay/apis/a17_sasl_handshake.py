# This module is pure.
"""SaslHandshake (17): passes as it came, and tells in which mechanism the client's next messages are; v0 is refused.

Version notes: after v0 the client sends bare tokens that are no Kafka requests, so nothing could be told apart in
them; v1 (Kafka 1.0, KIP-152) wraps them in SaslAuthenticate. No client of this decade sends v0.
"""

from __future__ import annotations

from typing import Final

from kproxy.errors import MalformedMessageError
from kproxy.protocol.api_table import ApiPolicy, Forward, OnRequest
from kproxy.protocol.context import Context
from kproxy.relay.sasl import Exchanges
from kproxy.wire.frame import frame as framed
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest
from kproxy.wire.header import decode_request_header

KEY: Final = 17


def ask(context: Context, frame: memoryview) -> Forward:
    """Send the client's request on; whether the broker knows the mechanism shows in what it answers later."""
    if context.sasl is None:
        context.sasl = Exchanges()
    context.sasl.begin(_mechanism(frame))
    return Forward(framed(frame))


def _mechanism(frame: memoryview) -> str | None:
    try:
        header, body = decode_request_header(frame, 0, len(frame))
        return SaslHandshakeRequest.decode(frame[body:], header.api_version, exact=False).mechanism
    except MalformedMessageError:  # the broker's to refuse
        return None


POLICY: Final = ApiPolicy(on_request=OnRequest.WHOLE, request=ask, refuse_below=1)
