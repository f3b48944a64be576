"""kproxy.pipeline.derived: what follows from pushes is what an independent count gives."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.derived.job import Derivation
from kproxy.pipeline.derived.rollups import GROWTH, NOT_POSITIVE
from kproxy.pipeline.ingest import job
from kproxy.pipeline.ingest.inputs import FilesInput
from tests.pipeline.written import file, push

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    from kproxy.telemetry.payload import Push

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
