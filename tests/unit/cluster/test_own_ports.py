"""Brokers that are said to be where kproxy itself listens: it does not dial itself, and says what is wrong."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from kproxy.local_kafka.ports import free_port
from kproxy.observe.reasons import Reason
from tests.unit.app.living import HOST, Living, brokers, living, settings
from tests.unit.cluster.clusters import started
from tests.unit.relay.sockets import eventually

SAID = "this is kproxy's own port; bootstrap_servers, and the brokers' advertised.listeners, must name the brokers"


async def check_ends(alive: Living, port: int) -> None:
    """Assert that a client there ends at once, with the reason, and that kproxy has become no client of its own."""
    counters = alive.process.clusters[0].counters
    before = counters.connections_opened
    with capture_logs() as lines:
        client = await alive.client(port)
        await client.say_hello("test", "1")
        with suppress(trio.BrokenResourceError):
            assert await client.receive_all() == b""
        await eventually(lambda: any(SAID in str(line) for line in lines), f"the reason in the log {lines}", 3)
    # The client, and the one connection by which kproxy has found out; its watcher may look meanwhile.
    assert counters.connections_opened - before <= 6
    assert counters.closed[Reason.CONNECT_FAILED] >= 1


async def test_an_advertised_listener_that_is_kproxys() -> None:
    """The broker says that its node is at kproxy, as where advertised.listeners were set to what clients use."""
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        nodes = alive.process.clusters[0].nodes
        own = int(nodes.addresses.nodes[1].place)
        broker.name_nodes({1: (HOST, own)})
        alive.process.clusters[0].upstreams.watcher.hint()
        await eventually(lambda: nodes.addresses.upstream(1) == (HOST, own), "the address")
        await check_ends(alive, own)


async def test_an_advertised_listener_that_is_the_bootstrap_port() -> None:
    """That is a detour, which leads to the broker all the same."""
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        nodes = alive.process.clusters[0].nodes
        broker.name_nodes({1: (HOST, alive.port())})
        alive.process.clusters[0].upstreams.watcher.hint()
        await eventually(lambda: nodes.addresses.upstream(1) == (HOST, alive.port()), "the address")
        client = await alive.client(int(nodes.addresses.nodes[1].place))
        await client.introduce("test", "1")


async def test_bootstrap_servers_that_are_kproxy() -> None:
    """kproxy serves nobody, and its log says why."""
    port = free_port()
    cluster: dict[str, Any] = {"name": "c", "listen": f"{HOST}:{port}", "bootstrap_servers": f"localhost:{port}"}
    async with brokers((1,)) as (broker,):
        config = type(settings(broker)).model_validate(
            {"clusters": [cluster], "admin": f"{HOST}:{free_port()}", "topology": {"interval": "100ms"}}
        )
        async with living(config) as alive:
            await check_ends(alive, port)


@pytest.mark.parametrize("listen", ["0.0.0.0", "[::]", HOST])
async def test_where_a_virtual_cluster_listens(listen: str) -> None:
    """At its own port, by every address that leads there; another process may have the same port at another one."""
    async with started(others={"listen": f"{listen}:0"}, first_port=0) as cluster:
        port = cluster.listeners.listen[1]
        node = cluster.destination.advertise(7, "n7", 9092, HOST)[1]
        leads_back = cluster.destination.leads_back
        assert leads_back(None, HOST, port, "localhost")
        assert leads_back(None, "127.0.0.2", port, "localhost") is (listen != HOST)
        assert leads_back(7, HOST, node, "localhost")
        assert not leads_back(8, HOST, node, "localhost")
        assert not leads_back(7, HOST, port, "localhost")
        cluster.listeners.close()
        assert not leads_back(None, HOST, port, "localhost")
