"""kproxy.pipeline.ingest.job: what is written by kproxy is in the tables, once."""

from __future__ import annotations

from collections import Counter
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.pipeline.ingest.inputs import FilesInput, TopicInput
from kproxy.telemetry.receivers.json_lines import lines
from kproxy.telemetry.receivers.kafka import records_with
from tests.pipeline.ingest.conftest import Run
from tests.pipeline.ingest.topic import Table, counted, created, produced
from tests.pipeline.written import CLUSTER, file, points, push


def who(table: Table, name: str) -> set[tuple[Any, ...]]:
    """What a table has of the kproxy that wrote, of whom the broker authenticated, and of what is constant."""
    rows = table(name).selectExpr("proxy", "principal", "map_entries(constant)").distinct().collect()
    return {(row[0], row[1], *sorted(map(tuple, row[2]))) for row in rows}


OF_ALL = {("kproxy-0", principal, ("env", 't"e,s:t'), ("rack", "r1")) for principal in (None, "User:alice")}


def test_files(tmp_path: Path, run: Run, table: Table) -> None:
    """What kproxy's writer wrote is there once, also when its files grow, and a push comes again in another file."""
    pushes = [push(client, turn) for turn in range(3) for client in range(10)]
    directory = tmp_path / "in"
    file(directory, pushes[:20])
    run(FilesInput(str(directory)))
    assert counted(table) == Counter(points(pushes[:20]))
    file(directory, [*pushes[15:], pushes[29]])
    (directory / ".telemetry-later.json.gz.part").write_bytes(b"\x1f\x8b")  # still being written
    run(FilesInput(str(directory)))
    assert counted(table) == Counter(points(pushes))
    assert table("pushes").count() == 30
    assert table("quarantine").count() == 0
    (row,) = table("points").where("metric like '%.1'").orderBy("time", "client_instance_id").limit(1).collect()
    assert (row["type"], row["temporality"], row["cluster"]) == ("sum", "delta", CLUSTER)
    assert row["rate"] == row["value"] / 30
    assert row["resource"] == {"client_rack": "r0"}
    assert who(table, "points") == who(table, "pushes") == OF_ALL


def test_a_topic(run: Run, table: Table, tmp_path: Path, kafka: str) -> None:
    """The same pushes from a topic of a real Kafka; those that are in files, too, are known by their times."""
    pushes = [push(client, turn) for turn in range(3) for client in range(10)]
    file(tmp_path / "in", pushes[:10])
    produced(kafka, "telemetry", pushes)
    run(FilesInput(str(tmp_path / "in")), TopicInput(kafka, "telemetry"))
    assert counted(table) == Counter(points(pushes))
    (row,) = table("quarantine").collect()
    assert row["reason"].startswith("not OTLP")
    assert bytes(row["raw"]) == b"nonsense"
    assert table("events").select("event").collect() == [("a_later_kind",)]
    assert who(table, "points") == who(table, "pushes") == OF_ALL


def test_fields_and_headers_of_others(tmp_path: Path, run: Run, table: Table, kafka: str) -> None:
    """Those of a later version of kproxy, and of whatever else adds headers: texts in `constant`, and no problem."""
    directory = tmp_path / "in"
    (line,) = [line for line in lines(push(1, 1), {"cluster": CLUSTER}) if line]
    later = b'{"number":1,"list":[1,{"a":"b"}],"nothing":null,"text":"},\\"resource\\":{",' + line[1:]
    behind = line[:-2] + b',"behind":1}\n'
    directory.mkdir()
    (directory / "later.json").write_bytes(later + behind)
    made = records_with({"env": "a"})(push(2, 1))
    headers: list[tuple[str, str | bytes | None]] = [
        *made.headers,
        ("trace", b"\xff1"),
        ("env", b"b"),
        ("none", None),
    ]
    created(kafka, "others")
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce("others", made.value, made.key, timestamp=made.timestamp, headers=headers)
    assert producer.flush(30) == 0
    run(FilesInput(str(directory)), TopicInput(kafka, "others"))
    found = {row["client_id"]: row["constant"] for row in table("pushes").collect()}
    assert found == {
        "app-1": {"number": "1", "list": '[1,{"a":"b"}]', "nothing": None, "text": '},"resource":{'},
        "app-2": {"trace": "\N{REPLACEMENT CHARACTER}1", "env": "b", "none": None},
    }
    assert table("quarantine").count() == 0


def test_times_that_are_the_same_as_doubles(tmp_path: Path, run: Run, table: Table) -> None:
    """A rate is by the nanoseconds between them; times without a difference that Spark can hold have none."""
    time_ = 1_790_000_000 * 10**9
    data = MetricsData()
    metric = data.resource_metrics.add().scope_metrics.add().metrics.add(name="m")
    metric.sum.aggregation_temporality = 1
    metric.sum.data_points.add(start_time_unix_nano=time_, time_unix_nano=time_ + 1, as_double=2.0)
    (line,) = [line for line in lines(push(1, 1, data.SerializeToString()), {}) if line]
    file(tmp_path / "in", [push(1, 2)])
    longest = line.replace(f'"start_unix_nano":{time_}'.encode(), b'"start_unix_nano":-9223372036854775807')
    (tmp_path / "in" / "others.json").write_bytes(line + longest)
    run(FilesInput(str(tmp_path / "in")))
    found = table("points").where("metric = 'm'").orderBy("start").select("rate").collect()
    assert [row["rate"] for row in found] == [None, pytest.approx(2e9)]
    assert table("pushes").count() == 3


def test_hostile_numbers(run: Run, table: Table, kafka: str) -> None:
    """Times at the ends of their range, and values that are no numbers: rows as any, and the job goes on."""
    data = MetricsData()
    scope = data.resource_metrics.add().scope_metrics.add()
    for time_, value in ((1, inf), ((1 << 63) - 1, nan), ((1 << 64) - 1, 1.5), (0, 2.5)):
        metric = scope.metrics.add(name="m")
        metric.sum.aggregation_temporality = 1
        point = metric.sum.data_points.add(start_time_unix_nano=(1 << 63) + 5, time_unix_nano=time_, as_double=value)
        point.attributes.add(key="topic").value.string_value = "t"
    produced(kafka, "hostile", [push(1, 1, data.SerializeToString())])
    run(TopicInput(kafka, "hostile"))
    found = table("points").selectExpr("year(time)", "start", "value", "rate").collect()
    assert sorted(map(tuple, found), key=str) == [
        (1970, None, None, None),
        (2026, None, 1.5, None),
        (2026, None, 2.5, None),
        (2262, None, None, None),
    ]
