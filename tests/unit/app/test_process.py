"""The process from start to end, as its admin port and its clients see it."""

from __future__ import annotations

import signal

import pytest
import trio

from kproxy.app import readiness
from kproxy.app.process import CUT_SHORT, DRAINED
from kproxy.cluster import agreement
from kproxy.local_kafka.ports import free_port
from kproxy.observe import turned_away
from kproxy.observe.reasons import Reason
from tests.support.bounds import Bounds
from tests.unit.app.living import (
    API_VERSIONS,
    HOST,
    METADATA,
    Client,
    Living,
    brokers,
    living,
    named_itself,
    once,
    settings,
)
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.scripted_broker import ScriptedBroker, closing, silent


async def test_starting_ready_degraded_draining() -> None:
    """Each state is reported when it holds, with its reasons."""
    answers = trio.Event()
    async with brokers((1, 2147483646)) as (broker,):
        broker.script[API_VERSIONS] = once(answers)
        async with living(settings(broker)) as alive:
            body = await alive.get("/readyz")
            assert body["state"] == "starting"
            assert body["reasons"] == [{"cluster": "c0", "node": None, "reason": "the backend was not reached yet"}]
            answers.set()
            assert (await alive.until_state("ready"))["reasons"] == []
            broker.script[METADATA] = silent
            broker.script[API_VERSIONS] = silent
            await broker.drop()
            assert {cause["cluster"] for cause in (await alive.until_state("degraded"))["reasons"]} == {"c0"}
            del broker.script[METADATA], broker.script[API_VERSIONS]
            await broker.drop()
            await alive.until_state("ready")
            waiting = await _in_flight(alive, broker, answers := trio.Event())
            alive.signal()
            assert (await alive.until_state("draining"))["state"] == "draining"
            answers.set()
            await waiting.nodes(2)
            await alive.over.wait()
            assert alive.code == DRAINED


async def test_a_bootstrap_server_that_does_not_answer() -> None:
    """It is a warning while another one answers, and one of the causes when none does."""
    dead = f"{HOST}:{free_port()}"
    async with brokers((1,)) as (broker,):
        config = settings(broker)
        described = config.clusters[0].model_dump() | {"bootstrap_servers": f"{dead},{HOST}:{broker.port}"}
        async with living(settings(clusters=[described])) as alive:
            await alive.until_state("ready")
            while "warnings" not in (said := await alive.get("/readyz")):  # noqa: ASYNC110 (asked over HTTP)
                await trio.sleep(0.05)
            assert said["state"] == "ready"
            ((warning,), reason) = ([each["reason"] for each in said["warnings"]], f"the bootstrap server {dead} ")
            assert warning.startswith(reason + "does not answer: ")
            broker.script[METADATA] = silent
            broker.script[API_VERSIONS] = silent
            await broker.drop()
            with trio.fail_after(60):  # the node may be found silent before the backend is
                while "warnings" in (said := await alive.get("/readyz")):  # noqa: ASYNC110 (asked over HTTP)
                    await trio.sleep(0.05)
            assert said["state"] == "degraded"
            assert any(dead in each["reason"] for each in said["reasons"])


async def test_a_broker_that_turns_clients_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kproxy's own connection, which is older, goes on: it is a warning, once three clients had no answer."""
    monkeypatch.setattr(turned_away, "LASTING_SECONDS", 0.0)
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        await (await alive.client()).introduce("app", "1")
        broker.script[API_VERSIONS] = closing
        for _ in range(3):
            assert "warnings" not in await alive.get("/readyz")
            client = await alive.client()
            await client.say_hello("app", "1")
            assert await client.receive_all() == b""
        said = await alive.get("/readyz")
        assert (said["state"], said["reasons"]) == ("ready", [])
        ((warning,), server) = (said["warnings"], f"{HOST}:{broker.port}")
        assert (warning["cluster"], warning["node"]) == ("c0", None)
        assert warning["reason"].startswith(f"{server} ends clients' connections before it answers: max.connections.")


async def test_names_that_no_name_server_answers_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """One warning for all of them."""
    monkeypatch.setattr(readiness, "unanswered", lambda: iter([("b.example", 7.0), ("a.example", 61.4)]))
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        (warning,) = (await alive.until_state("ready"))["warnings"]
        why = "no name server answers for a.example and 1 more: kproxy goes on where it led 61 s ago"
        assert warning == {"cluster": None, "node": None, "reason": why}


async def _in_flight(alive: Living, broker: ScriptedBroker, answers: trio.Event) -> Client:
    """Return a client whose Metadata request is with the broker, which answers after an event."""
    client = await alive.client()
    await client.introduce("test", "1")
    broker.script[METADATA] = once(answers)
    await client.send_metadata(2)
    (connection,) = alive.process.relay.pump.connections.values()
    await eventually(lambda: len(connection.in_flight) == 1, "a request in flight")
    return client


