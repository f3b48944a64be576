"""A topology that goes away, as clients of a whole process see it: switches, changes behind it, reloads, drains."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import trio
from structlog.testing import capture_logs

from kproxy.app import reload
from kproxy.app.process import DRAINED
from kproxy.app.reload import ReadFiles, apply, read_files
from kproxy.config import Config
from kproxy.local_kafka.ports import free_port
from kproxy.observe.reasons import Reason
from kproxy.rebootstrap.actions import Action
from kproxy.rebootstrap.service import PATIENCE
from kproxy.state import kept
from kproxy.state.sqlite import SqliteStore
from kproxy.state.store import StateError
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.heartbeat_request import HeartbeatRequest
from kproxy.wire.generated.heartbeat_response import HeartbeatResponse
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.primitives import ZERO_UUID, frame
from tests.support.bounds import Bounds
from tests.unit.app.living import HEARTBEAT, HOST, METADATA, Client, Living, brokers, living, named_itself, once
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.scripted_broker import ScriptedBroker, silent

FLOOR = 0.5


@dataclass
class Two:
    """A process with two upstream clusters, `a` first; each has one broker, which claims to be all of its nodes."""

    alive: Living
    a: ScriptedBroker
    b: ScriptedBroker

    @property
    def cluster(self) -> Any:
        return self.alive.process.clusters[0]

    def port(self, node_id: int) -> int:
        return int(self.cluster.nodes.addresses.nodes[node_id].place)

    async def client(self, port: int | None = None, name: str = "app") -> Client:
        client = await self.alive.client(port)
        await client.introduce("apache-kafka-java", "4.3.1", name)
        return client

    async def post(self, path: str, content: object = None) -> tuple[int, Any]:
        """Return the status and JSON that the admin port answers."""
        return await self.alive.post(f"/api/v1/clusters/c/{path}", {} if content is None else content)


def described(a: ScriptedBroker, b: ScriptedBroker, **others: Any) -> Config:
    cluster = {
        "name": "c",
        "listen": f"{HOST}:0",
        "nodes": {"first_port": 0},
        "upstreams": [
            {"name": "a", "bootstrap_servers": f"{HOST}:{a.port}"},
            {"name": "b", "bootstrap_servers": f"{HOST}:{b.port}"},
        ],
    } | others.pop("cluster", {})
    topology = {"interval": "100ms", "epoch_floor": f"{FLOOR}s", "grace": "2s"} | others.pop("topology", {})
    admin = others.pop("admin", None) or f"{HOST}:{free_port()}"
    return Config.model_validate({"clusters": [cluster], "admin": admin, "topology": topology} | others)


@asynccontextmanager
async def two(
    a_nodes: tuple[int, ...] = (1, 2), b_nodes: tuple[int, ...] = (11, 12), **others: Any
) -> AsyncIterator[Two]:
    async with brokers(a_nodes, b_nodes) as (a, b):
        a.answer.cluster_id, b.answer.cluster_id = "A", "B"
        async with living(described(a, b, **others)) as alive:
            await alive.until_state("ready")
            yield Two(alive, a, b)


async def metadata(client: Client, correlation_id: int, version: int = 13) -> MetadataResponse:
    head = encode_request_header(RequestHeader(METADATA, version, correlation_id, "app"))
    await client.send(frame(head, MetadataRequest(topics=[]).encode(version)))
    body = await client.answer(correlation_id)
    return MetadataResponse.decode(body[version >= 9 :], version)


async def test_a_switch_closes_what_was_there_and_leads_to_the_other_cluster() -> None:
    """Old connections end with that reason; a client that bootstraps afterwards finds the other cluster's nodes."""
    async with two() as process:
        node, bootstrap = await process.client(process.port(1)), await process.client()
        assert {broker.node_id for broker in (await metadata(bootstrap, 2, 12)).brokers} == {1, 2}
        status, reply = await process.post("failover", {"to": "b"})
        assert (status, reply["upstream"], reply["epoch"], reply["connections"]) == (200, "b", 1, 2)
        assert await node.receive_all() == await bootstrap.receive_all() == b""
        assert process.cluster.counters.closed[Reason.REBOOTSTRAP] == 2
        fresh = await metadata(await process.client(), 2, 12)
        assert {broker.node_id for broker in fresh.brokers} == {11, 12}
        assert fresh.cluster_id == "B"
        assert {broker.port for broker in fresh.brokers} == {process.port(11), process.port(12)}


