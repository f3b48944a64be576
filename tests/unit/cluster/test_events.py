"""The event stream of a whole process: clients that come, are there and go, what happens, and where it is written."""

from __future__ import annotations

import gzip
import json
import socket
import struct
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import trio

from kproxy.app import client_events as presence
from kproxy.cluster.cluster import ACTIVE
from kproxy.observe.event_schema import columns
from kproxy.observe.events import Name
from kproxy.state.sqlite import SqliteStore
from kproxy.wire.header import RequestHeader
from tests.unit.app.living import METADATA, Client, Living, brokers, living, settings
from tests.unit.cluster.test_epochs import described, two
from tests.unit.delivery.leader import Leader
from tests.unit.relay.sockets import eventually

Row = dict[str, Any]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the looks for new connections more frequent."""
    monkeypatch.setattr(presence, "LOOK", 0.05)


def to(directory: Path, **others: Any) -> Row:
    """Return settings of an event stream to files that appear soon."""
    lake = {"name": "lake", "type": "files", "directory": str(directory), "file_age": "100ms", "linger": 0}
    return {"destinations": [lake], "instance": "kproxy-0"} | others


def rows(directory: Path) -> list[Row]:
    """Return all events in the finished files; each has its own fields and no others."""
    files = sorted(directory.glob("events-*")) if directory.is_dir() else []
    return [row for file in files for row in _in(file)]


@cache
def _in(file: Path) -> list[Row]:
    """Read a finished file once: who waits looks 200 times a second, in the thread in which kproxy runs."""
    found = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    for row in found:
        assert set(row) == {field.name for field in columns() if row["event"] in field.events}, row
    return found


async def reported(directory: Path, *names: Name, count: int = 1) -> list[Row]:
    """Return the events of these names, once there are `count` of the last."""
    found: list[Row] = []

    def enough() -> bool:
        found[:] = [row for row in rows(directory) if row["event"] in names]
        return len([row for row in found if row["event"] == names[-1]]) >= count

    await eventually(enough, f"{count} {names[-1]}")
    return found


def kinds(found: list[Row]) -> list[Name]:
    return [Name(row["event"]) for row in found]


async def hello(alive: Living, client_id: str = "app") -> Client:
    await alive.until_state("ready")
    client = await alive.client()
    await client.introduce("apache-kafka-java", "4.3.1", client_id)
    return client


async def test_a_client_comes_and_goes(tmp_path: Path) -> None:
    """The events have the client, its times, its traffic and why it ended, in files that appear by themselves."""
    async with brokers((1,)) as (broker,), living(settings(broker, events=to(tmp_path))) as alive:
        client = await hello(alive)
        (connected,) = await reported(tmp_path, Name.CLIENT_CONNECTED)
        host, port = client.stream.socket.getsockname()[:2]
        assert (connected["address"], connected["port"], connected["node"]) == (host, port, None)
        assert connected["broker"] == f"{host}:{broker.port}"
        assert (connected["proxy"], connected["cluster"], connected["schema"]) == ("kproxy-0", "c0", 1)
        assert (connected["software_name"], connected["software_version"]) == ("apache-kafka-java", "4.3.1")
        assert (connected["client_id"], connected["principal"], connected["metadata_version"]) == ("app", None, None)
        assert (connected["rebootstrap"], connected["kip_1242"]) == ("129", False)
        assert connected["since"] <= connected["at"]
        await client.send_metadata(2)
        await client.nodes(2)
        await client.close()
        _, gone = await reported(tmp_path, Name.CLIENT_CONNECTED, Name.CLIENT_DISCONNECTED)
        same = {"connection", "since", "address", "port", "client_id", "software_name", "broker", "proxy", "cluster"}
        assert {key: gone[key] for key in same} == {key: connected[key] for key in same}
        assert (gone["metadata_version"], gone["requests"], gone["responses"]) == (8, 2, 2)
        assert (gone["reason"], gone["detail"]) == ("client_closed", None)
        assert gone["bytes_in"] > 0 < gone["bytes_out"]
        assert 0 < gone["seconds"] < 60
        assert connected["at"] <= gone["at"]


async def test_one_that_was_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client has both events, in their order; a reset has its reason and what is known of the client."""
    monkeypatch.setattr(presence, "LOOK", 30.0)
    async with brokers((1,)) as (broker,), living(settings(broker, events=to(tmp_path))) as alive:
        client = await hello(alive)
        client.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await client.close()
        found = await reported(tmp_path, Name.CLIENT_CONNECTED, Name.CLIENT_DISCONNECTED)
        assert kinds(found) == [Name.CLIENT_CONNECTED, Name.CLIENT_DISCONNECTED]
        assert (found[1]["reason"], found[1]["software_name"]) == ("client_reset", "apache-kafka-java")


