"""Nodes without a port: switches and reloads that would lead to them, and how they are reported."""

from __future__ import annotations

import os
import signal
import socket
from typing import Any

import pytest
import trio

from kproxy.app.reload import apply
from kproxy.errors import KproxyError
from kproxy.local_kafka.ports import free_ports
from tests.unit.app.living import HOST, named_itself
from tests.unit.cluster.clusters import started
from tests.unit.cluster.test_epochs import Two, described, metadata, two
from tests.unit.relay.sockets import descriptors, eventually, no_descriptors, stays
from tests.unit.upstream.scripted_broker import ScriptedBroker

NOT_IN_RANGES = "node {0} is in none of nodes.ranges"


def offset(ranges: str) -> dict[str, Any]:
    """Return a virtual cluster whose nodes have ports by their ids, from a free port on."""
    return {"nodes": {"strategy": "offset", "first_port": free_ports(8)[0], "ranges": ranges}}


def moved(process: Two, cluster: dict[str, Any], **upstreams: ScriptedBroker) -> Any:
    """Return a configuration to reload."""
    servers = [{"name": name, "bootstrap_servers": f"{HOST}:{one.port}"} for name, one in upstreams.items()]
    described_so = cluster | ({"upstreams": servers} if servers else {})
    return described(process.a, process.b, cluster=described_so, admin=process.alive.listens)


def is_bound(port: int) -> bool:
    """True when a listener has the port."""
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        return True
    return False


async def test_a_switch_to_a_cluster_with_nodes_without_a_port_is_refused() -> None:
    """All of them are named; clients are served as before, and the attempt leaves no port or descriptor open."""
    cluster = offset("1-3")
    async with two((1, 2), (3, 7, 8), cluster=cluster) as process:
        client = await process.client(process.port(1))
        process.cluster.nodes.addresses.renew([(1, *process.a.address), (2, *process.a.address)], -1000.0)
        await eventually(
            lambda: not process.cluster.nodes.addresses.retired, "node 3, which only the ranges name, is gone"
        )
        await eventually(lambda: not is_bound(cluster["nodes"]["first_port"] + 2), "its port is free")
        before = {one for one in descriptors() if "socket" in one[1]}
        status, said = await process.post("failover", {"to": "b"})
        assert status == 409
        assert said["error"] == (
            f"b cannot take over: {NOT_IN_RANGES.format(7)}; {NOT_IN_RANGES.format(8)}; force it to switch all the same"
        )
        assert (process.cluster.upstreams.active.name, process.cluster.epoch) == ("a", 0)
        assert not is_bound(cluster["nodes"]["first_port"] + 2)
        assert len({one for one in descriptors() if "socket" in one[1]}) <= len(before) + 1  # the next poll's
        assert {broker.node_id for broker in (await metadata(client, 2)).brokers} == {1, 2}
        standby = process.cluster.upstreams.all["b"].standing
        await eventually(lambda: standby.answers, "a look at the standby")
        warning = f"the standby b: {NOT_IN_RANGES.format(7)}; {NOT_IN_RANGES.format(8)}"
        said = await process.alive.get("/readyz")
        assert (said["state"], said["reasons"]) == ("ready", [])
        assert said["warnings"] == [{"cluster": "c", "node": None, "reason": warning}]
        shown = (await process.alive.get("/api/v1/clusters/c"))["upstreams"][1]
        assert shown["unmapped"] == [{"node_id": id_, "reason": NOT_IN_RANGES.format(id_)} for id_ in (7, 8)]
        assert 'kproxy_upstream_cluster_nodes_without_port{cluster="c",upstream="b"} 2.0' in (
            await process.alive.text("/metrics")
        )