async def test_a_retired_node_notifies_a_client_once_and_then_refuses() -> None:
    """It gets 129 with the present brokers, flushed, then a close; then a refusal; after the grace the port is gone."""
    async with two(topology={"retired": "refuse"}) as process:
        retired = process.port(1)
        await process.post("failover", {"to": "b"})
        client = await process.client(retired)
        reply = await metadata(client, 2)
        assert reply.error_code == ErrorCode.REBOOTSTRAP_REQUIRED
        assert {broker.node_id: broker.port for broker in reply.brokers} == {11: process.port(11), 12: process.port(12)}
        assert await client.receive_all() == b""
        again = await process.alive.client(retired)
        await again.say_hello("apache-kafka-java", "4.3.1", "app")
        assert await again.receive_all() == b""
        with trio.fail_after(40):
            while True:
                try:
                    await (await process.alive.client(retired)).close()
                except OSError:
                    break
                await trio.sleep(0.05)


async def test_a_client_that_was_closed_is_notified_at_a_node_that_both_clusters_have() -> None:
    """The client gets one 129. Then the same node serves it, and another client gets none."""
    async with two((1, 2), (1, 2)) as process:
        first = await process.client(process.port(1))
        await metadata(first, 2)
        await process.post("failover", {"to": "b"})
        assert await first.receive_all() == b""
        back = await process.client(process.port(1))
        assert (await metadata(back, 2)).error_code == ErrorCode.REBOOTSTRAP_REQUIRED
        assert await back.receive_all() == b""
        served = await metadata(await process.client(process.port(1)), 2)
        assert (served.error_code, served.cluster_id) == (0, "B")
        assert (await metadata(await process.client(process.port(2), "other"), 2)).error_code == 0


async def test_metadata_in_flight_at_the_switch_is_answered_by_129() -> None:
    """The old cluster's nodes are never in the answer."""
    async with two() as process:
        client = await process.client(process.port(1))
        process.a.script[METADATA] = once(answers := trio.Event())
        head = encode_request_header(RequestHeader(METADATA, 13, 2, "app"))
        await client.send(frame(head, MetadataRequest(topics=[]).encode(13)))
        (connection,) = process.alive.process.relay.pump.connections.values()
        await eventually(lambda: len(connection.in_flight) == 1, "a request in flight")
        await process.post("failover", {"to": "b"})
        answers.set()
        reply = MetadataResponse.decode((await client.answer(2))[1:], 13)
        assert (reply.error_code, {broker.node_id for broker in reply.brokers}) == (
            ErrorCode.REBOOTSTRAP_REQUIRED,
            {11, 12},
        )
        assert await client.receive_all() == b""


async def test_a_client_that_believes_what_129_says_is_closed_instead() -> None:
    """kafka-python has Metadata in flight at the switch: it is notified by the new cluster, on its next connection."""
    async with two((1,), (1,)) as process:
        client = await process.alive.client(process.port(1))
        await client.introduce("kafka-python", "3.0.12")
        process.a.script[METADATA] = once(answers := trio.Event())
        head = encode_request_header(RequestHeader(METADATA, 13, 2, "app"))
        await client.send(frame(head, MetadataRequest(topics=[]).encode(13)))
        (connection,) = process.alive.process.relay.pump.connections.values()
        await eventually(lambda: len(connection.in_flight) == 1, "a request in flight")
        await process.post("failover", {"to": "b"})
        answers.set()
        assert await client.receive_all() == b""
        back = await process.alive.client(process.port(1))
        await back.introduce("kafka-python", "3.0.12")
        reply = await metadata(back, 2)
        assert (reply.error_code, reply.cluster_id) == (ErrorCode.REBOOTSTRAP_REQUIRED, "B")


