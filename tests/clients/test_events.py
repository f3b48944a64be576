"""The event stream: real clients that push nothing appear in it, and files and a topic get the same events."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from kproxy.observe.event_schema import columns
from tests.support.backend import Backend
from tests.support.client import java_tool
from tests.support.proxy import Proxy
from tests.support.side import Side
from tests.support.wait import until

JAVA, LIBRDKAFKA, STAYING = "java-orders", "librdkafka-orders", "librdkafka-audit"
RECORDS = 60
Row = dict[str, Any]


@dataclass(frozen=True)
class Recorded:
    """All events of a kproxy that has ended: the lines of its files and the records of its topic."""

    lines: list[str]
    records: list[str]
    brokers: set[str]
    offered: float

    def of(self, client_id: str, event: str | None = None) -> list[Row]:
        """Return one client's events, in the order in which they were written."""
        rows = [json.loads(line) for line in self.lines]
        return [row for row in rows if row.get("client_id") == client_id and event in (None, row["event"])]


@pytest.fixture(scope="module")
def recorded(kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A Java producer and a librdkafka producer write and end; another librdkafka producer stays until the drain."""
    directory = tmp_path_factory.mktemp("events")
    files, topic, sink = directory / "files", kafka.topic(), kafka.topic(partitions=3)
    destinations = [
        {"name": "lake", "type": "files", "directory": str(files), "file_age": "1s"},
        {"name": "topic", "type": "kafka", "topic": sink},
    ]
    events = {"destinations": destinations, "interval": "1s", "instance": "kproxy-0"}
    with Proxy(directory, {"kafka": kafka.cluster.bootstrap}, events=events) as proxy:
        side = Side(proxy, "kafka", kafka, directory)
        staying = producer(side, STAYING, topic)
        side.run(java_producer(side, topic))
        ending = producer(side, LIBRDKAFKA, topic)
        until(lambda: inventories(files, STAYING) >= 3, "three inventories")
        ending.close()
        until(lambda: 'reason="client_' in metrics(proxy), "its end")
        offered = until(lambda: settled(proxy), "everything delivered")
        proxy.stop()
        staying.close()
    brokers = {f"127.0.0.1:{port}" for port in kafka.cluster.ports}
    lines = [line.decode() for file in sorted(files.glob("events-*")) for line in read(file).splitlines()]
    return Recorded(lines, kafka.values(sink), brokers, offered)


def java_producer(side: Side, topic: str) -> list[str]:
    """Return the command of the verifiable producer, with metrics push switched off."""
    settings = side.directory / "java.properties"
    settings.write_text(f"client.id={JAVA}\nenable.metrics.push=false\n")
    limits = ("--max-messages", str(RECORDS), "--throughput", "30")
    arguments = ("--bootstrap-server", side.bootstrap, "--topic", topic, *limits, "--command-config", str(settings))
    return java_tool("org.apache.kafka.tools.VerifiableProducer", *arguments)


def producer(side: Side, client_id: str, topic: str) -> confluent_kafka.Producer:
    """Return a librdkafka producer that has written; it stays connected as long as it is referenced."""
    settings = {"bootstrap.servers": side.bootstrap, "client.id": client_id, "enable.metrics.push": False}
    made = confluent_kafka.Producer(settings)
    for number in range(RECORDS):
        made.produce(topic, str(number))
    assert made.flush(30) == 0
    return made


def inventories(files: Path, client_id: str) -> int:
    """Return how many inventories each open connection of the client was in, at least."""
    present: Counter[int] = Counter()
    connected: set[int] = set()
    for row in (json.loads(line) for file in sorted(files.glob("events-*")) for line in read(file).splitlines()):
        if row.get("client_id") == client_id:
            present[row["connection"]] += row["event"] == "client_present"
            (connected.discard if row["event"] == "client_disconnected" else connected.add)(row["connection"])
    return min((present[connection] for connection in connected), default=0)


def read(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes())


def metrics(proxy: Proxy) -> str:
    return proxy.get("/metrics")[1].decode()


def settled(proxy: Proxy) -> float:
    """Return how many events the destinations were offered once all are delivered, 0 before; none was dropped."""
    assert proxy.metric("kproxy_events_dropped_total") == 0
    offered = proxy.metric("kproxy_events_offered_total")
    return offered if offered == proxy.metric("kproxy_events_delivered_total") else 0


def test_files_and_topic_have_the_same(recorded: Recorded) -> None:
    """Files and topic hold the same bytes, event by event, each once; the drain's events too."""
    assert Counter(recorded.lines) == Counter(recorded.records)
    assert len(recorded.lines) >= recorded.offered / 2 > 0


def test_every_event_has_its_fields(recorded: Recorded) -> None:
    """Each event has the fields that docs/events.md has for its kind, with the names of proxy and virtual cluster."""
    for row in map(json.loads, recorded.lines):
        assert set(row) == {field.name for field in columns() if row["event"] in field.events}
        assert (row["schema"], row["proxy"], row["cluster"]) == (1, "kproxy-0", "kafka")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", row["at"])


@pytest.mark.parametrize(
    ("client_id", "software", "version"),
    [
        (JAVA, "apache-kafka-java", r"4\.3\.1"),
        (LIBRDKAFKA, "confluent-kafka-python", rf".*rdkafka-{re.escape(confluent_kafka.libversion()[0])}"),
    ],
)
def test_connected_clients_are_seen(recorded: Recorded, client_id: str, software: str, version: str) -> None:
    """Without any push, each connection is reported with software, version, address, node, start and end."""
    connected = recorded.of(client_id, "client_connected")
    assert {row["software_name"] for row in connected} == {software}
    assert all(re.fullmatch(version, row["software_version"]) for row in connected)
    assert {row["address"] for row in connected} == {"127.0.0.1"}
    assert len({row["port"] for row in connected}) == len(connected) >= 2
    assert {row["broker"] for row in connected} <= recorded.brokers
    assert {None} < {row["node"] for row in connected}
    assert {row["rebootstrap"] for row in connected} == {"129"}
    for row in connected:
        events = [other for other in recorded.of(client_id) if other["connection"] == row["connection"]]
        assert [other["event"] for other in (events[0], events[-1])] == ["client_connected", "client_disconnected"]
        assert {other["event"] for other in events[1:-1]} <= {"client_present"}
        assert {other["since"] for other in events} == {row["since"]}
        assert row["since"] <= events[0]["at"] <= events[-1]["at"]
        assert events[-1]["reason"] in ("client_closed", "client_reset")
        assert events[-1]["requests"] >= events[-1]["responses"] > 0 < events[-1]["bytes_in"]


def test_a_client_that_stays_is_in_each_inventory(recorded: Recorded) -> None:
    """A client that stays for many intervals is in each inventory, and its connections end with kproxy."""
    ended = recorded.of(STAYING, "client_disconnected")
    stayed = {row["connection"] for row in ended if row["reason"] == "drained"}
    assert stayed
    for connection in stayed:
        present = [row for row in recorded.of(STAYING, "client_present") if row["connection"] == connection]
        assert len(present) >= 3
        assert sorted(row["requests"] for row in present) == [row["requests"] for row in present]
        assert {row["software_name"] for row in present} == {"confluent-kafka-python"}
