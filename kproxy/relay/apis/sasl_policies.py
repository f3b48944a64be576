# This module is pure.
"""SaslHandshake (17) and SaslAuthenticate (36): they pass as they came; the principal is learnt from them.

SaslHandshake says in which mechanism the client's next messages are; v0 is refused. After v0 the client sends bare
tokens that are no Kafka requests, so nothing could be told apart in them; v1 (Kafka 1.0, KIP-152) wraps them in
SaslAuthenticate. No client of this decade sends v0.

The principal is known once the broker has accepted the exchange, from names that PLAIN, SCRAM and OAUTHBEARER give
(`relay.sasl` says how), and learnt anew when the client authenticates again on the same connection (KIP-368). Without
SASL, with GSSAPI, a delegation token or an opaque bearer token it stays unknown. What cannot be read is no error here:
it passes, the broker judges it, and nothing is learnt.

Secrets: a message is looked at once, in memory, and let go. Nothing of it but the name is kept, logged or shown.

Version notes: SaslAuthenticate v1 adds the session's lifetime (KIP-368), v2 is flexible; the message is the same in
all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from kproxy.errors import NONE, MalformedMessageError
from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.relay.sasl import Exchanges
from kproxy.wire.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest
from kproxy.wire.header import decode_request_header, decode_response_header

HANDSHAKE: Final = 17
AUTHENTICATE: Final = 36
MAX_REQUEST: Final = 1 << 20
"""Bytes: twice what a broker takes by default (`sasl.server.max.receive.size`)."""
_TYPE: Final = "User"
"""The type of every principal that Kafka's default builder makes."""


def begin(context: Context, frame: memoryview) -> None:
    """Note the mechanism; whether the broker knows it shows in what it answers later."""
    context.state(Exchanges).begin(_mechanism(frame))


def _mechanism(frame: memoryview) -> str | None:
    try:
        header, body = decode_request_header(frame, 0, len(frame))
        return SaslHandshakeRequest.decode(frame[body:], header.api_version, exact=False).mechanism
    except MalformedMessageError:  # the broker's to refuse
        return None


def say(context: Context, frame: memoryview) -> None:
    """Note whom the client names, until the broker has answered."""
    context.state(Exchanges).say(_message(frame))


def _message(frame: memoryview) -> bytes | None:
    try:
        header, body = decode_request_header(frame, 0, len(frame))
        return SaslAuthenticateRequest.decode(frame[body:], header.api_version, exact=False).auth_bytes
    except MalformedMessageError:
        return None


def learn(route: Route) -> Respond:
    """Learn from the broker's answer whether the client is whom it named; the answer stays as it is."""

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        answer = _answer(frame, route.version)
        if answer is not None and answer.error_code != NONE:
            route.counters.count_error(answer.error_code)
            answer = None
        exchanges = context.find(Exchanges)
        assert exchanges is not None, "each answer has had a request"
        name = exchanges.hear(None if answer is None else answer.auth_bytes)
        if name is not None:
            context.principal = f"{_TYPE}:{name}"
        if exchanges.over:
            context.forget(Exchanges)
        return None

    return respond


def _answer(frame: memoryview, version: int) -> SaslAuthenticateResponse | None:
    try:
        _, body = decode_response_header(frame, 0, len(frame), AUTHENTICATE, version)
        return SaslAuthenticateResponse.decode(frame[body:], version, exact=False)
    except MalformedMessageError:
        return None


POLICIES: Final[Mapping[int, ApiPolicy]] = MappingProxyType(
    {
        HANDSHAKE: ApiPolicy(on_request=OnRequest.WHOLE, request=begin, refuse_below=1),
        AUTHENTICATE: ApiPolicy(
            on_request=OnRequest.WHOLE,
            request=say,
            request_limit=MAX_REQUEST,
            on_response=OnResponse.WHOLE,
            response=learn,
        ),
    }
)
"""By api key."""
