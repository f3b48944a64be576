"""Admitting clients that authenticate to kproxy: no broker is dialled before; kproxy's own login comes behind it."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
import structlog
import trio

from kproxy.authentication.authenticator import OAUTHBEARER, Authenticator
from kproxy.authentication.jwks import TokenVerifier
from kproxy.authentication.oauthbearer import ACKNOWLEDGED
from kproxy.cluster.policies import composed
from kproxy.errors import IdentityError, MalformedMessageError, UpstreamError
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiTable
from kproxy.protocol.fault import Fault
from kproxy.quotas.connections import PrincipalConnections
from kproxy.relay.apis.reauthentication import policies
from kproxy.relay.lingering_close import PAUSE_SECONDS
from kproxy.upstream.authentication import Asked
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest
from kproxy.wire.generated.sasl_handshake_response import SaslHandshakeResponse
from tests.unit.authentication.tokens import NOW, SETTINGS, keys, message, signed
from tests.unit.relay.sockets import Peer, black_hole, eventually, request, response
from tests.unit.relay.test_acceptor import Listener, closed, open_acceptor
from tests.unit.relay.test_broker_login import OFFERED, answered, asked
from tests.unit.relay.test_unauthenticated import PLAIN, RIGHT, SHA_256, USERS, WRONG, hello, raw_request, say, shake

Identify = Callable[[Asked, str], Coroutine[Any, Any, float]]


@asynccontextmanager
async def terminating(identify: Identify | None = None, **settings: Any) -> AsyncIterator[Listener]:
    """An acceptor whose clients authenticate to kproxy, which identifies itself so; by default it need not."""
    async with open_acceptor(**settings) as opened:
        by, backend = Authenticator((PLAIN, SHA_256), USERS, None), opened.backend
        backend.authenticator = by
        backend.table = ApiTable(backend.counters, composed(backend, {}, None, sasl=policies(backend)))
        if identify is not None:
            backend.identify = identify  # type: ignore[method-assign, assignment]
        yield opened


async def came(opened: Listener) -> Peer:
    """Return a client that has authenticated and sent a request."""
    client = opened.come()
    await client.send(shake(), say(RIGHT), request(1))
    for _ in range(2):
        await client.receive(int.from_bytes(await client.receive(4), "big"))
    return client


async def test_a_client_is_let_in() -> None:
    """Its first request goes to the broker, and nothing of its authentication does."""
    async with terminating() as opened:
        client = await came(opened)
        broker = await opened.broker.accept()
        assert await broker.receive(len(request(1))) == request(1)
        await broker.send(response(1))
        assert await client.receive(len(response(1))) == response(1)
        (connection,) = opened.pump.connections.values()
        assert connection.context.principal == "User:carol"
        assert connection.context.renew_at == math.inf


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"", Reason.IDLE_TIMEOUT),
        (shake(), Reason.AUTHENTICATION_TIMEOUT),
        (shake() + say(WRONG), Reason.AUTHENTICATION_FAILED),
        (request(1), Reason.UNAUTHENTICATED_REQUEST),
        (hello(3), Reason.CONNECT_FAILED),
        (b"\0\0\x7f\xff", Reason.FRAME_TOO_LARGE),
        (b"\0\0\0\1x", Reason.MALFORMED_REQUEST),
        (raw_request(17, 2, bytes(20)), Reason.UNSUPPORTED_VERSION),
    ],
)
async def test_nobody_else_has_a_broker_dialled(sent: bytes, reason: Reason) -> None:
    """The client is closed, and its reason is counted."""
    async with terminating(first_request=0.3) as opened:
        client = opened.come()
        if sent:
            await client.send(sent)
        await closed(client)
        await opened.ended(reason)
        assert (opened.backend.dials, opened.broker.nobody_came()) == ([], True)


@pytest.mark.parametrize("more", [b"", request(1)], ids=["silent", "goes on"])
async def test_a_refusal_can_be_read_before_the_end(more: bytes) -> None:
    """kafka-python discards what comes together with a FIN, and a reset destroys what is not read yet."""
    async with terminating() as opened:
        client = opened.come()
        await client.send(shake(), say(WRONG), more)
        for _ in range(2):
            heard = await client.receive(int.from_bytes(await client.receive(4), "big"))
        assert b"invalid credentials" in heard
        with trio.move_on_after(PAUSE_SECONDS / 2) as before_the_end:
            await client.receive(1)
        assert before_the_end.cancelled_caught
        assert await closed(client) == b""
        await opened.ended(Reason.AUTHENTICATION_FAILED)


@pytest.mark.parametrize(
    "then",
    [say(ACKNOWLEDGED), request(1), shake(OAUTHBEARER), b"", None],
    ids=["acknowledges", "asks", "tries again", "waits", "closes"],
)
async def test_whatever_a_client_does_about_a_refused_token(then: bytes | None) -> None:
    """It was told in JSON, and not all libraries acknowledge that: the token's fault is the reason all the same."""
    async with terminating(first_request=0.5) as opened:
        tokens = TokenVerifier(SETTINGS)
        tokens.keys, tokens._clock = keys(), lambda: NOW
        opened.backend.authenticator = Authenticator((OAUTHBEARER,), USERS, None, tokens=tokens)
        client = opened.come()
        await client.send(shake(OAUTHBEARER), say(message(signed(aud="elsewhere"))))
        for _ in range(2):
            await client.receive(int.from_bytes(await client.receive(4), "big"))
        if then is None:
            client.half_close()
        else:
            await client.send(then)
        if then in (request(1), shake(OAUTHBEARER)):
            assert await closed(client) == b"", "the end comes at once"
        await opened.ended(Reason.AUTHENTICATION_FAILED)
        assert opened.backend.audited == [(None, OAUTHBEARER, "OAUTHBEARER: the token is for 'elsewhere'")]