def heartbeat(correlation_id: int) -> bytes:
    head = encode_request_header(RequestHeader(HEARTBEAT, 4, correlation_id, "app"))
    return frame(head, HeartbeatRequest(group_id="g", generation_id=1, member_id="m").encode(4))


@pytest.mark.parametrize("software", [("apache-kafka-java", "4.3.1"), ("kafka-python", "3.0.12")])
async def test_what_waits_at_the_old_coordinator_is_answered_16(software: tuple[str, str], bounds: Bounds) -> None:
    """At once, at any port, also for clients that get no 129. It counts once, and a 129 stays owed afterwards."""
    async with two((1,), (1,)) as process:
        process.a.script[HEARTBEAT] = silent
        members = [await process.alive.client(port) for port in (process.port(1), process.port(1), None)]
        for member in members:
            await member.introduce(*software)
            await member.send(heartbeat(2) + heartbeat(3))
        connections = process.alive.process.relay.pump.connections.values()
        await eventually(lambda: [len(one.in_flight) for one in connections] == [2, 2, 2], "heartbeats in flight")
        begun = trio.current_time()
        await process.post("failover", {"to": "b"})
        for member in members:
            for number in (2, 3):
                assert (
                    HeartbeatResponse.decode((await member.answer(number))[1:], 4).error_code
                    == ErrorCode.NOT_COORDINATOR
                )
            assert await member.receive_all() == b""
        bounds.below(trio.current_time() - begun, PATIENCE, "seconds until all are answered")
        counted = process.cluster.counters.notified
        assert counted == {(Action.NOT_COORDINATOR, *software): 3}
        back = await process.alive.client(process.port(1))
        await back.introduce(*software)
        assert (await metadata(back, 2)).error_code == ErrorCode.REBOOTSTRAP_REQUIRED


async def test_a_drain_answers_members_of_groups_16() -> None:
    """Each member gets it when its turn has come, and finds its coordinator through a sibling."""
    async with two(drain={"rebootstrap": True, "deadline": "1s"}) as process:
        process.a.script[HEARTBEAT] = silent
        member = await process.client(process.port(1))
        await member.send(heartbeat(2))
        await eventually(lambda: process.a.requests(HEARTBEAT) == 1, "a heartbeat in flight")
        os.kill(os.getpid(), signal.SIGTERM)
        assert HeartbeatResponse.decode((await member.answer(2))[1:], 4).error_code == ErrorCode.NOT_COORDINATOR
        assert await member.receive_all() == b""
        await process.alive.over.wait()


async def test_what_the_old_cluster_never_answers_is_not_waited_for() -> None:
    """A dead cluster is the usual reason for a switch."""
    async with two() as process:
        client = await process.client(process.port(1))
        process.a.script[METADATA] = silent
        await client.send_metadata(2)
        (connection,) = process.alive.process.relay.pump.connections.values()
        await eventually(lambda: len(connection.in_flight) == 1, "a request in flight")
        await process.post("failover", {"to": "b"})
        with trio.fail_after(12):
            assert await client.receive_all() == b""


