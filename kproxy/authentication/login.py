# This module is pure (no I/O, no clock).
"""Kafka's requests of SASL, as kproxy answers them itself: SaslHandshake v0 and v1, SaslAuthenticate.

A connection has one `Login` before it is relayed (`kproxy.relay.unauthenticated`), and another one when it
authenticates again (KIP-368).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final

from kproxy.authentication.exchange import AuthenticationRefusedError, Step
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest
from kproxy.wire.generated.sasl_handshake_response import SaslHandshakeResponse
from kproxy.wire.header import decode_request_header, encode_response_header
from kproxy.wire.primitives import frame as framed

if TYPE_CHECKING:
    from kproxy.authentication.authenticator import Authenticator
    from kproxy.authentication.exchange import Exchange, InTurn
    from kproxy.wire.header import RequestHeader

_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class LoginStep:
    """A whole response with its size. `principal`: the client is authenticated; `refusal`: it is refused, and why."""

    frame: bytes
    principal: str | None = None
    refusal: str = ""
    seconds: float = inf
    """For how long the authentication counts."""


class Login:
    """One client's way to a principal."""

    def __init__(self, authenticator: Authenticator, in_turn: InTurn) -> None:
        self._authenticator = authenticator
        self._in_turn = in_turn
        self._exchange: Exchange | None = None
        self.mechanism = ""
        """What the client chose, of those that are offered; "" before."""
        self.unframed = False
        """True when the client's messages and kproxy's come without Kafka's headers (SaslHandshake v0)."""
        self.told_refusal = ""
        """Why the client is refused, which its last answer says, and it has not acknowledged yet; "" before."""

    def shake(self, request: memoryview) -> LoginStep:
        """Take a SaslHandshake request without its size. Raises MalformedMessageError and UnsupportedApiError."""
        header, body = decode_request_header(request, 0, len(request))
        asked = SaslHandshakeRequest.decode(request[body:], header.api_version).mechanism
        answer = SaslHandshakeResponse(mechanisms=list(self._authenticator.mechanisms))
        self._exchange = self._authenticator.begin(asked, self._in_turn)
        refusal = ""
        if self._exchange is None:
            answer.error_code = ErrorCode.UNSUPPORTED_SASL_MECHANISM
            refusal = f"it asks for the mechanism {_shown(asked)}, which is not offered"
        else:
            self.mechanism, self.unframed = asked, header.api_version == 0
        return LoginStep(_response(header, answer.encode(header.api_version)), refusal=refusal)

    async def say(self, request: memoryview) -> LoginStep:
        """Take a SaslAuthenticate request without its size; may take as long as a hash, or the fetch of keys.

        A refusal gives nothing away: neither whether the user is known, nor which message was wrong. Raises
        MalformedMessageError, UnsupportedApiError and AuthenticationUnavailableError.
        """
        header, body = decode_request_header(request, 0, len(request))
        message = SaslAuthenticateRequest.decode(request[body:], header.api_version).auth_bytes
        try:
            step = await self._step(message)
        except AuthenticationRefusedError as error:
            return self.refused(header, str(error), error.told)
        seconds = self._seconds(step)
        answer = SaslAuthenticateResponse(error_message=None, auth_bytes=step.answer)
        if step.principal is not None and header.api_version > 0 and seconds < inf:
            answer.session_lifetime_ms = max(1, round(seconds * 1000))
        return LoginStep(_response(header, answer.encode(header.api_version)), step.principal, seconds=seconds)

    def refused(self, header: RequestHeader, why: str, told: str = "") -> LoginStep:
        """Return the refusal of a SaslAuthenticate request: `why` is for the log alone, `told` for the client."""
        said = told or f"Authentication failed: invalid credentials with SASL mechanism {self.mechanism}"
        answer = SaslAuthenticateResponse(ErrorCode.SASL_AUTHENTICATION_FAILED, said)
        return LoginStep(_response(header, answer.encode(header.api_version)), refusal=why)

    async def say_unframed(self, message: bytes) -> LoginStep:
        """As `say`, behind SaslHandshake v0: a refusal has no answer at all."""
        try:
            step = await self._step(message)
        except AuthenticationRefusedError as error:
            return LoginStep(b"", refusal=str(error))
        return LoginStep(framed(step.answer), step.principal, seconds=self._seconds(step))

    async def _step(self, message: bytes) -> Step:
        if self._exchange is None:
            raise AuthenticationRefusedError("SaslAuthenticate came without SaslHandshake")
        step = await self._exchange.step(message)
        self.told_refusal = step.refusal
        if step.principal is not None:
            self._exchange = None
        return step

    def _seconds(self, step: Step) -> float:
        return min(step.seconds, inf if self._authenticator.lifetime is None else self._authenticator.lifetime)


def _response(header: RequestHeader, body: bytes) -> bytes:
    key: int = header.api_key
    return framed(encode_response_header(header.correlation_id, key, header.api_version), body)


def _shown(text: str) -> str:
    return repr("".join(each if each.isprintable() else "?" for each in text[:_SHOWN]))


LOGIN_KEYS: Final = frozenset({ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})
"""The APIs that a client may use before it is authenticated."""