async def test_a_client_of_an_old_kind(tmp_path: Path) -> None:
    """It sends no ApiVersions, so the event has what its requests contain."""
    async with brokers((1,)) as (broker,), living(settings(broker, events=to(tmp_path))) as alive:
        await alive.until_state("ready")
        client = await alive.client()
        await client.send_metadata(1)
        await client.nodes(1)
        (connected,) = await reported(tmp_path, Name.CLIENT_CONNECTED)
        assert (connected["software_name"], connected["software_version"]) == (None, None)
        assert (connected["client_id"], connected["metadata_version"], connected["rebootstrap"]) == (
            "app",
            8,
            "unknown",
        )


async def test_all_present_clients_are_reported_again(tmp_path: Path) -> None:
    """Each interval reports all present clients with their traffic so far, but not those without a first event yet."""
    config = to(tmp_path, interval="300ms")
    async with brokers((1,)) as (broker,), living(settings(broker, events=config)) as alive:
        clients = [await hello(alive, f"app-{number}") for number in range(3)]
        await reported(tmp_path, Name.CLIENT_CONNECTED, count=3)
        early = len(await reported(tmp_path, Name.CLIENT_PRESENT))  # before that, some were there and others not yet
        found = (await reported(tmp_path, Name.CLIENT_PRESENT, count=early + 6))[early + 3 :]
        assert {row["client_id"] for row in found[:3]} == {f"app-{number}" for number in range(3)}
        assert {row["requests"] for row in found} == {1}
        await clients[1].close()
        await reported(tmp_path, Name.CLIENT_DISCONNECTED)
        before = len(await reported(tmp_path, Name.CLIENT_PRESENT))
        later = (await reported(tmp_path, Name.CLIENT_PRESENT, count=before + 4))[before:]
        assert {row["client_id"] for row in later} == {"app-0", "app-2"}
        everything = rows(tmp_path)
        first: dict[int, Name] = {}
        for row in everything:
            first.setdefault(row["connection"], Name(row["event"]))
        assert set(first.values()) == {Name.CLIENT_CONNECTED}


async def test_many_at_once(tmp_path: Path) -> None:
    """A client that comes while the others are reported is reported next; each once."""
    async with brokers((1,)) as (broker,), living(settings(broker, events=to(tmp_path, interval="500ms"))) as alive:
        clients = [await hello(alive, str(number)) for number in range(120)]
        found = await reported(tmp_path, Name.CLIENT_CONNECTED, count=len(clients))
        assert sorted(int(row["client_id"]) for row in found) == list(range(len(clients)))
        ids = {row["connection"] for row in found}

        def present() -> set[int]:
            return {row["connection"] for row in rows(tmp_path) if row["event"] == Name.CLIENT_PRESENT}

        await eventually(lambda: present() == ids, "an inventory of all")
        for client in clients:
            await client.close()
        gone = await reported(tmp_path, Name.CLIENT_DISCONNECTED, count=len(clients))
        assert {row["connection"] for row in gone} == ids


async def test_a_failover(tmp_path: Path) -> None:
    """The events have the epoch, its cause and both upstreams; then come the ends of the connections that it closes."""
    async with two(events=to(tmp_path)) as process:
        client = await process.client(process.port(1))
        await reported(tmp_path, Name.CLIENT_CONNECTED)
        await process.post("failover", {"to": "b"})
        assert await client.receive_all() == b""
        epoch, gone = await reported(tmp_path, Name.CLIENTS_REBOOTSTRAP, Name.CLIENT_DISCONNECTED)
        assert (epoch["event"], epoch["cause"], epoch["epoch"], epoch["connections"]) == (
            "clients_rebootstrap", "failover", 1, 1,
        )  # fmt: skip
        assert (epoch["upstream"], epoch["previous_upstream"]) == ("b", "a")
        assert (epoch["cluster_id"], epoch["previous_cluster_id"]) == (None, None)
        assert (gone["reason"], gone["node"]) == ("rebootstrap", 1)


async def test_a_topic_moves_with_its_cluster(nursery: trio.Nursery) -> None:
    """Events after a failover, and the failover itself, are written to the cluster that clients are at."""
    a, b = Leader(), Leader()
    for broker, name in ((a, "A"), (b, "B")):
        await nursery.start(broker.run)
        broker.name_nodes({1: broker.address})
        broker.answer.cluster_id = name
    topic = {"name": "topic", "type": "kafka", "topic": "t", "compression": "none", "linger": 0}
    async with living(described(a, b, events={"destinations": [topic]})) as alive:
        await hello(alive)
        await eventually(lambda: b"client_connected" in written(a), "an event at the first cluster")
        await alive.post("/api/v1/clusters/c/failover", {"to": "b"})
        await eventually(lambda: b"clients_rebootstrap" in written(b), "an event at the second")
        await eventually(lambda: b"client_disconnected" in written(b), "and what follows")
        assert b"client_disconnected" not in written(a)


