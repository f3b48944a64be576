"""A virtual cluster as the relay asks for it: whom to dial, what to tell, what to count."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from kproxy.app.cluster import Cluster
from kproxy.config import Config
from kproxy.demo.ports import free_ports
from kproxy.errors import ConfigError
from kproxy.observe.counters import BOOTSTRAP, Counters
from kproxy.observe.reasons import Reason
from kproxy.relay.entrance import Entrance
from kproxy.relay.fault import Fault
from kproxy.relay.pump import Pump
from tests.unit.app.living import HOST, Client, brokers
from tests.unit.relay.sockets import eventually, no_descriptors

NOBODY = f"{HOST}:1"


@asynccontextmanager
async def started(
    *, servers: str = NOBODY, listen: int = 0, admin: str | None = None, **nodes: Any
) -> AsyncIterator[Cluster]:
    """A cluster that listens, without a pump behind its entrance."""
    described = {"name": "c", "bootstrap_servers": servers, "listen": f"{HOST}:{listen}", "nodes": nodes}
    config = Config.model_validate({"clusters": [described], "admin": admin})
    pump = Pump(config.timeouts)
    cluster = Cluster(config.clusters[0], config, Counters(0.0).cluster("c"), pump)
    entrance = Entrance(pump, config.limits, config.timeouts)
    async with trio.open_nursery() as work:
        cluster.start(work, work, entrance)
        try:
            yield cluster
        finally:
            work.cancel_scope.cancel()


async def test_every_bootstrap_server_has_its_turn() -> None:
    """Each connection begins with the next one, and goes on with the others, then with nodes that are known."""
    async with started(servers="a:1,b:2,c:3", first_port=0) as cluster:
        turns = [[host for host, _ in cluster.upstreams(None)] for _ in range(4)]
        assert turns == [["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"], ["b", "c", "a"]]
        cluster.learn(None, [(7, "n7", 9092), (8, "a", 1)])
        assert [host for host, _ in cluster.upstreams(None)] == ["c", "a", "b", "n7"]
        assert cluster.upstreams(7) == [("n7", 9092)]
        assert cluster.upstreams(99) == []


async def test_a_retired_door_leads_to_its_node_or_to_any_other() -> None:
    """To its node while the topology has it, at whatever port that is by now; else to the bootstrap servers."""
    async with started(servers="a:1", first_port=0) as cluster:
        cluster.learn(None, [(7, "n7", 9092), (8, "n8", 9092)])
        cluster.addresses.remap(*cluster.doors.mapping(cluster.settings), trio.current_time())
        cluster.addresses.renew([(8, "n8", 9092)], trio.current_time())
        assert cluster.upstreams(7) == [("a", 1), ("n8", 9092)]
        assert cluster.upstreams(8) == [("n8", 9092)]


async def test_a_node_is_reachable_as_soon_as_it_is_advertised() -> None:
    """Its port takes connections when advertise returns, without a turn of the scheduler in between."""
    async with started(first_port=0) as cluster:
        host, port = cluster.advertise(2147483646, "n", 9092, "10.1.2.3")
        assert host == "10.1.2.3"
        socket.create_connection((HOST, port), timeout=5).close()


async def test_nodes_begin_behind_the_bootstrap_port() -> None:
    """Without first_port the port after it is the first; taken and claimed ones are passed over."""
    ports = free_ports(6)
    async with started(listen=ports[0], admin=f"{HOST}:{ports[2]}") as cluster:
        assert cluster.listen == (HOST, ports[0])
        assert [cluster.advertise(node_id, "n", 1, HOST)[1] for node_id in (5, 6)] == [ports[1], ports[3]]


async def test_a_node_that_can_have_no_port() -> None:
    """Who would hear of it is closed for the reason that the strategy gives; nothing else is affected."""
    ports = free_ports(4)
    async with started(listen=ports[0], strategy="offset", ranges="1-2") as cluster:
        nodes = [(1, "n", 1), (9, "n", 1)]
        for tell in (lambda: cluster.advertise(9, "n", 1, HOST), lambda: cluster.learn(None, nodes)):
            with pytest.raises(Fault, match=r"node 9 is in none of nodes\.ranges") as caught:
                tell()
            assert caught.value.reason is Reason.UNMAPPED_NODE
        assert cluster.advertise(1, "n", 1, HOST) == (HOST, ports[1])


async def test_no_descriptor_for_a_node() -> None:
    """A shortage is no taken port: the other 56,000 are not tried."""
    async with started(first_port=free_ports(1)[0]) as cluster:
        with no_descriptors(), pytest.raises(Fault, match="Too many open files") as caught:
            cluster.advertise(1, "n", 1, HOST)
        assert caught.value.reason is Reason.OUT_OF_DESCRIPTORS
        assert cluster.advertise(1, "n", 1, HOST)[0] == HOST


async def test_what_is_told_instead() -> None:
    """advertised_first_port shifts the ports, and only those that clients are told."""
    ports = free_ports(3)
    async with started(listen=ports[0], strategy="offset", ranges="0-1", advertised_first_port=30_000) as cluster:
        assert cluster.advertise(1, "n", 1, "h") == ("h", 30_001)
        assert cluster.addresses.nodes[1].port == ports[2]


async def test_dials_are_counted_by_node() -> None:
    """A failure is a reason to look at the backend at once."""
    async with started(first_port=0) as cluster:
        cluster.dialled(None, ("a", 1), None, "")
        cluster.dialled(7, ("n7", 9092), Reason.CONNECT_FAILED, "connection refused")
        bootstrap, node = cluster.counters.nodes[BOOTSTRAP], cluster.counters.nodes[7]
        assert (bootstrap.reachable, bootstrap.connects, bootstrap.address) == (True, 1, "a:1")
        assert (node.reachable, node.connect_failures) == (False, {Reason.CONNECT_FAILED: 1})
        assert (node.address, node.last_error) == ("n7:9092", "connection refused")
        assert cluster.watcher._hinted.is_set()


async def test_news_in_a_passing_response_are_looked_into() -> None:
    """Nodes that the watcher does not know are a reason to poll before the interval is over."""
    async with brokers((1,)) as (broker,), started(servers=f"{HOST}:{broker.port}", first_port=0) as cluster:
        await eventually(lambda: cluster.watcher.snapshot is not None, "the first poll")
        polls = broker.requests(3)
        cluster.learn(None, [(1, *broker.address), (2, *broker.address)])
        await eventually(lambda: broker.requests(3) > polls, "another poll")
        assert cluster.cluster_id == "scripted"


async def test_a_node_that_the_watcher_finds_and_that_has_no_port() -> None:
    """It is logged; the cluster and its other nodes go on."""
    ports = free_ports(4)
    async with (
        brokers((1, 9)) as (broker,),
        started(servers=f"{HOST}:{broker.port}", listen=ports[0], strategy="offset", ranges="1-2") as cluster,
    ):
        assert cluster.cluster_id is None
        await eventually(lambda: cluster.addresses.upstream(1) is not None, "the first poll")
        assert cluster.addresses.upstream(9) is None
        client = await Client.connected(ports[1])
        await client.close()


async def test_a_node_that_comes_and_goes() -> None:
    """Whether a node answers is counted as the watcher finds it."""
    async with brokers((1,)) as (broker,), started(servers=f"{HOST}:{broker.port}", first_port=0) as cluster:
        await eventually(lambda: cluster.counters.node(1).reachable is True, "a node that answers")
        broker.name_nodes({1: (HOST, 1)})
        cluster.watcher.hint()
        await eventually(lambda: cluster.counters.node(1).reachable is False, "a node that does not")
        assert cluster.counters.node(1).last_error


async def test_a_bootstrap_port_in_use() -> None:
    """The error names the setting."""
    async with started(first_port=0) as cluster:
        with pytest.raises(ExceptionGroup) as caught:
            async with started(listen=cluster.listen[1], first_port=0):
                pass
        assert caught.group_contains(ConfigError, match=r"^clusters\.0\.listen: cannot listen on .* already in use")


async def test_a_node_port_in_use() -> None:
    """So does the error for a node that the configuration names."""
    ports = free_ports(3)
    with socket.create_server((HOST, ports[2])), pytest.raises(ExceptionGroup) as caught:
        async with started(listen=ports[0], strategy="offset", ranges="5-6"):
            pass
    assert caught.group_contains(
        ConfigError, match=rf"^clusters\.0\.nodes\.first_port: port {ports[2]} of node 6 is taken by another process$"
    )
