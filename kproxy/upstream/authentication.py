"""Authenticates kproxy itself on a new connection to a broker that asks for SASL, with the settings of an identity.

`open_session` calls `authenticate` between ApiVersions and the first request.
"""

from __future__ import annotations

import math
import random
import secrets
from typing import Final, Protocol, TypeVar

import trio

from kproxy.config.identity import Identity
from kproxy.errors import IdentityError
from kproxy.observe.masking import Secrets
from kproxy.upstream.client_credentials import TokenError
from kproxy.upstream.handshake import Request
from kproxy.upstream.responses import refused
from kproxy.upstream.sasl import Credentials, exchange
from kproxy.upstream.scram import Exchange, SaslError
from kproxy.upstream.secret_file import secret_in
from kproxy.upstream.tokens import TokenCache
from kproxy.wire.error_codes import error_name
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest
from kproxy.wire.generated.sasl_handshake_response import SaslHandshakeResponse
from kproxy.wire.message import WireMessage

Answer = TypeVar("Answer", bound=WireMessage)

_NONCE_BYTES: Final = 24
_LONGEST_MESSAGE: Final = 200
_RENEWED_FROM: Final = 0.8
_RENEWED_TO: Final = 0.9
"""The shares of a session's lifetime between which it is renewed: the rest is for requests that are under way.

Connections that begin together are so not renewed together.
"""


class Asked(Protocol):
    """A connection that takes typed requests."""

    async def request(self, message: Request, answer: type[Answer], limit: float) -> Answer:
        """Return the answer to `message` within `limit` seconds."""


class _Handshake(SaslHandshakeRequest):
    min_version = 1  # bytes after v0 have no Kafka framing


async def authenticate(
    broker: Asked, identity: Identity, where: str, limit: float, tokens: TokenCache, nursery: trio.Nursery
) -> float:
    """Authenticate at the broker `where`; return when to renew the connection, on Trio's clock (KIP-368; inf: never).

    Each answer may take `limit` seconds. A token that `tokens` does not have is fetched in `nursery`. Raises
    UpstreamError, and IdentityError where the broker, the identity's file or its token endpoint is as it should not be.
    """
    if identity.client_credentials is None:
        credentials = await trio.to_thread.run_sync(_read, identity, where)
        return await _authenticate(broker, credentials, where, limit)
    try:
        token = await tokens.token(identity.client_credentials, nursery)
    except TokenError as error:
        raise IdentityError(f"{where}: {identity.mechanism}: {error}") from None
    try:
        return await _authenticate(broker, Credentials(identity.mechanism, "", token), where, limit)
    except IdentityError:
        tokens.refused(token)
        raise


async def _authenticate(broker: Asked, credentials: Credentials, where: str, limit: float) -> float:
    try:
        steps = exchange(credentials, secrets.token_urlsafe(_NONCE_BYTES))
        await _agree(broker, credentials.mechanism, limit)
        return await _authenticated(broker, steps, credentials.secret, limit)
    except SaslError as error:
        raise IdentityError(f"{where}: {credentials}: {error}; check `identity`") from None


async def _agree(broker: Asked, mechanism: str, limit: float) -> None:
    answer = await broker.request(_Handshake(mechanism), SaslHandshakeResponse, limit)
    if answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        offered = ", ".join(map(_shown, answer.mechanisms)) or "none"
        raise SaslError(f"the broker does not offer this mechanism, it offers {offered}")
    if answer.error_code == ErrorCode.ILLEGAL_SASL_STATE:
        raise SaslError("the broker's listener does not ask for SASL, and takes no `identity`")
    if answer.error_code:
        raise SaslError(str(refused("SaslHandshake", answer.error_code)))


async def _authenticated(broker: Asked, steps: Exchange, secret: str, limit: float) -> float:
    message: bytes | None = next(steps)
    while message is not None:
        asked = trio.current_time()
        answer = await broker.request(SaslAuthenticateRequest(message), SaslAuthenticateResponse, limit)
        if answer.error_code:
            said = Secrets([secret]).hide(_shown(answer.error_message or ""))
            raise SaslError(f"the broker refuses it, {error_name(answer.error_code)}: {said or 'it does not say why'}")
        # In a thread: a salted password is the work of up to a million hashes.
        message = await trio.to_thread.run_sync(_next, steps, answer.auth_bytes)
    lifetime = answer.session_lifetime_ms / 1000
    return asked + lifetime * random.uniform(_RENEWED_FROM, _RENEWED_TO) if lifetime > 0 else math.inf


def _next(steps: Exchange, answer: bytes) -> bytes | None:
    try:
        return steps.send(answer)
    except StopIteration:
        return None


def _read(identity: Identity, where: str) -> Credentials:
    """Return the credentials; raises IdentityError when the file cannot be read."""
    if identity.password is not None:
        return Credentials(identity.mechanism, identity.username or "", identity.password.get_secret_value())
    name = identity.password_file or identity.token_file
    assert name is not None, "the settings are checked"
    try:
        return Credentials(identity.mechanism, identity.username or "", secret_in(name))
    except ValueError as error:
        raise IdentityError(f"{where}: {identity.mechanism}: {error}") from None


def _shown(text: str) -> str:
    """Return what a broker says, on one line that is not too long."""
    return "".join(each if each.isprintable() else "?" for each in text[:_LONGEST_MESSAGE])
