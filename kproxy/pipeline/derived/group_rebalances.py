"""Rebalances of hosted groups, from their transitions: from the first one that is not stable to the next stable one."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.derived import hours
from kproxy.pipeline.derived.details import with_details

_EVENT: Final = "event = 'group_transition'"
_GROUP: Final = ("proxy", "cluster", "group")
_KEYS: Final = ("date", *_GROUP, "began")
_AT_REST: Final = ("Stable", "Empty", "Dead")
_BACK: Final = timedelta(days=1)
"""How long before new transitions a rebalance that they end may have begun."""


def write(output: Output, details: DataFrame) -> None:
    """Make the rebalances anew that new transitions are of."""
    new = details.where(_EVENT)
    touched = hours.starts(new, "at", "hour")
    if not touched:
        return
    begin = touched[0] - _BACK
    events = output.read(tables.EVENTS).where(f"{_EVENT} AND date >= DATE'{begin.date()}' AND at >= {hours.sql(begin)}")
    same = F.broadcast(new.select(*_GROUP).distinct())
    known = with_details(events).join(same, list(_GROUP), "left_semi").distinct()
    output.merge(tables.GROUP_REBALANCES, _rebalances(known), _KEYS, {})


def _rebalances(transitions: DataFrame) -> DataFrame:
    in_order = Window.partitionBy(*_GROUP).orderBy("at", "generation")
    begins = ~F.col("state").isin(*_AT_REST) & F.col("previous_state").isin(*_AT_REST)
    numbered = transitions.withColumn("number", F.sum(F.when(begins, 1).otherwise(0)).over(in_order)).where(
        "number > 0"
    )
    first = Window.partitionBy(*_GROUP, "number").orderBy("at", "generation")
    # What a group does at rest, as Stable to Empty, is of no rebalance.
    rest_before = F.sum(F.when(F.col("state").isin(*_AT_REST), 1).otherwise(0)).over(
        first.rowsBetween(Window.unboundedPreceding, -1)
    )
    within = numbered.withColumn("rest_before", F.coalesce(rest_before, F.lit(0))).where("rest_before = 0")
    return _row(within)


def _row(within: DataFrame) -> DataFrame:
    rests = F.col("state").isin(*_AT_REST)
    waits = F.size("waited_for") > 0
    order = F.struct("at", "generation")  # a member that leaves alone makes two transitions within a millisecond
    grouped = within.groupBy(*_GROUP, "number").agg(
        F.min("at").alias("began"),
        F.max(F.when(rests, F.col("at"))).alias("ended"),
        F.max(F.when(rests, F.col("generation"))).alias("generation"),
        F.min_by("cause", order).alias("cause"),
        F.min_by("client_id", order).alias("client_id"),
        F.max_by("members", order).alias("members"),
        F.array_distinct(F.flatten(F.collect_list("waited_for"))).alias("waited_for"),
        F.max_by(F.element_at("waited_for", -1), F.when(waits, order)).alias("late"),
    )
    made = {
        "date": F.to_date("began"),
        "seconds": F.col("ended").cast("double") - F.col("began").cast("double"),
    }
    return grouped.withColumns(made).select(*tables.GROUP_REBALANCES.names)
