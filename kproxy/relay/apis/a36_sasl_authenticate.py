# This module is pure.
"""SaslAuthenticate (36): passes as it came; from it the principal of the connection is learnt, as Kafka writes it.

It is known once the broker has accepted the exchange, from names that PLAIN, SCRAM and OAUTHBEARER tell (`relay.sasl`
says how), and learnt anew when the client authenticates again on the same connection (KIP-368). Without SASL, with
GSSAPI, a delegation token or an opaque bearer token it stays unknown. What cannot be read is no error here: it passes,
the broker judges it, and nothing is learnt.

Secrets: the message is looked at once, in memory, and let go. Nothing of it but the name is kept, logged or shown.

Version notes: v1 adds the session's lifetime (KIP-368), v2 is flexible; the message is the same in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kproxy.errors import NONE, MalformedMessageError
from kproxy.protocol.api_table import ApiPolicy, Chunk, Forward, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.relay.sasl import Exchanges
from kproxy.wire.frame import frame as framed
from kproxy.wire.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.header import decode_request_header, decode_response_header

KEY: Final = 36
MAX_REQUEST: Final = 1 << 20
"""Bytes: twice what a broker takes by default (`sasl.server.max.receive.size`)."""
_TYPE: Final = "User"
"""The type of every principal that Kafka's default builder makes."""


def ask(context: Context, frame: memoryview) -> Forward:
    """Send the client's message on, and remember whom it names until the broker has answered it."""
    if context.sasl is None:
        context.sasl = Exchanges()
    context.sasl.say(_message(frame))
    return Forward(framed(frame))


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
        assert context.sasl is not None, "each answer has had a request"
        name = context.sasl.hear(None if answer is None else answer.auth_bytes)
        if name is not None:
            context.principal = f"{_TYPE}:{name}"
        if context.sasl.over:
            context.sasl = None
        return None

    return respond


def _answer(frame: memoryview, version: int) -> SaslAuthenticateResponse | None:
    try:
        _, body = decode_response_header(frame, 0, len(frame), KEY, version)
        return SaslAuthenticateResponse.decode(frame[body:], version, exact=False)
    except MalformedMessageError:
        return None


POLICY: Final = ApiPolicy(
    on_request=OnRequest.WHOLE,
    request=ask,
    request_limit=MAX_REQUEST,
    on_response=OnResponse.WHOLE,
    response=learn,
)
