"""kproxy's own login on clients' connections to brokers: with which identity, for how long, and what a refusal says."""

from __future__ import annotations

import math
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from kproxy.cluster.cluster import Cluster
from kproxy.config import Identity
from kproxy.errors import IdentityError, UpstreamError
from kproxy.rebootstrap.actions import Cause
from kproxy.relay.broker_login import BrokerLogin
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from tests.support.authorization_server import CLIENT, CLIENT_SECRET, authorization_server
from tests.support.bounds import Bounds
from tests.unit.app.living import HOST, named_itself
from tests.unit.cluster.clusters import started
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.sasl_broker import HANDSHAKE, SaslBroker, Verdict
from tests.unit.upstream.scripted_broker import ScriptedBroker

WHERE = "broker:9092"


def accepts(message: bytes) -> SaslAuthenticateResponse:
    """Everybody is welcome, for ever."""
    del message
    return SaslAuthenticateResponse()


def for_ten_seconds(message: bytes) -> SaslAuthenticateResponse:
    """Everybody is welcome for a while."""
    del message
    return SaslAuthenticateResponse(session_lifetime_ms=10_000)


def refuses(message: bytes) -> SaslAuthenticateResponse:
    """Nobody is, and the error repeats the secret."""
    return SaslAuthenticateResponse(58, f"no such user: {message.decode()}")


def plain(name: str) -> dict[str, str]:
    """Return an identity."""
    return {"mechanism": "PLAIN", "username": name, "password": f"secret-of-{name}"}


def message(name: str) -> bytes:
    """Return what it sends."""
    return f"\0{name}\0secret-of-{name}".encode()


@asynccontextmanager
async def brokers(*verdicts: Verdict) -> AsyncIterator[list[SaslBroker]]:
    """Running brokers that ask for SASL."""
    made = [SaslBroker(verdict) for verdict in verdicts]
    async with trio.open_nursery() as nursery:
        for broker in made:
            await nursery.start(broker.run)
            named_itself(broker, 1)
        yield made
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def cluster_at(*named: tuple[ScriptedBroker, Any], **timeouts: float) -> AsyncIterator[Cluster]:
    """A virtual cluster with an upstream `u0`, `u1`, ... at each broker, where kproxy has this identity."""
    upstreams = [
        {"name": f"u{number}", "bootstrap_servers": f"{HOST}:{broker.port}", "identity": identity}
        for number, (broker, identity) in enumerate(named)
    ]
    with trio.fail_after(30):
        async with started(servers=None, others={"upstreams": upstreams}, timeouts=timeouts, first_port=0) as cluster:
            yield cluster


async def watched(cluster: Cluster) -> None:
    """Wait until kproxy's own client has been at the active upstream: it authenticates as well."""
    await eventually(lambda: cluster.upstreams.watcher.snapshot is not None, "the first poll")


def served(cluster: Cluster) -> set[int]:
    """Return the APIs that the active upstream's brokers serve, as far as is known."""
    hello = cluster.destination.hello(None)
    return set() if hello is None else {api.api_key for api in hello.api_keys}


async def identified(cluster: Cluster, broker: ScriptedBroker) -> float:
    """Authenticate on a new connection to this broker, as the acceptor does; return for how many seconds it counts."""
    with socket.create_connection(broker.address) as sock:
        sock.setblocking(False)
        return await cluster.destination.identify(BrokerLogin(sock, WHERE), WHERE)


async def test_without_an_identity_nothing_is_asked() -> None:
    """The broker takes kproxy for an anonymous client, for ever."""
    broker = ScriptedBroker()
    async with trio.open_nursery() as nursery:
        await nursery.start(broker.run)
        named_itself(broker, 1)
        async with cluster_at((broker, None)) as cluster:
            await watched(cluster)
            asked = len(broker.seen)
            assert await identified(cluster, broker) == math.inf
            assert len(broker.seen) == asked
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(("verdict", "seconds"), [(accepts, math.inf), (for_ten_seconds, 9)])
async def test_it_counts_until_shortly_before_the_brokers_session_ends(verdict: Verdict, seconds: float) -> None:
    """The rest of the session, 10 to 20 %, is for requests under way (KIP-368)."""
    async with brokers(verdict) as (broker,), cluster_at((broker, plain("alice"))) as cluster:
        await watched(cluster)
        before = len(broker.messages)
        found = await identified(cluster, broker)
        assert broker.messages[before:] == [message("alice")]
        assert found == seconds if seconds == math.inf else seconds - 2 < found <= seconds


