"""docs/pipeline.md: its queries run in Spark SQL, and but for the sketches in DuckDB, with the same rows."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from deltalake import DeltaTable
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.observe.events import encode
from kproxy.pipeline import reference
from kproxy.pipeline.delta import Output
from kproxy.pipeline.derived.job import Derivation
from kproxy.pipeline.ingest import job
from kproxy.pipeline.ingest.inputs import FilesInput
from tests.pipeline.derived.test_of_events import BEGAN, EVENTS
from tests.pipeline.written import file, payload, push

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLACE = "/var/lib/kproxy-tables"
QUERIES = re.findall(r"```sql\n(.*?)```", (Path(__file__).parents[2] / reference.PAGE).read_text(), re.DOTALL)
_SPARKS_OWN = "LATERAL VIEW"


@pytest.fixture(scope="module")
def output(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Output:
    """Tables of a few clients, with something for each query."""
    directory = tmp_path_factory.mktemp("written")
    file(directory, [push(client, turn, _as_a_producer(client, turn)) for turn in range(4) for client in range(6)])
    lines = [encode(event, BEGAN + at, proxy, "main", 0).payload for at, proxy, event in EVENTS]
    (directory / "events.json").write_bytes(b"\n".join([*lines, b"nobody's"]))
    made = Output(spark, str(tmp_path_factory.mktemp("output")))
    assert job.Job(made, [FilesInput(str(directory))]).start(None).awaitTermination(120)
    Derivation(made).run()
    return made


def _as_a_producer(client: int, turn: int) -> bytes:
    data = MetricsData.FromString(payload(client, turn))
    metrics = data.resource_metrics[0].scope_metrics[0].metrics
    metrics[0].name = "org.apache.kafka.producer.request.latency.avg"
    metrics[1].name = "org.apache.kafka.producer.record.send.total"
    encoded: bytes = data.SerializeToString()
    return encoded


def test_there_are_queries() -> None:
    """Otherwise the tests below would try nothing."""
    assert len(QUERIES) >= 5


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: re.findall(r"tables/(\w+)", query)[0])
def test_a_query(output: Output, query: str) -> None:
    """It finds something in Spark SQL, and the same in DuckDB, which reads the tables by delta-rs."""
    rows = [tuple(row) for row in output.session.sql(query.replace(PLACE, output.place)).collect()]
    clocks = "clock_ahead" in query  # the clients of the test are right to half a second
    assert bool(rows) != clocks
    if _SPARKS_OWN in query:
        return
    connection = duckdb.connect()
    (name,) = set(re.findall(rf"{PLACE}/(\w+)", query))
    connection.register(name, DeltaTable(output.path(name)).to_pyarrow_dataset())
    found = connection.sql(re.sub(rf"delta\.`{PLACE}/(\w+)`", r"\1", query).replace("`", '"')).fetchall()
    assert _comparable(found) == _comparable(rows)


def _comparable(rows: list[tuple[object, ...]]) -> list[str]:
    """Rows as text, sorted; DuckDB's times have a zone, Spark's have none."""
    return sorted(repr([_without_zone(value) for value in row]) for row in rows)


def _without_zone(value: object) -> object:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value