async def test_a_restart_stays_with_the_active_upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where state is kept. Automatic failover and a manual one go on from there."""
    put = SqliteStore.put

    async def slow(self: SqliteStore, table: str, key: str, value: bytes) -> None:
        await trio.sleep(0.1)
        await put(self, table, key, value)

    monkeypatch.setattr(SqliteStore, "put", slow)
    state = {"state": {"path": str(tmp_path / "state.db")}}
    async with brokers((1,), (2,)) as (a, b):
        a.answer.cluster_id, b.answer.cluster_id = "A", "B"
        async with living(described(a, b, **state)) as alive:
            await alive.until_state("ready")
            status, reply = await Two(alive, a, b).post("failover")
            assert (status, reply["upstream"], reply["unkept"]) == (200, "b", None)
        async with living(described(a, b, **state)) as alive:  # the first one was not asked to end, as by SIGKILL
            await alive.until_state("ready")
            process = Two(alive, a, b)
            assert (process.cluster.upstreams.active.name, process.cluster.upstreams.cluster_id) == ("b", "B")
            assert (await process.post("failover"))[1]["upstream"] == "a"


async def test_a_restart_without_the_upstream_of_before(tmp_path: Path) -> None:
    """The configuration has no such upstream any more: it begins at the first one, and says so."""
    state = {"state": {"path": str(tmp_path / "state.db")}}
    async with brokers((1,), (2,)) as (a, b):
        config = described(a, b, **state)
        async with living(config) as alive:
            await alive.until_state("ready")
            assert (await Two(alive, a, b).post("failover", {"to": "b"}))[0] == 200
        (cluster,) = config.clusters
        left = cluster.model_copy(update={"upstreams": cluster.upstreams[:1]})
        with capture_logs() as lines:
            async with living(config.model_copy(update={"clusters": (left,)})) as alive:
                await alive.until_state("ready")
                assert alive.process.clusters[0].upstreams.active.name == "a"
        (line,) = (one for one in lines if one["event"] == "the upstream of before the restart is no longer configured")
        assert (line["cluster"], line["before"], line["to"]) == ("c", "b", "a")


async def test_a_state_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failover comes all the same; its answer and readiness say that a restart would not know of it."""
    put, full = SqliteStore.put, True

    async def refused(self: SqliteStore, table: str, key: str, value: bytes) -> None:
        if full:
            raise StateError("state.db: the disk is full; free some space")
        await put(self, table, key, value)

    monkeypatch.setattr(SqliteStore, "put", refused)
    monkeypatch.setattr(kept, "_AGAIN", 0.1)
    state = {"state": {"path": str(tmp_path / "state.db")}}
    async with brokers((1,), (2,)) as (a, b):
        async with living(described(a, b, **state)) as alive:
            await alive.until_state("degraded")  # what clients are at is kept from the start
            status, reply = await Two(alive, a, b).post("failover", {"to": "b"})
            assert (status, reply["unkept"]) == (200, "state.db: the disk is full; free some space")
            why = "a restart would begin at the state before the last change: state.db: the disk is full"
            (reason,) = (await alive.get("/readyz"))["reasons"]
            assert reason["reason"].startswith(why)
            full = False
            await alive.until_state("ready")
        async with living(described(a, b, **state)) as alive:
            await alive.until_state("ready")
            assert alive.process.clusters[0].upstreams.active.name == "b"


async def test_refused_switches() -> None:
    """The target is unknown, or active already, or does not answer; the epoch stays."""
    async with two() as process:
        assert (await process.post("failover", {"to": "x"}))[0] == 404
        assert (await process.post("failover", {"to": "a"}))[0] == 409
        process.b.script[METADATA] = silent
        process.b.answer.brokers = []
        del process.b.script[METADATA]
        status, reply = await process.post("failover", {"to": "b"})
        assert (status, process.cluster.epoch) == (409, 0)
        assert "b cannot take over" in reply["error"]
        status, reply = await process.post("failover", {"to": "b", "force": True})
        assert (status, reply["epoch"]) == (200, 1)


async def test_the_floor_between_two_epochs() -> None:
    """A request that comes sooner gets the seconds to wait; after them it works."""
    async with two(topology={"epoch_floor": "30s"}) as process:
        assert (await process.post("rebootstrap"))[0] == 200
        status, reply = await process.post("rebootstrap")
        assert (status, process.cluster.epoch) == (429, 1)
        assert "epoch_floor" in reply["error"]
        assert (await process.post("failover"))[0] == 429


