"""From pushes to the rows of the tables `points` and `pushes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from kproxy.pipeline import tables

_IDENTITY: Final = ("client_instance_id", "received_at", "push")
_FINITE: Final = "if(abs({0}) <= 1.7976931348623157e308D, {0}, null)"
"""In Spark NaN is larger than any number."""
_RENAMED: Final = {
    "client_software_name": "software_name",
    "client_software_version": "software_version",
    "client_source_address": "address",
    "client_source_port": "port",
}


def fresh(pushes: DataFrame, written: DataFrame) -> DataFrame:
    """Return the pushes without repeated ones: of those of this batch one each, and none that is written already.

    Only the places of the repeated ones are sent around, which are few; the points stay where they are.
    """
    keys = pushes.select(*_IDENTITY, "origin", "position")
    bounds = keys.agg(F.unix_micros(F.min("received_at")), F.unix_micros(F.max("received_at"))).first()
    if bounds is None or bounds[0] is None:
        return pushes
    first = F.row_number().over(Window.partitionBy(*_IDENTITY).orderBy("origin", "position"))
    again = keys.withColumn("n", first).where("n > 1").select("origin", "position", "push")
    first_at, last_at = (F.timestamp_micros(F.lit(bound)) for bound in bounds)
    near = written.where(F.col("date").between(F.to_date(first_at), F.to_date(last_at)))
    near = near.where(F.col("received_at").between(first_at, last_at)).select(*_IDENTITY)
    before = keys.join(near, list(_IDENTITY), "left_semi").select("origin", "position", "push")
    repeated = again.union(before).distinct()
    return pushes.join(F.broadcast(repeated), ["origin", "position", "push"], "left_anti")


def rows(pushes: DataFrame) -> DataFrame:
    """The rows of `tables.POINTS`."""
    each = pushes.withColumnsRenamed(_RENAMED).withColumn("point", F.explode("metrics"))
    time = F.coalesce(F.expr("timestamp_micros(point.unix_nano div 1000)"), "received_at")
    seconds = F.expr("(cast(point.unix_nano as double) - point.start_unix_nano) / 1e9")
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
        "rate": F.when(is_delta, F.expr(_FINITE.format("point.value")) / seconds),
    }
    of_push = each.columns
    made |= {name: F.col(f"point.{name}") for name in tables.POINTS.names if name not in {*made, *of_push}}
    return _selected(each, tables.POINTS, made)


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
    return _selected(renamed, tables.PUSHES, made)


def _selected(source: DataFrame, table: tables.Table, made: Mapping[str, Column]) -> DataFrame:
    """Return the columns of a table: those that are made, and the others as the source has them."""
    return source.select(*(made[name].alias(name) if name in made else name for name in table.names))
