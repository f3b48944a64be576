# This module is pure (no I/O, no clock).
"""Learns a connection's principal: the name in the client's SASL exchange, once the broker has accepted it.

Runs for each SaslHandshake (17) request, and for each SaslAuthenticate (36) request and its response. The tokens behind
SaslHandshake v0 are such requests, too (`sasl_tokens`).

Secrets: passwords, proofs and tokens are neither kept nor shown. Only the name in a message is read. It is believed
only when the broker has accepted the exchange that it began. A client cannot forge that answer: each response is
matched with its own request.

Kafka's default principal builder makes principals of these names. A broker may be configured to make something else of
them (`principal.builder.class`, `sasl.oauthbearer.sub.claim.name`), which it reports to no client.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from struct import Struct
from types import MappingProxyType
from typing import Final, NamedTuple

from kproxy.errors import MalformedMessageError
from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import AskBroker
from kproxy.relay.apis import sasl_tokens
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest
from kproxy.wire.header import decode_request_header, decode_response_header

MAX_NAME: Final = 255
"""The most bytes of a name: what OpenID Connect allows a subject. A longer one is ignored: anyone may send anything."""
_MAX_MESSAGE: Final = 64 << 10
"""The most bytes of a message that is read; tokens are far smaller."""
_VERSION: Final = Struct(">2xh")
_NUL: Final = b"\0"
_PLAIN_PARTS: Final = 3
_TOKEN_PARTS: Final = 3
_SASLNAME: Final = rb"((?:[^,=\0]|=2C|=3D)+)"
_SCRAM_FIRST: Final = re.compile(
    rb"[ny],(?:a=%b)?,(?:m=[^,]+,)?n=%b,r=[\x21-\x2b\x2d-\x7e]+((?:,[A-Za-z]+=[^,]+)*)" % (_SASLNAME, _SASLNAME)
)
"""RFC 5802: authorization id, name, extensions."""
_BEARER_FIRST: Final = re.compile(rb"[ny],(?:a=%b)?,\x01((?:[A-Za-z]+=[^\x01]*\x01)+)\x01" % _SASLNAME)
"""RFC 7628: authorization id, key/value pairs."""
_BEARER: Final = re.compile(rb"auth=bearer +([^ ]+)", re.IGNORECASE)


class Claim(NamedTuple):
    """A name that the client proves if `accepted` is true of the broker's answer to its last message."""

    name: str
    accepted: Callable[[bytes], bool]


class Mechanism(NamedTuple):
    """How a mechanism names the client."""

    name: Callable[[bytes], str | None]
    """Returns the name in the client's first message."""
    messages: int
    """How many messages the client sends."""
    accepted: Callable[[bytes], bool]
    """Takes the broker's answer to the last message; returns whether it accepts the client."""


class Exchanges:
    """The SASL exchanges of one connection: mostly one, more where it authenticates again (KIP-368).

    Kafka's clients wait for each answer; others may not. So each claim waits in a queue for the answer to the
    request that made it.
    """

    __slots__ = ("_claims", "_mechanism", "_name", "_said")

    def __init__(self) -> None:
        self._mechanism: Mechanism | None = None
        self._name: str | None = None
        self._said = 0
        self._claims: list[Claim | None] = []  # one for each request that is not answered yet

    @property
    def over(self) -> bool:
        """True when no exchange under way can still give a name."""
        return self._mechanism is None and not self._claims

    def begin(self, mechanism: str | None) -> None:
        """Begin an exchange by a mechanism; one that shows no name, such as GSSAPI, teaches nothing."""
        self._mechanism = None if mechanism is None else MECHANISMS.get(mechanism)
        self._name, self._said = None, 0

    def say(self, message: bytes | None) -> None:
        """Take the client's next message; None where it cannot be read."""
        claim, mechanism = None, self._mechanism
        if mechanism is not None:
            if self._said == 0:
                self._name = None if message is None else _name(mechanism, message)
            self._said += 1
            if self._said == mechanism.messages:
                claim = None if self._name is None else Claim(self._name, mechanism.accepted)
                self.begin(None)
        self._claims.append(claim)

    def hear(self, challenge: bytes | None) -> str | None:
        """Take the broker's answer to the next message, None for a refusal; returns the name that it proves, if any."""
        claim = self._claims.pop(0)
        if claim is None or challenge is None or not claim.accepted(challenge):
            return None
        return claim.name


def _name(mechanism: Mechanism, message: bytes) -> str | None:
    return mechanism.name(message) if len(message) <= _MAX_MESSAGE else None


def plain(message: bytes) -> str | None:
    """RFC 4616: authorization id, NUL, name, NUL, password. The password is not even copied."""
    if message.count(_NUL) != _PLAIN_PARTS - 1:
        return None
    first = message.index(_NUL)
    return _text(message[:first] or message[first + 1 : message.rindex(_NUL)])