async def test_a_refusal() -> None:
    """The error says where, by what and who, and what to look into; the secret is hidden, whoever repeats it."""
    async with brokers(refuses) as (broker,), cluster_at((broker, plain("alice"))) as cluster:
        with pytest.raises(IdentityError) as caught:
            await identified(cluster, broker)
        assert str(caught.value).startswith(f"{WHERE}: PLAIN as 'alice': the broker refuses it")
        assert str(caught.value).endswith("check `identity`")
        assert "secret-of" not in str(caught.value)


async def test_a_listener_without_sasl() -> None:
    """The error says that it takes no identity."""
    async with brokers(accepts) as (broker,), cluster_at((broker, plain("alice"))) as cluster:
        broker.handshake.error_code = 34
        with pytest.raises(IdentityError, match="listener does not ask for SASL, and takes no `identity`"):
            await identified(cluster, broker)


async def test_a_broker_that_does_not_answer(bounds: Bounds) -> None:
    """It has as long for each answer as for a connection."""
    with socket.create_server((HOST, 0)) as silent:
        broker = ScriptedBroker()
        broker.port = silent.getsockname()[1]
        async with cluster_at((broker, plain("alice")), connect=0.3) as cluster:
            begun = trio.current_time()
            with pytest.raises(UpstreamError, match=rf"^{WHERE}: no answer within 0\.3 s"):
                await identified(cluster, broker)
            took = trio.current_time() - begun
            assert took >= 0.3
            bounds.below(took, 5, "seconds until the broker is given up")


async def test_a_password_that_a_reload_has_changed() -> None:
    """The next connection has it."""
    async with brokers(accepts) as (broker,), cluster_at((broker, plain("alice"))) as cluster:
        await watched(cluster)
        upstream = cluster.upstreams.active
        upstream.identify(upstream.settings.model_copy(update={"identity": Identity.model_validate(plain("bob"))}))
        before = len(broker.messages)
        await identified(cluster, broker)
        assert broker.messages[before:] == [message("bob")]


async def test_after_a_failover_it_is_the_other_upstreams() -> None:
    """Its identity, and what its brokers serve, which the looks at it have shown while it was a standby."""
    async with (
        brokers(accepts, accepts) as (east, west),
        cluster_at((east, plain("alice")), (west, plain("bob"))) as cluster,
    ):
        assert served(cluster) == set()
        await watched(cluster)
        assert HANDSHAKE in served(cluster)
        await identified(cluster, east)
        standby = cluster.upstreams.all["u1"]
        await eventually(lambda: standby.standing.answers, "a look at the standby")
        assert set(west.messages) == {message("bob")}
        cluster.switch(standby, None, Cause.OPERATOR)
        assert HANDSHAKE in served(cluster)
        await identified(cluster, west)
        assert set(east.messages) == {message("alice")}
        assert set(west.messages) == {message("bob")}


async def test_tokens_are_shared_with_kproxys_own_client() -> None:
    """One token for the watcher's connections and for clients'; one that is refused is told, and not shown."""
    with authorization_server() as server:
        grant = {"token_endpoint": server.issuer, "client_id": CLIENT, "client_secret": CLIENT_SECRET}
        bearer = {"mechanism": "OAUTHBEARER", "client_credentials": grant}
        async with brokers(accepts) as (broker,), cluster_at((broker, bearer)) as cluster:
            for _ in range(3):
                await identified(cluster, broker)
            await watched(cluster)
            assert len(server.asked) == 1
            assert len(set(broker.messages)) == 1
            broker.verdict = refuses
            with pytest.raises(IdentityError, match=rf"^{WHERE}: OAUTHBEARER: the broker refuses it") as caught:
                await identified(cluster, broker)
            assert broker.messages[0].split(b"Bearer ")[1].strip(b"\1").decode() not in str(caught.value)