async def test_a_drain_answers_and_closes() -> None:
    """In-flight requests are answered, idle and silent clients are closed at once, and no new client gets in."""
    answers = trio.Event()
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        waiting = await _in_flight(alive, broker, answers)
        silent_client = await alive.client()
        ports = [alive.port(), int(alive.process.clusters[0].nodes.addresses.nodes[1].place)]
        alive.signal()
        assert await silent_client.receive_all() == b""
        for port in ports:
            with pytest.raises(OSError, match="connect"):  # noqa: PT012 (one that came in the last moment is closed)
                while True:
                    await (await alive.client(port)).receive_all()
        assert not alive.over.is_set()
        answers.set()
        assert await waiting.nodes(2) == {1: (HOST, ports[1])}
        assert await waiting.receive_all() == b""
        await alive.over.wait()
        assert alive.code == DRAINED
        assert alive.process.clusters[0].counters.closed == {Reason.DRAINED: 2}


async def test_a_node_first_seen_while_draining() -> None:
    """The response that names it is passed on; its port, as any other, lets no client in."""
    answers = trio.Event()
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        waiting = await _in_flight(alive, broker, answers)
        alive.signal()
        await eventually(lambda: alive.process.draining, "the drain")
        named_itself(broker, 1, 2)
        answers.set()
        addresses = await waiting.nodes(2)
        assert set(addresses) == {1, 2}
        with pytest.raises(OSError, match="connect"):
            await alive.client(addresses[2][1])
        await alive.over.wait()
        assert alive.process.clusters[0].counters.closed == {Reason.DRAINED: 1}


async def test_a_second_signal_stops_at_once() -> None:
    """An operator who sends it twice does not want to wait; the exit code shows it."""
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        waiting = await _in_flight(alive, broker, answers := trio.Event())
        alive.signal()
        await alive.until_state("draining")
        alive.signal()
        with trio.fail_after(12):
            await alive.over.wait()
        assert alive.code == CUT_SHORT
        assert await waiting.receive_all() == b""
        assert alive.process.clusters[0].counters.closed == {Reason.SHUTDOWN: 1}
        answers.set()


async def test_the_deadline_ends_a_drain() -> None:
    """Unanswered requests are closed then, and counted so."""
    async with brokers((1,)) as (broker,), living(settings(broker, drain={"deadline": "300ms"})) as alive:
        await alive.until_state("ready")
        waiting = await _in_flight(alive, broker, answers := trio.Event())
        alive.signal()
        await alive.over.wait()
        assert await waiting.receive_all() == b""
        assert alive.process.clusters[0].counters.closed == {Reason.DRAIN_DEADLINE: 1}
        answers.set()


async def test_two_virtual_clusters_keep_apart() -> None:
    """Each cluster has its own nodes, though their ids are the same, and its own connections, counters and troubles."""
    async with brokers((1,), (1, 2)) as (first, second), living(settings(first, second)) as alive:
        await alive.until_state("ready")
        found = []
        for index in (0, 1):
            client = await alive.client(alive.port(index))
            await client.introduce(f"client-{index}", "1.0")
            await client.send_metadata(2)
            found.append(await client.nodes(2))
        assert [set(nodes) for nodes in found] == [{1}, {1, 2}]
        ports = [port for nodes in found for _, port in nodes.values()]
        assert len(set(ports)) == 3
        client = await alive.client(found[1][1][1])
        before = first.accepted
        await client.introduce("client-1", "1.0")
        assert first.accepted == before
        shown = {cluster["name"]: cluster for cluster in (await alive.get("/api/v1/clusters"))["clusters"]}
        assert [shown[name]["connections"] for name in ("c0", "c1")] == [1, 2]
        only = (await alive.get("/api/v1/connections?cluster=c1"))["connections"]
        assert [(each["cluster"], each["node"]) for each in only] == [("c1", None), ("c1", 1)]
        second.script[API_VERSIONS] = second.script[METADATA] = silent
        await second.drop()
        assert {cause["cluster"] for cause in (await alive.until_state("degraded"))["reasons"]} == {"c1"}


