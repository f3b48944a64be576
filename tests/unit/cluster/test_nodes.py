"""The nodes of a virtual cluster: their listeners, the addresses that clients get, and whether they answer."""

from __future__ import annotations

import socket

import pytest
import trio

from kproxy.local_kafka.ports import free_ports
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from tests.unit.app.living import HOST, Client, brokers
from tests.unit.cluster.clusters import started
from tests.unit.relay.sockets import eventually, no_descriptors


async def test_a_retired_listener_leads_to_its_node_or_to_any_other() -> None:
    """To its node, at its present port, while the topology has it; otherwise to the bootstrap servers."""
    async with started(servers="a:1", first_port=0) as cluster:
        cluster.destination.learn(None, [(7, "n7", 9092), (8, "n8", 9092)])
        cluster.nodes.remap(cluster.settings)
        cluster.nodes.addresses.renew([(8, "n8", 9092)], trio.current_time())
        assert cluster.destination.upstreams(7) == [("a", 1), ("n8", 9092)]
        assert cluster.destination.upstreams(8) == [("n8", 9092)]


async def test_a_node_is_reachable_as_soon_as_it_is_advertised() -> None:
    """Its port takes connections when advertise returns, without a turn of the scheduler in between."""
    async with started(first_port=0) as cluster:
        host, port = cluster.destination.advertise(2147483646, "n", 9092, "10.1.2.3")
        assert host == "10.1.2.3"
        socket.create_connection((HOST, port), timeout=5).close()


async def test_nodes_begin_behind_the_bootstrap_port() -> None:
    """Without first_port the port after it is the first; ports that are taken or claimed are skipped."""
    ports = free_ports(6)
    async with started(listen=ports[0], admin=f"{HOST}:{ports[2]}") as cluster:
        assert cluster.listeners.listen == (HOST, ports[0])
        assert [cluster.destination.advertise(node_id, "n", 1, HOST)[1] for node_id in (5, 6)] == [ports[1], ports[3]]


async def test_a_node_that_can_have_no_port() -> None:
    """A client that would learn of it is closed, for the reason that the strategy gives; nothing else is affected."""
    ports = free_ports(4)
    async with started(listen=ports[0], strategy="offset", ranges="1-2") as cluster:
        nodes = [(1, "n", 1), (9, "n", 1)]
        for attempt in (
            lambda: cluster.destination.advertise(9, "n", 1, HOST),
            lambda: cluster.destination.learn(None, nodes),
        ):
            with pytest.raises(Fault, match=r"node 9 is in none of nodes\.ranges") as caught:
                attempt()
            assert caught.value.reason is Reason.UNMAPPED_NODE
        assert cluster.destination.advertise(1, "n", 1, HOST) == (HOST, ports[1])


async def test_no_descriptor_for_a_node() -> None:
    """A shortage is not a taken port: the other 56,000 are not tried."""
    async with started(first_port=free_ports(1)[0]) as cluster:
        with no_descriptors(), pytest.raises(Fault, match="Too many open files") as caught:
            cluster.destination.advertise(1, "n", 1, HOST)
        assert caught.value.reason is Reason.OUT_OF_DESCRIPTORS
        assert cluster.destination.advertise(1, "n", 1, HOST)[0] == HOST


async def test_advertised_ports_are_shifted() -> None:
    """advertised_first_port shifts the ports that clients get, and nothing else."""
    ports = free_ports(3)
    async with started(listen=ports[0], strategy="offset", ranges="0-1", advertised_first_port=30_000) as cluster:
        assert cluster.destination.advertise(1, "n", 1, "h") == ("h", 30_001)
        assert cluster.nodes.addresses.nodes[1].port == ports[2]


async def test_a_node_that_the_watcher_finds_and_that_has_no_port() -> None:
    """It is logged; the cluster and its other nodes go on."""
    ports = free_ports(4)
    async with (
        brokers((1, 9)) as (broker,),
        started(servers=f"{HOST}:{broker.port}", listen=ports[0], strategy="offset", ranges="1-2") as cluster,
    ):
        assert cluster.upstreams.cluster_id is None
        await eventually(lambda: cluster.nodes.addresses.upstream(1) is not None, "the first poll")
        assert cluster.nodes.addresses.upstream(9) is None
        client = await Client.connected(ports[1])
        await client.close()


async def test_a_node_that_comes_and_goes() -> None:
    """A node's counters show whether it answers, as the watcher finds it."""
    async with brokers((1,)) as (broker,), started(servers=f"{HOST}:{broker.port}", first_port=0) as cluster:
        await eventually(lambda: cluster.counters.node(1).reachable is True, "a node that answers")
        broker.name_nodes({1: (HOST, 1)})
        cluster.upstreams.watcher.hint()
        await eventually(lambda: cluster.counters.node(1).reachable is False, "a node that does not")
        assert cluster.counters.node(1).last_error


async def test_a_node_that_could_not_be_dialled_is_not_unreachable() -> None:
    """A shortage of kproxy's own is counted, and says nothing about the node; a refusal does."""
    async with started(first_port=0) as cluster:
        cluster.destination.dialled(7, ("n7", 9092), None, "")
        node = cluster.counters.node(7)
        cluster.destination.dialled(7, ("n7", 9092), Reason.OUT_OF_DESCRIPTORS, "too many open files")
        assert (node.reachable, node.last_error) == (True, None)
        assert node.connect_failures == {Reason.OUT_OF_DESCRIPTORS: 1}
        cluster.destination.dialled(7, ("n7", 9092), Reason.CONNECT_FAILED, "connection refused")
        assert (node.reachable, node.last_error) == (False, "connection refused")
