"""kproxy.pipeline.derived: what follows from pushes is what an independent count gives."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.derived.job import Derivation
from kproxy.pipeline.derived.rollups import GROWTH, NOT_POSITIVE
from kproxy.pipeline.ingest import job
from kproxy.pipeline.ingest.inputs import FilesInput
from kproxy.pipeline.maintain import KEEP
from kproxy.telemetry.payload import Push
from tests.pipeline.written import BEGAN, file, payload, push

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

Key = tuple[str, str, int]
"""client.id, metric, the beginning of the minute or hour."""


def values(pushes: list[Push], unit: int) -> dict[Key, list[float]]:
    """All values by client, metric and `unit` of seconds, counted without the pipeline."""
    found: dict[Key, list[float]] = defaultdict(list)
    for each in pushes:
        for resource in MetricsData.FromString(each.payload).resource_metrics:
            for metric in resource.scope_metrics[0].metrics:
                for point in getattr(metric, metric.WhichOneof("data") or "gauge").data_points:
                    value = point.as_int if point.WhichOneof("value") == "as_int" else point.as_double
                    begin = point.time_unix_nano // 10**9 // unit * unit
                    found[each.info.client_id or "", metric.name, begin].append(float(value))
    return found


def quantile(sketch: dict[int, int], q: float) -> float:
    """As docs/pipeline.md says how to read a sketch."""
    left = q * (sum(sketch.values()) - 1)
    for bucket in sorted(sketch):
        left -= sketch[bucket]
        if left < 0:
            return 0.0 if bucket == NOT_POSITIVE else 2 * GROWTH**bucket / (GROWTH + 1)
    raise AssertionError("the quantile is within the values")


def check(row: Row, expected: list[float]) -> None:
    """A row of a rollup counts these values."""
    assert row["points"] == row["count"] == sum(row["sketch"].values()) == len(expected)
    assert math.isclose(row["sum"], sum(expected), rel_tol=1e-9, abs_tol=1e-6)
    assert (row["min"], row["max"]) == (min(expected), max(expected))
    for q in (0.0, 0.5, 0.9, 1.0):
        exact = sorted(expected)[int(q * (len(expected) - 1))]
        assert math.isclose(quantile(row["sketch"], q), max(exact, 0.0), rel_tol=0.0101)
    assert (row["delta"] is None) == (row["type"] == "gauge")


def test_rollups(spark: SparkSession, tmp_path: Path) -> None:
    """Each value is in its minute and its hour, also one that comes hours later than the others."""
    pushes = [push(client, turn) for turn in range(130) for client in range(9)]
    late = [each for each in pushes if each.info.client_instance_id.int == 4]
    output = Output(spark, str(tmp_path / "tables"))
    for some in ([each for each in pushes if each not in late], late):
        file(tmp_path / "in", some)
        assert job.Job(output, [FilesInput(str(tmp_path / "in"))]).start(None).awaitTermination(120)
        Derivation(output).run()
    for table, unit, seconds in ((tables.ROLLUP_1M, "minute", 60), (tables.ROLLUP_1H, "hour", 3600)):
        expected = values(pushes, seconds)
        shown = ("*", f"unix_seconds({unit}) AS begin", "hll_sketch_estimate(instances) AS clients")
        found = output.read(table).selectExpr(*shown).collect()
        assert {(row["client_id"], row["metric"], row["begin"]) for row in found} == expected.keys()
        for row in found:
            check(row, expected[row["client_id"], row["metric"], row["begin"]])
        # 9 clients share 7 client ids.
        assert {row["clients"] for row in found if row["client_id"] == "app-0"} == {2}
    instances = output.read(tables.INSTANCES).selectExpr("client_id", "first_seen < last_seen AS lives").collect()
    assert len(instances) == 9
    assert all(row["lives"] for row in instances)
    pushing = output.read(tables.CLIENTS).where("kip_714").select("client_id", "principal").collect()
    assert Counter(map(tuple, pushing)) == Counter({(each.info.client_id, each.info.principal) for each in pushes})


def test_counts_without_a_sum(spark: SparkSession, tmp_path: Path) -> None:
    """A client that counts as far as a bigint goes: its minute and hour have lost count, those of others have not."""
    output = Output(spark, str(tmp_path / "tables"))
    counts = {0: [2**63 - 1, 2**63 - 1], 1: [3]}
    hostile = [Push(push(1, 0).info, BEGAN + minute, _histogram(minute, each)) for minute, each in counts.items()]
    file(tmp_path / "in", [*hostile, push(2, 0)])
    assert job.Job(output, [FilesInput(str(tmp_path / "in"))]).start(None).awaitTermination(120)
    Derivation(output).run()
    for table, unit, expected in ((tables.ROLLUP_1M, "minute", [None, 3]), (tables.ROLLUP_1H, "hour", [None])):
        rows = output.read(table).where("metric = 'h'").orderBy(unit).collect()
        assert [row["count"] for row in rows] == expected
        assert sum(row["sum"] for row in rows) == 6.0
    others = output.read(tables.ROLLUP_1H).where("metric != 'h'").collect()
    assert {row["count"] for row in others} == {1}
    assert len(others) == 6


def _histogram(minute: int, counts: list[int]) -> bytes:
    data = MetricsData()
    metric = data.resource_metrics.add().scope_metrics.add().metrics.add(name="h")
    for count in counts:
        time = (BEGAN - BEGAN % 3600 + 60 * minute) * 10**9
        point = metric.histogram.data_points.add(count=count, sum=2.0, time_unix_nano=time)
        point.explicit_bounds.append(1.0)
        point.bucket_counts.extend([count, 0])
    encoded: bytes = data.SerializeToString()
    return encoded


def test_points_of_a_time_that_has_been_forgotten(spark: SparkSession, tmp_path: Path) -> None:
    """A client whose clock is far behind takes nothing away from what others had in those minutes and hours."""
    output = Output(spark, str(tmp_path / "tables"))
    pushes = [push(client, turn) for turn in range(4) for client in range(3)]
    file(tmp_path / "in", pushes)
    assert job.Job(output, [FilesInput(str(tmp_path / "in"))]).start(None).awaitTermination(120)
    Derivation(output).run()
    before = {table: shown(output, table) for table in (tables.ROLLUP_1M, tables.ROLLUP_1H)}
    assert all(before.values())
    for days in (40, 120):  # then the minutes have been forgotten, too
        later = BEGAN + days * 86_400
        for table in (tables.POINTS, tables.ROLLUP_1M):
            kept = timedelta(days=KEEP[table.name])
            output.delete_before(table, datetime.fromtimestamp(later, UTC).date() - kept)
        assert output.read(tables.POINTS).isEmpty()
        behind = push(3, days)
        file(tmp_path / "in", [Push(behind.info, later, payload(3, 1)), Push(pushes[0].info, later, payload(0, 1, 1))])
        assert job.Job(output, [FilesInput(str(tmp_path / "in"))]).start(None).awaitTermination(120)
        Derivation(output).run()
        left = shown(output, tables.ROLLUP_1H)
        assert left | before[tables.ROLLUP_1H] == left, "what others had, and of the same client what was more"
        assert {key[0] for key in left} == {"app-0", "app-1", "app-2", "app-3"}
        if days == 40:
            minutes = shown(output, tables.ROLLUP_1M)
            assert minutes | before[tables.ROLLUP_1M] == minutes


def shown(output: Output, table: tables.Table) -> dict[tuple[str, str, int], tuple[int, float]]:
    """The points and the sum of each row of a rollup, by client id, metric and beginning."""
    unit = "minute" if table is tables.ROLLUP_1M else "hour"
    found = output.read(table).selectExpr("*", f"unix_seconds({unit}) AS begin").collect()
    return {(row["client_id"], row["metric"], row["begin"]): (row["points"], row["sum"]) for row in found}