def faults() -> int:
    """Return how many are in memory."""
    return sum(isinstance(one, Fault) for one in gc.get_objects())


async def test_nothing_is_left_of_a_client_that_is_refused() -> None:
    """All that it had goes at once. In a cycle it would stay until a collection, which takes long for hundreds."""
    async with terminating() as opened:
        gc.collect()
        before = faults()
        gc.disable()
        try:
            client = opened.come()
            await client.send(request(1))
            await closed(client)
            await opened.ended(Reason.UNAUTHENTICATED_REQUEST)
            assert faults() == before
        finally:
            gc.enable()


async def test_kproxy_authenticates_first() -> None:
    """On the client's own connection to the broker; kproxy does so again there before its session ends."""

    async def identify(broker: Asked, where: str) -> float:
        assert where == f"127.0.0.1:{opened.broker.address[1]}"
        assert await broker.request(SaslHandshakeRequest(PLAIN), SaslHandshakeResponse, 10) == OFFERED
        return 60.0

    async with terminating(identify) as opened:
        begun = time.monotonic()
        await came(opened)
        broker = await opened.broker.accept()
        header, _ = await asked(broker)
        assert (header.api_key, header.client_id) == (17, "kproxy")
        assert not opened.pump.connections
        await broker.send(answered(1, OFFERED.encode(1)))
        assert await broker.receive(len(request(1))) == request(1)
        (connection,) = opened.pump.connections.values()
        assert begun + 60 <= connection.context.renew_at <= time.monotonic() + 60
        assert connection.destination is opened.backend


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (IdentityError("it is refused"), Reason.UPSTREAM_AUTHENTICATION_FAILED),
        (UpstreamError("it is gone"), Reason.UPSTREAM_AUTHENTICATION_FAILED),
        (MalformedMessageError("it is none"), Reason.UPSTREAM_AUTHENTICATION_FAILED),
        (ZeroDivisionError("a bug"), Reason.INTERNAL_ERROR),
    ],
)
async def test_a_broker_that_kproxy_cannot_authenticate_at(error: Exception, reason: Reason) -> None:
    """Both sides are closed; other clients are not concerned."""
    errors = [error]

    async def identify(broker: Asked, where: str) -> float:
        del broker, where
        if errors:
            raise errors.pop()
        return math.inf

    async with terminating(identify) as opened:
        client = await came(opened)
        broker = await opened.broker.accept()
        assert await closed(client) == await closed(broker) == b""
        await opened.ended(reason)
        await came(opened)
        second = await opened.broker.accept()
        assert await second.receive(len(request(1))) == request(1)


async def test_a_broker_that_turns_kproxy_away() -> None:
    """It ends the connection before it answers: that is noted, for /readyz."""

    async def identify(broker: Asked, where: str) -> float:
        del where
        await broker.request(SaslHandshakeRequest(PLAIN), SaslHandshakeResponse, 10)
        return math.inf

    async with terminating(identify) as opened:
        await came(opened)
        broker = await opened.broker.accept()
        await asked(broker)
        await broker.close()
        await opened.ended(Reason.UPSTREAM_AUTHENTICATION_FAILED)
        assert opened.backend.counters.turned_away.brokers == {f"127.0.0.1:{opened.broker.address[1]}"}


