"""Real clients through kproxy on a real Kafka: what the tables say of them is what was counted beside the pipeline."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import ResourceMetrics

from kproxy.pipeline import run, tables
from tests.support import telemetry
from tests.support.backend import Backend
from tests.support.client import Running, java_4_4
from tests.support.proxy import Proxy
from tests.support.secured import PASSWORD, secured
from tests.support.side import Side
from tests.support.telemetry import Collector, attributes_of
from tests.support.wait import until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The fixtures count with the first test: a Kafka with three clients, and a job, which a busy machine makes slow.
pytestmark = [pytest.mark.go, pytest.mark.timeout(900)]

JAVA, LIBRDKAFKA, FRANZ_GO = "java", "librdkafka", "franz-go"
PLAIN, SASL = "plain", "sasl"
"""The virtual clusters: one Kafka, by its two listeners."""
CLUSTER = {JAVA: PLAIN, LIBRDKAFKA: SASL, FRANZ_GO: PLAIN}
PRINCIPAL = {JAVA: None, LIBRDKAFKA: "User:alice", FRANZ_GO: None}
KIP_1242 = {JAVA: True, LIBRDKAFKA: False, FRANZ_GO: True}
ALICE = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "SCRAM-SHA-256",
    "sasl.username": "alice",
    "sasl.password": PASSWORD,
}
KPROXY, CONSTANT = "kproxy-0", {"env": "test"}
PUSHES = 3
"""How many of each client are there before one of them ends."""
COUNTED = ("requests", "responses", "bytes_in", "bytes_out")
Row = tuple[Any, ...]
Shown = list[dict[str, Any]]


@dataclass(frozen=True)
class Written:
    """What kproxy wrote, as inputs of a job, and what was counted beside it."""

    inputs: Mapping[str, Sequence[str]]
    taken: list[ResourceMetrics]
    """What the collector got: OTLP as the clients pushed it."""
    clients: Shown
    """/api/v1/clients when all were there."""
    connections: Shown
    """/api/v1/connections at that time."""
    opened: float
    """How many connections kproxy counted."""
    events: Shown
    """The lines of the events' files."""
    principals: Mapping[str, set[str]]
    """The principals of each client by the broker's own log."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    """Three clients push each second to files, to a topic and to a collector; events go to files and to a topic."""
    directory = tmp_path_factory.mktemp("real")
    files, sinks = directory / "written", {"telemetry": "sink-telemetry", "events": "sink-events"}
    with secured() as broker, Collector() as collector:
        kafka = Backend(broker.cluster)
        for sink in sinks.values():
            kafka.topic(partitions=2, name=sink)
        with Proxy(
            directory,
            {PLAIN: broker.plain, SASL: broker.bootstrap},
            each={"telemetry": {"interval": "1s", "subscriptions": [{"name": "everything", "metrics": "*"}]}},
            receivers=receivers(files, collector, sinks["telemetry"]),
            events={
                "instance": KPROXY,
                "interval": "2s",
                "destinations": [
                    {"name": "lake", "type": "files", "directory": str(files)},
                    {"name": "topic", "type": "kafka", "topic": sinks["events"], "cluster": PLAIN},
                ],
            },
        ) as proxy:
            clients, connections = all_at_once(proxy, kafka, collector, directory)
            until(lambda: not proxy.get_json("/api/v1/connections")["connections"], "no connection is left")
            until(lambda: telemetry.delivered(proxy, receivers(files, collector, "")), "every receiver has delivered")
            opened = proxy.metric("kproxy_connections_opened_total")
            proxy.stop()
        topics = [f"kafka:{broker.plain}/{sink}" for sink in sinks.values()]
        inputs = {"files": [f"files:{files}"], "topics": topics, "both": [f"files:{files}", *topics]}
        principals = {client: broker.principals(client) for client in CLUSTER}
        yield Written(inputs, collector.taken, clients, connections, opened, events(files), principals)


def receivers(files: Path, collector: Collector, sink: str) -> Shown:
    """Return the settings of those that the job reads, and of the one that counts beside it."""
    return [
        {"name": "files", "type": "files", "directory": str(files), "constant": CONSTANT},
        {"name": "topic", "type": "kafka", "topic": sink, "cluster": PLAIN, "constant": CONSTANT},
        {"name": "otlp", "type": "otlp", "url": collector.url},
    ]


def all_at_once(proxy: Proxy, kafka: Backend, collector: Collector, directory: Path) -> tuple[Shown, Shown]:
    """Run the clients until each has pushed; return the clients and connections that kproxy shows then.

    Java's client is closed and says that it pushes for the last time; the others are killed.
    """
    topic = kafka.topic()
    sides = {name: Side(proxy, name, kafka, directory) for name in (PLAIN, SASL)}
    commands = {
        JAVA: telemetry.java_producer(sides[PLAIN].bootstrap, directory, JAVA, topic, classpath=java_4_4()),
        LIBRDKAFKA: telemetry.librdkafka_producer(sides[SASL].bootstrap, LIBRDKAFKA, topic, others=ALICE),
        FRANZ_GO: telemetry.franz_go_client(sides[PLAIN].bootstrap, FRANZ_GO, topic),
    }
    with ExitStack() as running:
        clients = {
            name: running.enter_context(sides[CLUSTER[name]].running(command)) for name, command in commands.items()
        }
        until(lambda: all(pushing(clients[name], name, collector) for name in CLUSTER), "pushes of all", 120)
        shown = until(lambda: at_one_moment(proxy), "clients and their connections at one moment")
        clients[JAVA].process.terminate()
        clients[JAVA].process.wait(60)
    return shown


def pushing(client: Running, client_id: str, collector: Collector) -> bool:
    assert client.process.poll() is None, client.output[-3000:]
    return len(telemetry.of(client_id, collector.pushed)) >= PUSHES


def at_one_moment(proxy: Proxy) -> tuple[Shown, Shown] | None:
    """Return clients and connections; None when a connection came or went in between, or is not authenticated yet."""
    before, clients, after = (
        proxy.get_json(f"/api/v1/{what}?limit=1000")[what] for what in ("connections", "clients", "connections")
    )
    same = [one["id"] for one in before] == [one["id"] for one in after]
    return (clients, before) if same and len(clients) == len(CLUSTER) else None


def events(directory: Path) -> Shown:
    """Return all lines of the files of events, read without the pipeline."""
    files = sorted(directory.glob("events-*.json.gz"))
    return [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


@pytest.fixture(scope="module", params=["files", pytest.param("topics", marks=pytest.mark.long), "both"])
def output(
    request: pytest.FixtureRequest, written: Written, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Tables of the files, of the topics, and of both: in the third all is there twice."""
    place = tmp_path_factory.mktemp("tables")
    run.run(written.inputs[request.param], str(place), "available-now", "local[2]", print)
    return place


