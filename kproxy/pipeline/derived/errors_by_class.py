"""Errors by hour, client and class (KIP-1050), from the events of errors."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Made, Output
from kproxy.pipeline.derived import hours
from kproxy.pipeline.derived.details import with_details

_EVENT: Final = "event = 'error_answered'"
_COUNTED: Final = ("errors", "first_at", "last_at")
_BY: Final = tuple(name for name in tables.ERRORS_BY_CLASS.names if name not in {"date", *_COUNTED})


def write(output: Output, details: DataFrame) -> None:
    """Make the hours anew that new errors are in."""
    touched = hours.starts(details.where(_EVENT), "at", "hour")
    if not touched:
        return
    where = f"{hours.on_days(touched)} AND {hours.is_one_of('hour', touched)}"
    events = output.read(tables.EVENTS).where(f"{hours.on_days(touched)} AND {_EVENT}")
    made = Made(tables.EVENTS, ("date", *_BY), "errors")
    output.renew(tables.ERRORS_BY_CLASS, _errors(with_details(events)).where(where), where, made)


def _errors(details: DataFrame) -> DataFrame:
    # A topic may hold an event twice, after a lost answer.
    once = details.distinct().withColumn("hour", F.date_trunc("hour", "at"))
    every = F.try_sum(F.try_add(F.coalesce("left_out", F.lit(0)), F.lit(1)))
    grouped = once.groupBy(*_BY).agg(
        F.coalesce(every, F.count("*")).alias("errors"),
        F.min("at").alias("first_at"),
        F.max("at").alias("last_at"),
    )
    return grouped.withColumn("date", F.to_date("hour")).select(*tables.ERRORS_BY_CLASS.names)