async def test_another_cluster_behind_the_same_servers() -> None:
    """Two polls in a row that show it begin a new epoch; a single one does not."""
    async with two() as process:
        client = await process.client(process.port(1))
        process.a.answer.cluster_id = "A2"
        named_itself(process.a, 21)
        await eventually(lambda: process.cluster.epoch == 1, "a new epoch")
        assert await client.receive_all() == b""
        assert process.cluster.counters.epochs["cluster_changed"] == 1
        assert {broker.node_id for broker in (await metadata(await process.client(), 2, 12)).brokers} == {21}


async def test_all_nodes_replaced() -> None:
    """No node that a client can know is left: a new epoch. One node of two is not enough."""
    async with two() as process:
        named_itself(process.a, 2, 3)
        await eventually(lambda: 3 in process.cluster.nodes.addresses.nodes, "the new node")
        assert process.cluster.epoch == 0
        named_itself(process.a, 4, 5)
        await eventually(lambda: process.cluster.epoch == 1, "a new epoch")
        assert process.cluster.counters.epochs["all_nodes_replaced"] == 1
        assert {listener.node_id for listener in process.cluster.nodes.addresses.retired} >= {2, 3}


async def test_a_retired_node_that_serves() -> None:
    """A client that cannot rebootstrap finds the new nodes at the old port."""
    async with two() as process:
        retired = process.port(1)
        await process.post("failover", {"to": "b"})
        client = await process.client(retired)
        assert {broker.node_id for broker in (await metadata(client, 2, 12)).brokers} == {11, 12}
        assert {broker.node_id for broker in (await metadata(client, 3, 12)).brokers} == {11, 12}


async def test_a_retired_node_refuses_clients_that_cannot_be_notified() -> None:
    """A Java client of 3.7 is closed at its ApiVersions, one of unknown software at its first Metadata."""
    async with two(topology={"retired": "refuse"}) as process:
        retired = process.port(1)
        await process.post("failover", {"to": "b"})
        old, unknown = await process.alive.client(retired), await process.alive.client(retired)
        await old.say_hello("apache-kafka-java", "3.7.2", "old")
        await unknown.introduce("mystery", "1", "unknown")
        await unknown.send_metadata(2)
        assert await old.receive_all() == await unknown.receive_all() == b""


async def test_two_upstreams_that_are_one_cluster() -> None:
    """The switch is made, since the operator may know why; the log warns of the same cluster id."""
    async with two((1,), (1,)) as process:
        process.b.answer.cluster_id = "A"
        status, reply = await process.post("failover", {"to": "b"})
        assert (status, reply["epoch"], process.cluster.upstreams.cluster_id) == (200, 1, "A")
        assert (await metadata(await process.client(), 2, 12)).cluster_id == "A"


async def test_another_cluster_for_a_moment() -> None:
    """One poll shows it and the next does not: no client moves."""
    async with two() as process:
        client = await process.client(process.port(1))
        polls = process.a.requests(METADATA)
        process.a.answer.cluster_id = "elsewhere"
        await eventually(lambda: process.a.requests(METADATA) > polls, "a poll")
        process.a.answer.cluster_id = "A"
        await eventually(lambda: process.a.requests(METADATA) > polls + 3, "more polls")
        assert process.cluster.epoch == 0
        await client.introduce("apache-kafka-java", "4.3.1")


async def test_automatic_failover() -> None:
    """It happens only once the active one was unreachable for the configured time, and does not go back."""
    failover = {"automatic": True, "after": "500ms", "floor": "60s"}
    async with two(cluster={"failover": failover}) as process:
        process.a.script[METADATA] = silent
        await process.a.drop()
        await eventually(lambda: process.cluster.upstreams.active.name == "b", "the failover", 20)
        assert process.cluster.epoch == 1
        del process.a.script[METADATA]
        process.b.script[METADATA] = silent
        await process.b.drop()
        await trio.sleep(2.5)
        assert (process.cluster.upstreams.active.name, process.cluster.epoch) == ("b", 1)