def written(leader: Leader) -> bytes:
    """Return all batches that the leader took, not compressed."""
    return b"".join(batch for _, batch in leader.batches)


async def test_a_backend_that_changes(tmp_path: Path) -> None:
    """The events have the nodes that came and went; and for another cluster behind the same servers, both ids."""
    async with two(events=to(tmp_path)) as process:
        process.a.name_nodes({2: process.a.address, 3: process.a.address})
        (changed,) = await reported(tmp_path, Name.TOPOLOGY_CHANGED)
        assert (changed["added"], changed["gone"], changed["moved"], changed["cluster_id"]) == ([3], [1], [], None)
        process.a.answer.cluster_id = "C"
        (epoch,) = await reported(tmp_path, Name.CLIENTS_REBOOTSTRAP)
        assert (epoch["cause"], epoch["cluster_id"], epoch["previous_cluster_id"]) == ("cluster_changed", "C", "A")
        assert (epoch["upstream"], epoch["previous_upstream"]) == ("a", None)


async def test_a_drain_delivers_what_is_queued(tmp_path: Path) -> None:
    """What happened until the end is in files when the process ends: clients sent to siblings, connections' ends."""
    events = to(tmp_path)
    events["destinations"][0] |= {"linger": "60s", "file_age": "1h"}
    drain = {"rebootstrap": True, "deadline": "1s"}
    async with brokers((1,)) as (broker,), living(settings(broker, events=events, drain=drain)) as alive:
        await hello(alive)
        alive.signal()
        await alive.over.wait()
        found = rows(tmp_path)
        assert kinds(found) == [Name.CLIENT_CONNECTED, Name.CLIENTS_SENT_TO_SIBLINGS, Name.CLIENT_DISCONNECTED] or (
            kinds(found) == [Name.CLIENTS_SENT_TO_SIBLINGS, Name.CLIENT_CONNECTED, Name.CLIENT_DISCONNECTED]
        )
        sent = next(row for row in found if row["event"] == Name.CLIENTS_SENT_TO_SIBLINGS)
        assert (sent["clients"], sent["seconds"]) == (1, 0.8)


async def test_a_queue_that_is_full(tmp_path: Path) -> None:
    """Drops are counted, at /metrics too. Neither the client nor the other destination waits."""
    nowhere = socket.create_server(("127.0.0.1", 0))  # takes connections and says nothing
    topic = {
        "name": "topic",
        "type": "kafka",
        "topic": "t",
        "bootstrap_servers": f"127.0.0.1:{nowhere.getsockname()[1]}",
        "max_events": 5,
    }
    events = to(tmp_path)
    events["destinations"].append(topic)
    async with brokers((1,)) as (broker,), living(settings(broker, events=events)) as alive:
        for _ in range(6):
            client = await hello(alive)
            await client.ask(RequestHeader(METADATA, 8, 2, "app"), b"\0\0\0\0\0")
            await client.close()
        await reported(tmp_path, Name.CLIENT_DISCONNECTED, count=6)
        page = await alive.text("/metrics")
        assert 'kproxy_events_dropped_total{destination="topic",reason="full"} 7.0' in page
        assert 'kproxy_events_queued{destination="topic"} 5.0' in page
        assert 'kproxy_events_delivered_total{destination="lake"} 12.0' in page
        for reason in ("full", "refused", "late", "malformed", "failed"):
            assert f'kproxy_events_dropped_total{{destination="lake",reason="{reason}"}} 0.0' in page
    nowhere.close()


async def test_a_topic_after_a_restart(tmp_path: Path) -> None:
    """Events go to the upstream that was active before, and none to another one, though it is named first."""
    topic = {"name": "topic", "type": "kafka", "topic": "t", "compression": "none", "linger": 0}
    state = {"path": str(tmp_path / "state.db")}
    store = await SqliteStore.open(Path(state["path"]))
    await store.put(ACTIVE, "c", b"b")
    await store.close()

    async with brokers((1,), (2,)) as (a, b):
        async with living(described(a, b, state=state, events={"destinations": [topic]})) as alive:
            await alive.until_state("ready")
            await hello(alive)
            await eventually(lambda: "t" in b.topics_asked, "the destination at the active upstream")
        assert "t" not in a.topics_asked


async def test_without_events_there_is_nothing_of_it() -> None:
    """There is neither a stream nor a hook."""
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        assert (alive.process.events, alive.process.relay.pump.ended) == (None, None)
        assert alive.process.clusters[0].events.publish is None


async def test_the_name_of_the_host(tmp_path: Path) -> None:
    """Where none is given."""
    async with brokers((1,)) as (broker,), living(settings(broker, events=to(tmp_path, instance=None))) as alive:
        await hello(alive)
        (connected,) = await reported(tmp_path, Name.CLIENT_CONNECTED)
        assert connected["proxy"] == socket.gethostname()
