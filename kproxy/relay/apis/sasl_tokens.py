# This module is pure (no I/O, no clock).
"""SaslHandshake v0 and the tokens behind it: the broker is asked as later clients ask it (KIP-152).

The client's handshake goes to the broker as v1, so that the broker takes SaslAuthenticate requests afterwards. Its
answer is the same in both versions. Each token becomes such a request (`kproxy.protocol.sasl_tokens`), and the token
in the broker's answer goes to the client without Kafka's header.

A client of GSSAPI that begins with a token gets the same: the handshake is kproxy's own, and unanswered. So it also
reaches brokers of Kafka 4, which know no such beginning any more (KIP-896).

All are dialogues: what the client sends behind one is held until the broker has answered, for only the answer says
whether a token or a request comes next.
"""

from __future__ import annotations

from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import AskBroker, Steps
from kproxy.protocol.sasl_tokens import Accepted, Unframed
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest
from kproxy.wire.generated.sasl_handshake_response import SaslHandshakeResponse
from kproxy.wire.header import RequestHeader, decode_response_header, encode_request_header
from kproxy.wire.primitives import INT16
from kproxy.wire.primitives import frame as framed

_KEY: Final = ApiKey.SASL_HANDSHAKE
_V1: Final = INT16.pack(_KEY) + INT16.pack(1)
_HEAD_BYTES: Final = len(_V1)
_GSSAPI: Final = "GSSAPI"
"""The mechanism whose last token a broker leaves out behind SaslHandshake v0, so that its client does not read one.

In the answer to SaslAuthenticate that token is empty. With PLAIN and OAUTHBEARER a broker sends the empty token.
"""
_HANDSHAKE: Final = framed(
    encode_request_header(RequestHeader(_KEY, 1, 0, None)), SaslHandshakeRequest(_GSSAPI).encode(1)
)
"""kproxy's own, for a client that sent none."""


def shake(context: Context, frame: memoryview, mechanism: str | None, accepted: Accepted) -> AskBroker:
    """Ask the broker for the mechanism of a SaslHandshake v0, None where it cannot be read; tokens come next.

    `accepted` is true of the broker's token that accepts the client. An empty one ends any exchange.
    """
    unframed = Unframed(accepted, tells_the_end=mechanism != _GSSAPI)
    return AskBroker(_shaken(context, framed(_V1, frame[_HEAD_BYTES:]), unframed))


def _shaken(context: Context, asked: bytes, unframed: Unframed) -> Steps:
    answer = yield asked
    code = _shaken_with(answer).error_code
    if code != ErrorCode.ILLEGAL_SASL_STATE:  # which a broker says that does not authenticate, and goes on
        context.unframed = unframed  # where the mechanism is refused, too: a token is to be neither read nor logged
    return framed(answer)


def _shaken_with(answer: bytes) -> SaslHandshakeResponse:
    _, body = decode_response_header(answer, 0, len(answer), _KEY, 1)
    return SaslHandshakeResponse.decode(memoryview(answer)[body:], 1)


def take(context: Context, frame: memoryview) -> AskBroker:
    """Send a token to the broker, as the SaslAuthenticate request `frame`; its answer is the client's next token.

    A broker that refuses a token behind SaslHandshake v0 says nothing, and closes. So the connection ends.
    """
    return AskBroker(_taken(context, framed(frame)))


def _taken(context: Context, asked: bytes) -> Steps:
    unframed = context.unframed
    assert unframed is not None, "no token is taken before the answer to the one before"
    if not unframed.shaken:
        refused = _shaken_with((yield _HANDSHAKE))
        if refused.error_code != ErrorCode.NONE:
            offered = ", ".join(refused.mechanisms) or "no mechanism"
            raise Fault(Reason.BROKER_CLOSED, f"the client begins with a Kerberos token; the broker offers {offered}")
        context.unframed = unframed._replace(shaken=True)
    answer = yield asked
    _, body = decode_response_header(answer, 0, len(answer), ApiKey.SASL_AUTHENTICATE, 0)
    said = SaslAuthenticateResponse.decode(memoryview(answer)[body:], 0)
    if said.error_code != ErrorCode.NONE:
        raise Fault(Reason.BROKER_CLOSED, f"it refuses the client's SASL token with error {said.error_code}")
    token = said.auth_bytes
    if not token or unframed.accepted(token):
        context.unframed = None
    return framed(token) if token or unframed.tells_the_end else b""