async def test_a_drain_sends_clients_to_siblings() -> None:
    """The bootstrap port closes, nodes' ports answer 129, connections end over the deadline, exit code 0."""
    async with two(drain={"deadline": "2s", "rebootstrap": True}) as process:
        node, port, bootstrap = await process.client(process.port(1)), process.port(2), process.alive.port()
        process.alive.signal()
        await process.alive.until_state("draining")
        with pytest.raises(OSError, match="connect"):  # noqa: PT012 (one that came in the last moment is closed)
            while True:
                await (await process.alive.client(bootstrap)).receive_all()
        late = await process.client(port, "late")
        assert (await metadata(late, 2)).error_code == ErrorCode.REBOOTSTRAP_REQUIRED
        assert await node.receive_all() == b""
        await process.alive.over.wait()
        assert process.alive.code == DRAINED
        assert set(process.cluster.counters.closed) == {Reason.REBOOTSTRAP}


async def test_a_reload_that_maps_nodes_elsewhere() -> None:
    """Clients get the new host, and older connections are closed; a bad reload changes nothing."""
    async with two() as process:
        client = await process.client(process.port(1))
        process.alive.config = described(
            process.a, process.b, cluster={"advertised_host": "localhost"}, admin=process.alive.listens
        )
        os.kill(os.getpid(), signal.SIGHUP)
        assert await client.receive_all() == b""
        reply = await metadata(await process.client(), 2, 12)
        assert {broker.host for broker in reply.brokers} == {"localhost"}
        assert process.cluster.counters.epochs["config"] == 1
        process.alive.config = described(process.a, process.b, log={"format": "json"}, admin=process.alive.listens)
        os.kill(os.getpid(), signal.SIGHUP)
        await eventually(lambda: process.alive.process.counters.reloads.refused == 1, "the refusal")
        assert process.alive.process.config.log.format == "auto"
        assert process.cluster.settings.advertised_host == "localhost"


async def test_a_reload_that_a_failover_overtakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reload waits for the epoch's floor, and meanwhile the other upstream becomes the active one: it stays so."""
    read: list[Config] = []

    async def noted(config: Config) -> ReadFiles:
        found = await read_files(config)
        read.append(config)
        return found

    monkeypatch.setattr(reload, "read_files", noted)
    async with two() as process:
        await process.post("rebootstrap", {})
        config = described(process.a, process.b, cluster={"advertised_host": "localhost"}, admin=process.alive.listens)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(apply, process.alive.process, config)
            await eventually(lambda: bool(read), "the files are read")
            for _ in range(2):  # up to its wait
                await trio.lowlevel.checkpoint()
            epoch = process.cluster.rebootstrap.epoch
            epoch.floor = 0.0
            assert (await process.post("failover", {"to": "b"}))[0] == 200
            epoch.floor = FLOOR
        assert process.cluster.upstreams.active.name == "b"
        reply = await metadata(await process.client(), 2, 12)
        assert (reply.cluster_id, {broker.host for broker in reply.brokers}) == ("B", {"localhost"})


async def test_a_reload_with_other_bootstrap_servers() -> None:
    """The servers must answer; then clients are sent there."""
    async with two() as process:
        client = await process.client(process.port(1))
        upstreams = [{"name": "a", "bootstrap_servers": f"{HOST}:{process.b.port}"}]
        process.alive.config = described(
            process.a, process.b, cluster={"upstreams": upstreams}, admin=process.alive.listens
        )
        os.kill(os.getpid(), signal.SIGHUP)
        assert await client.receive_all() == b""
        assert (await metadata(await process.client(), 2, 12)).cluster_id == "B"
        shown = await process.alive.get("/api/v1/clusters/c/events")
        assert [event["event"] for event in shown["events"]][-1] == "clients rebootstrap"
        assert json.dumps(shown)