def rows(output: Path, table: tables.Table, *columns: str) -> Shown:
    """Return columns of a table, or all, read without Spark: a query of Spark's takes a second."""
    return list(DeltaTable(str(output / table.name)).to_pyarrow_table(columns=list(columns) or None).to_pylist())


def counted(output: Path, table: tables.Table, *columns: str) -> Counter[Row]:
    return Counter(tuple(row[name] for name in columns) for row in rows(output, table, *columns))


def points(resource: ResourceMetrics) -> Iterator[Row]:
    """Each data point as the table should have it."""
    instance = attributes_of(resource)["client_instance_id"]
    for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
        form = metric.WhichOneof("data")
        assert form in ("gauge", "sum"), f"{metric.name} is a {form}, which these clients have not pushed so far"
        temporality = {1: "delta", 2: "cumulative"}[metric.sum.aggregation_temporality] if form == "sum" else None
        for point in getattr(metric, form).data_points:
            labels = tuple(sorted((one.key, text(one.value)) for one in point.attributes))
            value = float(point.as_int if point.HasField("as_int") else point.as_double)
            start, at = time(point.start_time_unix_nano), time(point.time_unix_nano)
            finite = value if math.isfinite(value) else None
            yield instance, metric.name, metric.unit, form, temporality, start, at, finite, labels


def text(value: AnyValue) -> str:
    return str(getattr(value, value.WhichOneof("value") or "string_value"))


def time(nanoseconds: int) -> datetime | None:
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=nanoseconds // 1000) if nanoseconds else None


def test_points(output: Path, written: Written) -> None:
    """Each data point that a client pushed is there once, with its labels, its times and its value."""
    names = ("client_instance_id", "metric", "unit", "type", "temporality", "start", "time", "value")
    found = rows(output, tables.POINTS, *names, "labels")
    expected = Counter(point for resource in written.taken for point in points(resource))
    assert sum(expected.values()) > 100 * PUSHES
    assert Counter((*(row[name] for name in names), tuple(sorted(row["labels"]))) for row in found) == expected


def test_pushes(output: Path, written: Written) -> None:
    """As many as the collector got of each instance, with the client, its principal, and which kproxy wrote."""
    of_client = ("client_instance_id", "client_id", "software_name", "software_version", "address", "port")
    found = rows(output, tables.PUSHES)
    assert {(row["proxy"], *row["constant"]) for row in found} == {(KPROXY, *CONSTANT.items())}
    assert Counter((*(row[name] for name in of_client), row["cluster"], row["principal"]) for row in found) == Counter(
        (*pusher(said), CLUSTER[said["client_id"]], PRINCIPAL[said["client_id"]])
        for said in map(attributes_of, written.taken)
    )


