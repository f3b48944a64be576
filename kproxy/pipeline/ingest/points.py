"""From pushes to the rows of the tables `points` and `pushes`."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from kproxy.pipeline import tables
from kproxy.pipeline.delta import selected

_IDENTITY: Final = ("client_instance_id", "received_at", "push")
_PLACE: Final = ("origin", "position", "push")
_FINITE: Final = "if(abs({0}) <= 1.7976931348623157e308D, {0}, null)"
"""In Spark NaN is larger than any number."""
_RENAMED: Final = {
    "client_software_name": "software_name",
    "client_software_version": "software_version",
    "client_source_address": "address",
    "client_source_port": "port",
}


def fresh(pushes: DataFrame, written: DataFrame, first: int, last: int) -> DataFrame:
    """Return the pushes without repeated ones: of those of this batch one each, and none that is written already.

    Only the places of the repeated ones are sent around, which are few; the points stay where they are. `first` and
    `last` are the bounds of `received_at`, in Unix microseconds.
    """
    keys = pushes.select(*_IDENTITY, "origin", "position")
    turn = F.row_number().over(Window.partitionBy(*_IDENTITY).orderBy("origin", "position"))
    again = keys.withColumn("turn", turn).where("turn > 1").select(*_PLACE)
    first_at, last_at = (F.timestamp_micros(F.lit(bound)) for bound in (first, last))
    near = written.where(F.col("date").between(F.to_date(first_at), F.to_date(last_at)))
    near = near.where(F.col("received_at").between(first_at, last_at)).select(*_IDENTITY)
    before = keys.join(near, list(_IDENTITY), "left_semi").select(*_PLACE)
    repeated = again.union(before).distinct()
    found = repeated.collect()  # looked for once, and not by each table that is written
    if not found:
        return pushes
    known = pushes.sparkSession.createDataFrame(found, repeated.schema)
    return pushes.join(F.broadcast(known), list(_PLACE), "left_anti")


def rows(pushes: DataFrame) -> DataFrame:
    """The rows of `tables.POINTS`."""
    each = pushes.withColumnsRenamed(_RENAMED).withColumn("point", F.explode("metrics"))
    time = F.coalesce(F.expr("timestamp_micros(point.unix_nano div 1000)"), "received_at")
    # Two times may differ as longs and be the same as doubles, so they are subtracted as longs.
    seconds = F.expr("try_subtract(point.unix_nano, point.start_unix_nano) / 1e9")
    is_delta = F.expr("point.kind = 'sum' and point.temporality = 'delta' and point.unix_nano > point.start_unix_nano")
    made = {
        "date": F.to_date("received_at"),
        "time": time,
        "start": F.expr("timestamp_micros(point.start_unix_nano div 1000)"),
        "metric": F.col("point.name"),
        "type": F.col("point.kind"),
        "labels": F.col("point.attributes"),
        "value": F.expr(_FINITE.format("point.value")),
        "sum": F.expr(_FINITE.format("point.sum")),
        "rate": F.when(is_delta, F.try_divide(F.expr(_FINITE.format("point.value")), seconds)),
    }
    taken = {*made, *each.columns}
    made |= {name: F.col(f"point.{name}") for name in each.select("point.*").columns if name not in taken}
    return selected(each, tables.POINTS, made)


def pushes(fresh_ones: DataFrame) -> DataFrame:
    """The rows of `tables.PUSHES`."""
    renamed = fresh_ones.withColumnsRenamed(_RENAMED)
    made = {
        "date": F.to_date("received_at"),
        "start": F.expr("timestamp_micros(array_min(metrics.start_unix_nano) div 1000)"),
        "end": F.expr("timestamp_micros(array_max(metrics.unix_nano) div 1000)"),
        "points": F.expr("cast(size(metrics) as bigint)"),
        "clock_ahead": F.expr("array_max(metrics.unix_nano) / 1e9 - cast(received_at as double)"),
    }
    return selected(renamed, tables.PUSHES, made)
