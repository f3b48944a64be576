"""A connection of kproxy's own to a broker, after ApiVersions: typed requests, in versions that both sides know.

kproxy.upstream.client opens one when it has none: to poll the topology, and to write telemetry and events to topics.
"""

from __future__ import annotations

import math
from typing import Final, TypeVar

import trio

from kproxy.config.identity import Identity
from kproxy.errors import IdentityError, MalformedMessageError, ShortageError, UpstreamError
from kproxy.observe.faults import note_shortage
from kproxy.observe.troubles import SHORTAGES, Troubles
from kproxy.upstream.attempts import Address
from kproxy.upstream.authentication import authenticate
from kproxy.upstream.connection import Connection
from kproxy.upstream.dial import Dial, reason, shortage_of
from kproxy.upstream.handshake import HELLO, NotOfferedError, Request, decode_answer, next_hello, offered, pick
from kproxy.upstream.tokens import TokenCache
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.message import WireMessage

Answer = TypeVar("Answer", bound=WireMessage)

_ASKS_FOR_SASL: Final = "; if its listener asks for SASL, give kproxy an `identity`"
"""A broker answers ApiVersions, and then closes connections that do not authenticate."""


class Session:
    """One broker's connection and the versions that the broker serves."""

    def __init__(self, connection: Connection, hello: ApiVersionsResponse) -> None:
        self._connection = connection
        self.hello = hello
        """What the broker answered to ApiVersions."""
        self._versions = offered(hello)
        self.renew_at = math.inf
        """When, on Trio's clock, a new connection must take over: the authentication ends soon after (KIP-368)."""

    @property
    def live(self) -> bool:
        """True while requests can still be sent."""
        return self._connection.error is None

    @property
    def overdue(self) -> bool:
        """True when a new connection must take over."""
        return trio.current_time() >= self.renew_at

    def close(self, why: str) -> None:
        """End the connection; requests in flight raise UpstreamError with `why`."""
        self._connection.fail(why)

    def retire(self, why: str) -> None:
        """End the connection as soon as no caller waits for an answer on it."""
        self._connection.retire(why)

    async def request(self, message: Request, answer: type[Answer], limit: float) -> Answer:
        """Return the answer to `message` within `limit` seconds. UpstreamError; NotOfferedError if it was not sent."""
        try:
            version = pick(message, self._versions)
        except NotOfferedError as error:
            raise NotOfferedError(f"{self._connection.where}: {error}") from None
        frame, body_at = await self._connection.exchange(message.api_key, version, message.encode(version), limit)
        self._connection.hint = ""
        try:
            return answer.decode(frame[body_at:], version)
        except MalformedMessageError as error:
            self.close(f"{error}; the broker's answer is not what its version says")
            raise UpstreamError(str(self._connection.error)) from error


async def open_session(
    address: Address,
    dial: Dial,
    nursery: trio.Nursery,
    *,
    connect_timeout: float,
    client_id: str,
    max_response: int,
    troubles: Troubles,
    identity: Identity | None = None,
    tokens: TokenCache | None = None,
) -> Session:
    """Dial, shake hands, authenticate if there is an identity, and leave the connection running in `nursery`.

    All within `connect_timeout` seconds. `tokens` are those of all connections of the identity. Raises UpstreamError:
    ShortageError when kproxy itself could not dial, IdentityError when it could not authenticate. No socket stays open
    then.
    """
    where = f"{address[0]}:{address[1]}"
    tokens = tokens or TokenCache()
    with trio.move_on_after(connect_timeout):
        stream = await _dialled(address, dial, where, troubles)
        connection = Connection(stream, where, client_id=client_id, max_response=max_response, troubles=troubles)
        nursery.start_soon(connection.run)
        try:
            session = Session(connection, await _shake_hands(connection, connect_timeout))
            if identity is None:
                connection.hint = _ASKS_FOR_SASL
            else:
                session.renew_at = await authenticate(session, identity, where, connect_timeout, tokens, nursery)
            return session
        except BaseException:
            connection.fail("the handshake did not end well")
            raise
    if identity is not None and identity.client_credentials is not None and tokens.fetching:
        endpoint = identity.client_credentials.endpoint.where
        raise IdentityError(
            f"{where}: {endpoint}: no token within {connect_timeout:g} s; check its load and the network"
        )
    raise UpstreamError(
        f"{where}: no connection and handshake within {connect_timeout:g} s; check the address, firewalls, and that "
        "a Kafka broker listens there, with TLS (upstream_tls) or without as kproxy is set"
    )


async def _dialled(address: Address, dial: Dial, where: str, troubles: Troubles) -> trio.abc.Stream:
    try:
        return await dial(*address)
    except OSError as error:
        if shortage := shortage_of(error):
            note_shortage(troubles, shortage, f"connect to {where}")
            raise ShortageError(f"{where}: not dialled: {SHORTAGES[shortage][1]}") from error
        raise UpstreamError(
            f"{where}: cannot connect: {reason(error)}; check that the broker runs and that this is its address"
        ) from error


async def _shake_hands(connection: Connection, limit: float) -> ApiVersionsResponse:
    version: int | None = HELLO.max_version
    while version is not None:
        frame, body_at = await connection.exchange(HELLO.api_key, version, HELLO.encode(version), limit)
        try:
            answer = decode_answer(frame[body_at:], version)
            version = next_hello(answer, version)
        except (MalformedMessageError, UpstreamError) as error:
            raise UpstreamError(f"{connection.where}: {error}") from error
    return answer