async def test_a_reload_that_raises_the_floor() -> None:
    """The new floor counts from then on: clients leave the cluster that the reload leaves all the same."""
    async with two() as process:
        assert (await process.post("rebootstrap"))[0] == 200
        await trio.sleep(FLOOR)
        client = await process.client(process.port(1))
        upstreams = [{"name": "a", "bootstrap_servers": f"{HOST}:{process.b.port}"}]
        process.alive.config = described(
            process.a,
            process.b,
            cluster={"upstreams": upstreams},
            topology={"epoch_floor": "5m"},
            admin=process.alive.listens,
        )
        os.kill(os.getpid(), signal.SIGHUP)
        with trio.fail_after(40):
            assert await client.receive_all() == b""
        assert process.cluster.epoch == 2


async def test_leader_epochs_of_another_cluster() -> None:
    """A librdkafka that would believe no lower epochs gets none, from the other cluster's first Metadata on."""
    async with two() as process:
        for broker, epoch in ((process.a, 5), (process.b, 2)):
            broker.answer.topics = [
                MetadataResponseTopic(name="t", partitions=[MetadataResponsePartition(0, 0, 1, epoch)])
            ]

        async def leader_epoch(software: tuple[str, str], version: int) -> int:
            client = await process.alive.client()
            await client.introduce(*software)
            return (await metadata(client, 2, version)).topics[0].partitions[0].leader_epoch

        old, new, java = ("librdkafka", "2.15.0"), ("librdkafka", "2.16.0"), ("apache-kafka-java", "3.9.0")
        assert [await leader_epoch(software, 12) for software in (old, new, java)] == [5, 5, 5]
        await process.post("failover", {"to": "b"})
        assert [await leader_epoch(software, 12) for software in (old, new, java)] == [-1, 2, 2]
        assert [await leader_epoch(old, version) for version in (7, 8, 9)] == [-1, -1, -1]
        await trio.sleep(FLOOR)
        await process.post("failover", {"to": "a"})
        assert [await leader_epoch(software, 13) for software in (old, new)] == [-1, 5]


async def test_topic_ids_are_hidden_at_every_cluster() -> None:
    """Only from franz-go of 1.22, from its first Metadata on; from no client where the settings list no software."""
    topic_id = UUID(int=7)
    for named, shown in (({}, (ZERO_UUID, -1)), ({"hide_topic_ids_from": ""}, (topic_id, 5))):
        async with two(cluster={"failover": named}) as process:
            for broker in (process.a, process.b):
                partition = MetadataResponsePartition(0, 0, 1, 5)
                broker.answer.topics = [MetadataResponseTopic(name="t", topic_id=topic_id, partitions=[partition])]

            async def received(software: tuple[str, str]) -> tuple[UUID, int]:
                client = await process.alive.client()
                await client.introduce(*software)
                (topic,) = (await metadata(client, 2, 12)).topics
                return topic.topic_id, topic.partitions[0].leader_epoch

            everyone = (("kgo", "v1.22.2"), ("kgo", "v1.21.7"), ("apache-kafka-java", "4.4.0"))
            expected = [shown, (topic_id, 5), (topic_id, 5)]
            assert [await received(software) for software in everyone] == expected
            await process.post("failover", {"to": "b"})
            assert [await received(software) for software in everyone] == expected


async def test_leader_epochs_of_the_same_cluster() -> None:
    """Clients still get them, behind another upstream or after a rebootstrap by the operator."""
    async with two() as process:
        process.b.answer.cluster_id = "A"
        client = await process.alive.client()
        await client.introduce("librdkafka", "2.11.0")
        for broker in (process.a, process.b):
            broker.answer.topics = [MetadataResponseTopic(name="t", partitions=[MetadataResponsePartition(0, 0, 1, 5)])]
        assert (await metadata(client, 2, 12)).topics[0].partitions[0].leader_epoch == 5
        await process.post("failover", {"to": "b"})
        again = await process.alive.client()
        await again.introduce("librdkafka", "2.11.0")
        assert (await metadata(again, 2, 12)).topics[0].partitions[0].leader_epoch == 5
