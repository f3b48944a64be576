"""Metrics by minute and by hour, with sketches from which quantiles of any time can be had.

The sketch counts values by logarithmic bucket, as DDSketch does: bucket b has the values of (g^(b-1), g^b], with
g = 1.02. So 2·g^b/(g+1) is within 1 % of each of them, and sketches add up.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from math import log
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Made, Output
from kproxy.pipeline.derived import hours

GROWTH: Final = 1.02
NOT_POSITIVE: Final = -(2**31)
"""The bucket of zero and whatever is below."""
_MANY: Final = 60
"""Of more minutes whole hours are made anew: a condition that names each is slow."""
_KEY: Final = ("cluster", "client_id", "software_name", "software_version", "metric", "type")
_LG_K: Final = 10
"""A sketch of instances takes 1 KiB at most, and counts to 3 %."""


def write(output: Output, points: DataFrame) -> None:
    """Make the minutes and hours anew that new points are in."""
    minutes = hours.starts(points, "time", "minute")
    if not minutes:
        return
    touched = sorted({minute.replace(minute=0) for minute in minutes})
    if len(minutes) > _MANY:
        inside = f"date_trunc('HOUR', {{0}}) IN ({', '.join(map(hours.sql, touched))})"
        where = inside.format("minute")
    else:
        inside = f"date_trunc('MINUTE', {{0}}) IN ({', '.join(map(hours.sql, minutes))})"
        where = hours.is_one_of("minute", minutes)
    known = output.read(tables.POINTS).where(_between("time", minutes[0], minutes[-1])).where(inside.format("time"))
    of_points = Made(tables.POINTS, ("date", "minute", *_KEY), "points")
    output.renew(tables.ROLLUP_1M, _by_minute(known), f"{hours.on_days(minutes)} AND {where}", of_points)
    made = output.read(tables.ROLLUP_1M).where(hours.on_days(touched))
    made = made.where(f"date_trunc('HOUR', minute) IN ({', '.join(map(hours.sql, touched))})")
    is_hour = f"{hours.on_days(touched)} AND {hours.is_one_of('hour', touched)}"
    output.renew(tables.ROLLUP_1H, _by_hour(made), is_hour, Made(tables.ROLLUP_1M, ("date", "hour", *_KEY), "points"))


def _between(column: str, first: datetime, last: datetime) -> str:
    """A range, by which Delta passes over files."""
    begin, end = first.replace(minute=0), last.replace(minute=0) + timedelta(hours=1)
    return f"{column} >= {hours.sql(begin)} AND {column} < {hours.sql(end)}"


def _by_minute(points: DataFrame) -> DataFrame:
    """A row for each metric of a client and minute."""
    is_delta = (F.col("type") == "sum") & (F.col("temporality") == "delta")
    made = {
        "minute": F.date_trunc("minute", "time"),
        "bucket": _bucket(F.col("value")),
        "sum": F.coalesce("value", "sum"),
        "count": F.coalesce("count", F.when(F.col("value").isNotNull(), 1)),
        "delta": F.when(is_delta, F.col("value")),
    }
    by_bucket = points.withColumns(made).groupBy("minute", *_KEY, "bucket")
    counted = by_bucket.agg(
        F.count("*").alias("points"),
        F.hll_sketch_agg("client_instance_id", _LG_K).alias("instances"),
        *(F.sum(name).alias(name) for name in ("delta", "sum")),
        _count(),
        F.min("value").alias("min"),
        F.max("value").alias("max"),
    )
    return _added(counted.withColumn("values", F.col("points")), tables.ROLLUP_1M, "minute")


def _count() -> Column:
    """How many values parts have; null when these are more than a bigint holds, also where one part has lost count."""
    lost = F.bool_or(F.col("sum").isNotNull() & F.col("count").isNull())
    return F.when(~lost, F.try_sum("count")).alias("count")


def _bucket(value: Column) -> Column:
    """The bucket of a value; null for null."""
    positive = F.ceil(F.ln(value) / log(GROWTH)).cast("int")
    return F.when(value > 0, positive).when(value <= 0, F.lit(NOT_POSITIVE))


def _by_hour(minutes: DataFrame) -> DataFrame:
    """A row for each metric of a client and hour, of those of its minutes."""
    hourly = minutes.withColumn("hour", F.date_trunc("hour", "minute"))
    each = hourly.select("hour", *_KEY, *_SUMS, "instances", "min", "max", F.lit(None).cast("int").alias("bucket"))
    nothing = {name: F.lit(None).cast(kind) for name, kind in _SUMS.items()}
    bucket = hourly.select("hour", *_KEY, F.explode("sketch").alias("bucket", "values"))
    buckets = bucket.groupBy("hour", *_KEY, "bucket").agg(F.sum("values").alias("values")).withColumns(nothing)
    every = each.withColumn("values", F.lit(None).cast("bigint")).unionByName(buckets, allowMissingColumns=True)
    return _added(every, tables.ROLLUP_1H, "hour")


_SUMS: Final = {"points": "bigint", "delta": "double", "sum": "double", "count": "bigint"}


def _added(parts: DataFrame, table: tables.Table, unit: str) -> DataFrame:
    """Add up parts, each of which has the number of `values` in its `bucket`, if it has one."""
    entry = F.when(F.col("bucket").isNotNull(), F.struct("bucket", "values"))
    grouped = parts.groupBy(unit, *_KEY).agg(
        *(F.sum(name).alias(name) for name in ("points", "delta", "sum")),
        _count(),
        F.hll_union_agg("instances").alias("instances"),
        F.min("min").alias("min"),
        F.max("max").alias("max"),
        F.map_from_entries(F.collect_list(entry)).alias("sketch"),
    )
    return grouped.withColumn("date", F.to_date(unit)).select(*table.names)