def pusher(said: Mapping[str, str]) -> Row:
    """Return the client of what the collector got."""
    software = (said["client_software_name"], said["client_software_version"])
    address = (said["client_source_address"], int(said["client_source_port"]))
    return (said["client_instance_id"], said["client_id"], *software, *address)


def test_clients(output: Path, written: Written) -> None:
    """The table is the inventory of /api/v1/clients, and the principals are those in the broker's log."""
    same = ("cluster", "client_id", "software_name", "software_version", "principal", "rebootstrap", "kip_1242")
    shown = Counter((*(one[name] for name in same), one["host"]) for one in written.clients)
    assert counted(output, tables.CLIENTS, *same, "address") == shown
    found = {row["client_id"]: row for row in rows(output, tables.CLIENTS)}
    assert {name: row["metadata_version"] for name, row in found.items()} == highest_metadata(written.events)
    assert {name: row["principal"] for name, row in found.items()} == PRINCIPAL
    assert {name: {row["principal"] or "User:ANONYMOUS"} for name, row in found.items()} == written.principals
    assert {name: row["kip_1242"] for name, row in found.items()} == KIP_1242
    assert {(row["kip_714"], row["kip_1102"]) for row in found.values()} == {(True, True)}
    assert all(found[one["client_id"]]["first_seen"] <= datetime.fromisoformat(one["since"]) for one in written.clients)


def highest_metadata(events: Shown) -> dict[str, int]:
    """Return the highest version of Metadata on any connection of each client.

    The inventory knows open connections only, and librdkafka may have closed the one on which it asked.
    """
    highest: dict[str, int] = {}
    for one in events:
        if one["event"] == "client_disconnected" and one["metadata_version"] is not None:
            highest[one["client_id"]] = max(one["metadata_version"], highest.get(one["client_id"], 0))
    return highest


def test_instances(output: Path, written: Written) -> None:
    """One for each client; Java's said that it was closed."""
    instances = {(one["client_id"], one["client_instance_id"]) for one in map(attributes_of, written.taken)}
    expected = Counter((*each, PRINCIPAL[each[0]], each[0] == JAVA) for each in instances)
    assert len(expected) == len(CLUSTER)
    assert counted(output, tables.INSTANCES, "client_id", "client_instance_id", "principal", "terminated") == expected


def test_connections(output: Path, written: Written) -> None:
    """As many as kproxy counted, all of them ended; those that /api/v1/connections showed are there as they were."""
    every = rows(output, tables.CONNECTIONS)
    found = {row["connection"]: row for row in every}
    assert len(every) == len(found) == written.opened
    assert all(row["ended"] for row in every)
    assert len(written.connections) > len(CLUSTER)
    same = ("cluster", "node", "client_id", "principal", "software_name", "software_version")
    for shown in written.connections:
        row = found[shown["id"]]
        assert {name: row[name] for name in same} == {name: shown[name] for name in same}
        assert f"{row['address']}:{row['port']}" == shown["client"]
        assert (row["proxy"], row["broker"]) == (KPROXY, shown["upstream"])
        assert row["since"] == datetime.fromisoformat(shown["since"])
        assert all(row[name] >= shown[name] for name in COUNTED)


def test_traffic(output: Path, written: Written) -> None:
    """What passed by client is the sum of the last counters of its connections."""
    last, found = (Counter[tuple[str, str, str]]() for _ in range(2))
    for one in (one for one in written.events if one["event"] == "client_disconnected"):
        last.update({(one["cluster"], one["client_id"], name): one[name] for name in COUNTED})
    for row in rows(output, tables.TRAFFIC):
        found.update({(row["cluster"], row["client_id"], name): row[name] for name in COUNTED})
    assert len(last) == len(CLUSTER) * len(COUNTED)
    assert found == last


def test_nothing_else(output: Path, written: Written, request: pytest.FixtureRequest) -> None:
    """All that was written is read; each event is in `events` as often as it was given."""
    times = 2 if request.node.callspec.params["output"] == "both" else 1
    assert rows(output, tables.QUARANTINE) == []
    given = [json.dumps(one, sort_keys=True) for one in written.events]
    found = [json.dumps(json.loads(row["json"]), sort_keys=True) for row in rows(output, tables.EVENTS, "json")]
    assert Counter(found) == Counter(given * times)