async def test_the_end_of_kproxy_while_it_authenticates() -> None:
    """Both sockets are closed."""
    begun = trio.Event()

    async def identify(broker: Asked, where: str) -> float:
        del broker, where
        begun.set()
        await trio.sleep_forever()
        raise AssertionError

    async with terminating(identify) as opened:
        await came(opened)
        await begun.wait()
        opened.nursery.cancel_scope.cancel()
        await trio.lowlevel.checkpoint_if_cancelled()
    assert opened.backend.ended == {Reason.SHUTDOWN: 1}


async def test_another_clusters_broker_never_gets_the_identity() -> None:
    """A failover while a broker is dialled: the identity is the new upstream's, and the broker the old one's."""
    identified: list[str] = []

    async def identify(broker: Asked, where: str) -> float:
        del broker
        identified.append(where)
        return math.inf

    async with black_hole() as silent, terminating(identify, connect=0.4) as opened:
        opened.backend.servers = (silent, opened.broker.address)
        client = await came(opened)
        opened.backend.epoch += 1
        broker = await opened.broker.accept()
        assert await closed(client) == await closed(broker) == b""
        await opened.ended(Reason.REBOOTSTRAP)
        assert identified == []


async def test_a_topology_that_changes_while_kproxy_authenticates() -> None:
    """The broker belongs to the topology before."""

    async def identify(broker: Asked, where: str) -> float:
        del broker, where
        opened.backend.epoch += 1
        return math.inf

    async with terminating(identify) as opened:
        client = await came(opened)
        broker = await opened.broker.accept()
        assert await closed(client) == await closed(broker) == b""
        await opened.ended(Reason.REBOOTSTRAP)


async def test_the_limit_of_a_principal() -> None:
    """One client too many is refused before a broker is dialled for it; an end makes room."""
    async with terminating() as opened:
        opened.backend.connections = PrincipalConnections(1)
        first = await came(opened)
        broker = await opened.broker.accept()
        second = await came(opened)
        assert await closed(second) == b""
        await opened.ended(Reason.PRINCIPAL_LIMIT)
        assert opened.broker.nobody_came()
        assert await broker.receive(len(request(1))) == request(1)
        await broker.send(response(1))
        assert await first.receive(len(response(1))) == response(1)
        await first.close()
        await eventually(lambda: not opened.pump.connections, "the end of the first")
        await came(opened)
        await opened.broker.accept()


async def test_who_reached_no_broker_no_longer_counts() -> None:
    """Otherwise a user would be locked out for ever when brokers were down for a while."""
    async with terminating(servers=[]) as opened:
        opened.backend.connections = PrincipalConnections(2)
        for number in range(1, 5):
            assert await closed(await came(opened)) == b""
            await opened.ended(*[Reason.CONNECT_FAILED] * number)
        opened.backend.servers = (opened.broker.address,)
        await came(opened)
        await opened.broker.accept()


async def test_a_virtual_cluster_that_is_removed_meanwhile() -> None:
    """Who authenticates, or has a broker dialled, while a reload removes it, is not let in."""
    async with terminating() as opened:
        client = opened.come()
        await client.send(shake())
        await client.receive(int.from_bytes(await client.receive(4), "big"))
        opened.backend.removed = True
        await client.send(say(RIGHT), request(1))
        await opened.ended(Reason.DRAINED)
        assert opened.broker.nobody_came()

    dialled = trio.Event()

    async def removes(_: Asked, __: str) -> float:
        dialled.set()
        opened.backend.removed = True
        return math.inf

    async with terminating(removes) as opened:
        client = opened.come()
        await client.send(shake(), say(RIGHT), request(1))
        await opened.ended(Reason.DRAINED)
        assert dialled.is_set()
        assert not opened.pump.connections


async def test_a_login_that_stops_halfway() -> None:
    """It has its place, so the log does not say that it had no turn."""
    async with terminating(first_request=0.3) as opened:
        client = opened.come()
        await client.send(shake())
        with structlog.testing.capture_logs() as logs:
            await opened.ended(Reason.AUTHENTICATION_TIMEOUT)
        assert [line["detail"] for line in logs if "detail" in line] == ["not authenticated in 0.3 s"]