def scram(message: bytes) -> str | None:
    """RFC 5802. With a delegation token (KIP-48) the name is the token's; only the broker knows its owner."""
    found = _SCRAM_FIRST.fullmatch(message)
    if found is None or b",tokenauth=" in found[3]:
        return None
    return _text((found[1] or found[2]).replace(b"=2C", b",").replace(b"=3D", b"="))


def bearer(message: bytes) -> str | None:
    """RFC 7628: the claim `sub` of the token, if that is a JWT; the broker decides whether it is genuine."""
    found = _BEARER_FIRST.fullmatch(message)
    tokens = [] if found is None else [_BEARER.fullmatch(pair) for pair in found[2].split(b"\x01") if _is_auth(pair)]
    if len(tokens) != 1 or tokens[0] is None:
        return None
    return _subject(tokens[0][1])


def _is_auth(pair: bytes) -> bool:
    return pair.startswith(b"auth=")


def _subject(token: bytes) -> str | None:
    if token.count(b".") != _TOKEN_PARTS - 1:
        return None
    _, claims, _ = token.split(b".")
    try:
        said = json.loads(b64decode(claims + b"=" * (-len(claims) % 4), b"-_", validate=True))
    except (ValueError, RecursionError):
        return None
    subject = said.get("sub") if isinstance(said, dict) else None
    return _named(subject.strip()) if isinstance(subject, str) else None


def _text(name: bytes) -> str | None:
    try:
        return _named(str(name, "utf-8"))
    except UnicodeDecodeError:
        return None


def _named(name: str) -> str | None:
    """Return the name if it is valid text of an allowed length; lone surrogates, which JSON can hold, are no text."""
    try:
        return name if 0 < len(name.encode()) <= MAX_NAME else None
    except UnicodeEncodeError:
        return None


def _any(challenge: bytes) -> bool:
    del challenge
    return True


def _verified(challenge: bytes) -> bool:
    """SCRAM's server-final message shows that the broker accepts the proof. `e=` would be an error."""
    return challenge.startswith(b"v=")


def _empty(challenge: bytes) -> bool:
    """OAUTHBEARER's refusal is also a challenge with error code 0, which the client still has to answer."""
    return not challenge


MECHANISMS: Final[Mapping[str, Mechanism]] = MappingProxyType(
    {
        "PLAIN": Mechanism(plain, 1, _any),
        "SCRAM-SHA-256": Mechanism(scram, 2, _verified),
        "SCRAM-SHA-512": Mechanism(scram, 2, _verified),
        "OAUTHBEARER": Mechanism(bearer, 1, _empty),
    }
)
"""The mechanisms that show a name. GSSAPI's is encrypted for the broker."""


MAX_REQUEST: Final = 1 << 20
"""Bytes: twice what a broker takes by default (`sasl.server.max.receive.size`)."""
_TYPE: Final = "User"
"""The type of every principal that Kafka's default builder makes."""


def begin(context: Context, frame: memoryview) -> AskBroker | None:
    """Note the mechanism; the broker's later answers show whether it knows it."""
    mechanism = _mechanism(frame)
    context.state(Exchanges).begin(mechanism)
    (version,) = _VERSION.unpack_from(frame)
    if version > 0:
        return None
    known = None if mechanism is None else MECHANISMS.get(mechanism)
    return sasl_tokens.shake(context, frame, mechanism, _empty if known is None else known.accepted)


def _mechanism(frame: memoryview) -> str | None:
    try:
        header, body = decode_request_header(frame, 0, len(frame))
        return SaslHandshakeRequest.decode(frame[body:], header.api_version).mechanism
    except MalformedMessageError:  # the broker will refuse it
        return None


def say(context: Context, frame: memoryview) -> AskBroker | None:
    """Note the name that the client claims, until the broker has answered."""
    context.state(Exchanges).say(_message(frame))
    return None if context.unframed is None else sasl_tokens.take(context, frame)


def _message(frame: memoryview) -> bytes | None:
    try:
        header, body = decode_request_header(frame, 0, len(frame))
        return SaslAuthenticateRequest.decode(frame[body:], header.api_version).auth_bytes
    except MalformedMessageError:
        return None


def learn(route: Route) -> Respond:
    """Learn from the broker's answer whether the client's name is accepted; the answer stays as it is."""

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        answer = _answer(frame, route.version)
        if answer is not None and answer.error_code != ErrorCode.NONE:
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
        _, body = decode_response_header(frame, 0, len(frame), ApiKey.SASL_AUTHENTICATE, version)
        return SaslAuthenticateResponse.decode(frame[body:], version)
    except MalformedMessageError:
        return None


POLICIES: Final[Mapping[int, ApiPolicy]] = MappingProxyType(
    {
        ApiKey.SASL_HANDSHAKE: ApiPolicy(on_request=OnRequest.WHOLE, request=begin),
        ApiKey.SASL_AUTHENTICATE: ApiPolicy(
            on_request=OnRequest.WHOLE,
            request=say,
            request_limit=MAX_REQUEST,
            on_response=OnResponse.WHOLE,
            response=learn,
        ),
    }
)
"""By api key."""