async def test_what_the_admin_port_shows() -> None:
    """It shows clusters with nodes and addresses, and connections with software, bytes and counts, as they are."""
    async with brokers((7,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        (cluster,) = (await alive.get("/api/v1/clusters"))["clusters"]
        port = int(alive.process.clusters[0].nodes.addresses.nodes[7].place)
        assert cluster["cluster_id"] == "scripted"
        assert cluster["listen"] == f"{HOST}:{alive.port()}"
        assert cluster["bootstrap_servers"] == [f"{HOST}:{broker.port}"]
        (node,) = cluster["nodes"]
        assert (node["node_id"], node["advertised"], node["reachable"]) == (7, f"{HOST}:{port}", True)
        assert node["upstream"] == f"{HOST}:{broker.port}"
        client = await alive.client(port)
        await client.introduce("apache-kafka-java", "4.3.1", "payments")
        (shown,) = (await alive.get("/api/v1/connections"))["connections"]
        assert (shown["software_name"], shown["software_version"]) == ("apache-kafka-java", "4.3.1")
        assert (shown["client_id"], shown["node"], shown["cluster"]) == ("payments", 7, "c0")
        assert (shown["requests"], shown["responses"], shown["in_flight"]) == (1, 1, 0)
        assert shown["bytes_in"] > 30
        assert shown["bytes_out"] > 20
        assert shown["client"] == "{}:{}".format(*client.stream.socket.getsockname())
        assert shown["paused"] == []
        cluster = (await alive.get("/api/v1/clusters"))["clusters"][0]
        assert (cluster["connections"], cluster["nodes"][0]["connections"]) == (1, 1)
        metrics = await alive.text("/metrics")
        assert 'software_name="apache-kafka-java",software_version="4.3.1"} 1.0' in metrics


async def test_held_bytes_are_those_of_this_moment() -> None:
    """Half a request that must be complete is held; when its rest has come nothing is."""
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        client = await alive.client()
        await client.send(b"\0\0\0\x64\0\x12\0\x03\0\0\0\x01" + bytes(38))
        await eventually(lambda: bool(alive.process.relay.pump.connections), "a connection")
        with trio.fail_after(40):
            while 'kproxy_held_bytes{cluster="c0"} 50.0' not in await alive.text("/metrics"):  # noqa: ASYNC110
                await trio.sleep(0.02)
        await client.close()
        await eventually(lambda: not alive.process.relay.pump.connections, "its end")
        assert 'kproxy_held_bytes{cluster="c0"} 0.0' in await alive.text("/metrics")


async def test_an_interrupt_drains_too() -> None:
    """Ctrl-C drains as SIGTERM does."""
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        signal.raise_signal(signal.SIGINT)
        await alive.over.wait()
        assert alive.code == DRAINED


async def test_without_an_admin_port() -> None:
    """It is optional."""
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        assert alive.process.config.admin is not None
        alive.signal()
        await alive.over.wait()
        bare = settings(broker).model_copy(update={"admin": None})
        process = type(alive.process)(bare)
        codes: list[int] = []
        async with trio.open_nursery() as nursery:

            async def run() -> None:
                codes.append(await process.live())

            nursery.start_soon(run)
            await eventually(lambda: process.started, "the start")
            alive.signal()
        assert codes == [DRAINED]


async def test_addresses_of_ipv6_have_brackets() -> None:
    """They are written as people and clients write them."""
    async with brokers((1,)) as (broker,):
        described = {"name": "six", "bootstrap_servers": f"{HOST}:{broker.port}", "listen": "[::1]:0"}
        async with living(settings(broker, clusters=[described | {"nodes": {"first_port": 0}}])) as alive:
            await alive.until_state("ready")
            (cluster,) = (await alive.get("/api/v1/clusters"))["clusters"]
            assert cluster["listen"] == f"[::1]:{alive.port()}"
            assert cluster["nodes"][0]["advertised"].startswith("[::1]:")


async def test_a_node_out_of_reach_degrades() -> None:
    """The missing one is named, with its address and the reason."""
    async with brokers((1,)) as (broker,):
        broker.name_nodes({1: broker.address, 2: (HOST, 1)})
        async with living(settings(broker)) as alive:
            (cause,) = (await alive.until_state("degraded"))["reasons"]
            assert (cause["cluster"], cause["node"]) == ("c0", 2)
            assert "refused" in cause["reason"]


async def test_virtual_clusters_wait_for_orders_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch, bounds: Bounds
) -> None:
    """Where no place of orders answers, the start takes as long as for one of them."""
    monkeypatch.setattr(agreement, "LEARN_SECONDS", 1.0)
    async with brokers((1,)) as (broker,):
        mute = [await trio.open_tcp_listeners(0, host=HOST) for _ in range(2)]
        upstreams = [
            {"name": name, "bootstrap_servers": "{}:{}".format(*one.socket.getsockname())}
            for name, (one,) in zip(("a", "b"), mute, strict=True)
        ]
        each = {"upstreams": upstreams, "failover": {"control_topic": "orders"}, "listen": f"{HOST}:0"}
        clusters = [each | {"name": f"c{number}", "nodes": {"first_port": 0}} for number in range(8)]
        begun = trio.current_time()
        async with living(settings(broker, clusters=clusters)):
            took = trio.current_time() - begun
            assert took >= 1
            bounds.below(took, 6, "seconds until the start")
        for (one,) in mute:
            await one.aclose()