async def test_a_forced_switch_says_what_has_no_port() -> None:
    """The answer, /readyz and the API say so, until the switch back."""
    async with two((1, 2), (3, 7), cluster=offset("1-3")) as process:
        status, reply = await process.post("failover", {"to": "b", "force": True})
        unmapped = [{"node_id": 7, "reason": NOT_IN_RANGES.format(7)}]
        assert (status, reply["upstream"], reply["unmapped"]) == (200, "b", unmapped)
        reasons = [{"cluster": "c", "node": 7, "reason": f"has no port: {NOT_IN_RANGES.format(7)}"}]
        assert await process.alive.get("/readyz") == {"state": "degraded", "reasons": reasons}
        shown = await process.alive.get("/api/v1/clusters/c")
        assert ([node["node_id"] for node in shown["nodes"]], shown["unmapped"]) == ([3], unmapped)
        await trio.sleep(process.cluster.rebootstrap.wait(trio.current_time()))
        status, reply = await process.post("failover", {"to": "a"})
        assert (status, reply["unmapped"]) == (200, [])
        assert (await process.alive.until_state("ready"))["reasons"] == []


async def test_a_port_that_another_process_has_taken() -> None:
    """With the offset strategy the switch is refused while the port is taken; afterwards the node gets it."""
    cluster = offset("1-2")
    async with two((1,), (2,), cluster=cluster) as process:
        process.cluster.nodes.addresses.renew([(1, *process.a.address)], -1000.0)
        port = cluster["nodes"]["first_port"] + 1
        await eventually(lambda: not is_bound(port), "the port of node 2, which only the ranges name, is free")
        with socket.create_server((HOST, port)):
            status, said = await process.post("failover", {"to": "b"})
            assert status == 409
            assert f"port {port} of node 2 is taken by another process" in said["error"]
        assert (await process.post("failover", {"to": "b"}))[0] == 200
        assert process.port(2) == port


async def test_no_automatic_port_is_free() -> None:
    """The first cluster's node has the highest port, so none is left for the other's node."""
    async with two((1,), (2,), cluster={"nodes": {"first_port": 65535}}) as process:
        status, said = await process.post("failover", {"to": "b"})
        assert status == 409
        assert "no port from 65535 on is free for node 2" in said["error"]
        assert (process.port(1), process.cluster.epoch) == (65535, 0)


async def test_no_descriptor_for_nodes_to_be() -> None:
    """All of them are reported; what was bound for the others is released."""
    async with started(first_port=0) as cluster:
        with no_descriptors(), cluster.nodes.reserved([1, 2]) as problems:
            assert list(map(str, problems)) == ["node 1: Too many open files", "node 2: Too many open files"]
        before = descriptors()
        with cluster.nodes.reserved([1, 2]) as problems:
            assert len(descriptors() - before) == 2
        assert (problems, descriptors()) == ([], before)
        await trio.testing.wait_all_tasks_blocked()
        assert cluster.nodes.addresses.nodes == {}


async def test_a_reload_without_a_port_for_a_node_is_refused() -> None:
    """It is refused as a whole: present ports stay, and no client is notified."""
    cluster = offset("1-3")
    async with two((1, 2), (3,), cluster=cluster) as process:
        client = await process.client(process.port(1))
        narrow = {"nodes": cluster["nodes"] | {"ranges": "2-3"}, "advertised_host": "localhost"}
        process.alive.config = moved(process, narrow)
        with pytest.raises(KproxyError, match=rf"^clusters\.c: a: {NOT_IN_RANGES.format(1)}$"):
            await apply(process.alive.process, process.alive.config)
        os.kill(os.getpid(), signal.SIGHUP)
        await stays(lambda: process.cluster.epoch == 0, "nothing has changed", 0.3)
        assert process.cluster.settings.advertised_host is None
        assert {broker.port for broker in (await metadata(client, 2)).brokers} == {process.port(1), process.port(2)}


