"""The nodes of a virtual cluster: their listeners, the addresses that clients get, and whether they answer."""

from __future__ import annotations

import socket

import pytest
import trio

from kproxy.cluster.cluster import Cluster
from kproxy.local_kafka.ports import free_ports
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.topology.snapshot import Change, Node, Snapshot
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
        assert cluster.nodes.addresses.nodes[1].place == ports[2]


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


async def test_a_passing_answer_that_is_out_of_date() -> None:
    """The next poll puts back a node that has moved, and lets one go that is gone: neither is a change to be told."""
    async with brokers((1, 2)) as (broker,), started(servers=f"{HOST}:{broker.port}", first_port=0) as cluster:
        await eventually(lambda: cluster.nodes.addresses.reported == {1, 2}, "both nodes")
        events, changes = len(cluster.events.kept), dict(cluster.counters.changes)
        cluster.destination.learn(None, [(1, "old", 9092), (2, *broker.address), (3, "gone", 9092)])
        assert cluster.destination.upstreams(1) == [("old", 9092)]
        await eventually(lambda: cluster.destination.upstreams(1) == [broker.address], "the node where it is now")
        assert cluster.nodes.addresses.reported == {1, 2}
        assert cluster.nodes.addresses.nodes[3].gone_since is not None
        assert (len(cluster.events.kept), dict(cluster.counters.changes)) == (events, changes)


async def test_a_node_that_could_not_be_dialled_is_not_unreachable() -> None:
    """A shortage of kproxy's own is counted, and says nothing about the node; a refusal does."""
    async with started(first_port=0) as cluster:
        cluster.nodes.learn([(7, "n7", 9092)])
        cluster.destination.dialled(7, ("n7", 9092), None, "")
        node = cluster.counters.node(7)
        cluster.destination.dialled(7, ("n7", 9092), Reason.OUT_OF_DESCRIPTORS, "too many open files")
        assert (node.reachable, node.last_error) == (True, None)
        assert node.connect_failures == {Reason.OUT_OF_DESCRIPTORS: 1}
        cluster.destination.dialled(7, ("n7", 9092), Reason.CONNECT_FAILED, "connection refused")
        assert (node.reachable, node.last_error) == (False, "connection refused")


async def test_a_dial_that_failed_once() -> None:
    """The next probe that succeeds makes the node reachable again, though no client has dialled it since."""
    async with brokers((1,)) as (broker,), started(servers=f"{HOST}:{broker.port}", first_port=0) as cluster:
        node = cluster.counters.node(1)
        await eventually(lambda: node.reachable is True, "a node that answers")
        cluster.destination.dialled(1, broker.address, Reason.CONNECT_FAILED, "connection refused")
        assert node.reachable is False
        await eventually(lambda: node.reachable is True, "the probe")
        assert node.last_error is None


def reachable(cluster: Cluster) -> dict[int, bool]:
    """Return the nodes that have a series, as /metrics shows them."""
    return {node.node_id: node.reachable for node in cluster.counters.nodes.values() if node.reachable is not None}


async def test_nodes_that_are_gone_are_neither_reachable_nor_unreachable() -> None:
    """A node that a poll no longer names, and all of another topology; a dial at a retired port changes nothing."""
    async with started(first_port=0) as cluster:
        nodes = {node_id: Node(node_id, f"n{node_id}", 9092) for node_id in (1, 2, 3)}
        cluster.nodes.learn([node[:3] for node in nodes.values()])
        for node in nodes.values():
            cluster.nodes.dialled(node.id, node.address, None, "")
        assert reachable(cluster) == {1: True, 2: True, 3: True}
        left = Snapshot.of([nodes[1], nodes[2]])
        cluster.nodes.follow(left, Change(removed=(nodes[3], Node(9, "n9", 9092))))
        assert reachable(cluster) == {1: True, 2: True}
        cluster.nodes.dialled(3, nodes[3].address, Reason.CONNECT_FAILED, "connection refused")
        assert reachable(cluster) == {1: True, 2: True}
        cluster.nodes.renew(Snapshot.of([nodes[2]]))
        assert reachable(cluster) == {2: True}
        cluster.nodes.dialled(1, ("b", 1), None, "")  # what its retired port leads to
        assert reachable(cluster) == {2: True}
        assert cluster.counters.nodes[1].connects == 2
        assert 9 not in cluster.counters.nodes


async def test_what_is_said_of_a_node_that_has_moved() -> None:
    """A dial to where it was before, which ends late, counts for nothing; nor does another upstream's of its id."""
    async with started(first_port=0) as cluster:
        before, after = Node(1, "a", 9092), Node(1, "b", 9092)
        cluster.nodes.learn([before[:3]])
        cluster.nodes.dialled(1, before.address, None, "")
        cluster.nodes.follow(Snapshot.of([after]), Change(moved=(after,)))
        cluster.nodes.dialled(1, before.address, Reason.CONNECT_FAILED, "connection refused")
        assert reachable(cluster) == {1: True}
        assert cluster.counters.nodes[1].last_error is None
        cluster.nodes.renew(Snapshot.of([after]), elsewhere=True)
        assert reachable(cluster) == {}
