"""kproxy.pipeline.derived.hours: which hours rows concern, whatever their times are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kproxy.pipeline.derived import hours

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_times_of_any_year(spark: SparkSession) -> None:
    """Spark has times that Python has not, and whoever writes to an input may name one: the others have their hours."""
    times = ("2026-09-22T10:20:00Z", "2026-09-22T10:50:00Z", "+20000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "soon")
    rows = spark.createDataFrame([(time,) for time in times], "at string").selectExpr("try_to_timestamp(at) AS at")
    assert hours.starts(rows, "at", "hour") == [datetime(2026, 9, 22, 10, tzinfo=UTC)]