async def test_a_reload_that_leads_to_a_cluster_without_ports_is_refused() -> None:
    """The upstream that would become active answers, and has a node without a port."""
    async with two((1,), (7,), cluster=(cluster := offset("1-3"))) as process:
        with pytest.raises(KproxyError, match=rf"^clusters\.c: other: {NOT_IN_RANGES.format(7)}$"):
            await apply(process.alive.process, moved(process, cluster, other=process.b))
        assert (process.cluster.upstreams.active.name, process.cluster.epoch, list(process.cluster.upstreams.all)) == (
            "a",
            0,
            ["a", "b"],
        )


async def test_a_reload_of_ranges_and_upstreams_at_once() -> None:
    """Only the new cluster with the new ranges counts: the old cluster's nodes need no ports in them."""
    async with two((1,), (7,), cluster=(cluster := offset("1-3"))) as process:
        ranged = {"nodes": cluster["nodes"] | {"ranges": "7-8"}}
        await apply(process.alive.process, moved(process, ranged, other=process.b))
        assert (process.cluster.upstreams.active.name, process.port(7)) == ("other", cluster["nodes"]["first_port"])
        assert await process.alive.get("/readyz") == {"state": "ready", "reasons": []}
        assert {broker.port for broker in (await metadata(await process.client(), 2, 12)).brokers} == {process.port(7)}


async def test_a_reload_gives_a_port_to_a_node_without_one() -> None:
    """The proxy was degraded until then; other settings could still be reloaded."""
    async with two((1,), (7,), cluster=(cluster := offset("1-3"))) as process:
        assert (await process.post("failover", {"to": "b", "force": True}))[0] == 200
        await process.alive.until_state("degraded")
        await apply(process.alive.process, moved(process, cluster | {"advertised_host": "localhost"}))
        assert list(process.cluster.nodes.unmapped) == [7]
        await apply(process.alive.process, moved(process, {"nodes": cluster["nodes"] | {"ranges": "7-8"}}))
        assert process.port(7) == cluster["nodes"]["first_port"]
        await process.alive.until_state("ready")


async def test_a_new_node_without_a_port() -> None:
    """The watcher finds it: the proxy is degraded, and another node has its port. It goes, and the proxy is ready."""
    async with two((2,), (3,), cluster=offset("1-3")) as process:
        named_itself(process.a, 9, 2, 1)
        reply = await process.alive.until_state("degraded")
        assert reply["reasons"] == [{"cluster": "c", "node": 9, "reason": f"has no port: {NOT_IN_RANGES.format(9)}"}]
        assert process.cluster.nodes.addresses.upstream(1) == process.a.address
        named_itself(process.a, 2, 1)
        assert (await process.alive.until_state("ready"))["reasons"] == []


async def test_metadata_that_names_a_node_without_a_port() -> None:
    """It is known only from passing responses, as with a backend that demands SASL, until they no longer name it."""
    async with started(listen=free_ports(4)[0], strategy="offset", ranges="1-2") as cluster:
        with pytest.raises(KproxyError):
            cluster.destination.learn(None, [(9, "n", 1), (1, "n", 1)])
        assert (dict(cluster.nodes.unmapped), list(cluster.nodes.named)) == ({9: NOT_IN_RANGES.format(9)}, [1, 9])
        cluster.destination.learn(None, [(1, "n", 1)])
        assert (dict(cluster.nodes.unmapped), list(cluster.nodes.named)) == ({}, [1])


async def test_a_port_that_another_process_gives_up() -> None:
    """kproxy tries again, whether or not a client asks for metadata."""
    cluster = offset("1-2")
    async with two((1,), (2,), cluster=cluster) as process:
        process.cluster.nodes.addresses.renew([(1, *process.a.address)], -1000.0)
        port = cluster["nodes"]["first_port"] + 1
        await eventually(lambda: not is_bound(port), "the port of node 2 is free")
        with socket.create_server((HOST, port)):
            assert (await process.post("failover", {"to": "b", "force": True}))[1]["unmapped"][0]["node_id"] == 2
            await process.alive.until_state("degraded")
        await process.alive.until_state("ready")
        assert process.port(2) == port
