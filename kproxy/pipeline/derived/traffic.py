"""What passed by client, node and hour, from the counters in the events of connections."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Made, Output
from kproxy.pipeline.derived import hours
from kproxy.pipeline.derived.details import with_details

_COUNTED: Final = ("requests", "responses", "bytes_in", "bytes_out")
_CLIENT: Final = tuple(name for name in tables.TRAFFIC.names if name not in {"date", "hour", "connections", *_COUNTED})
_CONNECTION: Final = ("proxy", "connection", "since")
_BACK: Final = timedelta(days=1)
"""How far back the look before is searched; kproxy looks at its connections every few minutes."""


def write(output: Output, details: DataFrame) -> None:
    """Make the hours anew that new events are in, and the hours after, whose first looks may follow on them."""
    new = hours.starts(details.where("requests IS NOT NULL"), "at", "hour")
    if not new:
        return
    touched = sorted({*new, *(hour + timedelta(hours=1) for hour in new)})
    begin, end = touched[0] - _BACK, touched[-1] + timedelta(hours=1)
    events = output.read(tables.EVENTS).where(f"date BETWEEN DATE'{begin.date()}' AND DATE'{end.date()}'")
    events = events.where("event IN ('client_present', 'client_disconnected')")
    looks = with_details(events).where(f"at >= {hours.sql(begin)} AND at < {hours.sql(end)}")
    where = f"{hours.on_days(touched)} AND {hours.is_one_of('hour', touched)}"
    rows = _traffic(looks, begin_micros=int(begin.timestamp() * 1e6)).where(where)
    output.renew(tables.TRAFFIC, rows, where, Made(tables.EVENTS, ("date", "hour", *_CLIENT), "connections"))


def _traffic(looks: DataFrame, begin_micros: int) -> DataFrame:
    """A row for each client, node and hour; a connection older than all its looks counts from the first one on."""
    before = Window.partitionBy(*_CONNECTION).orderBy("at", "requests")
    since = F.unix_micros(F.try_to_timestamp("since"))
    passed = {
        name: F.try_subtract(name, F.coalesce(F.lag(name).over(before), F.when(since >= begin_micros, 0), F.col(name)))
        for name in _COUNTED
    }
    rows = looks.withColumns(passed).withColumn("hour", F.date_trunc("hour", "at"))
    grouped = rows.groupBy("hour", *_CLIENT).agg(
        F.count_distinct(*_CONNECTION).alias("connections"), *(F.try_sum(name).alias(name) for name in _COUNTED)
    )
    return grouped.withColumn("date", F.to_date("hour")).select(*tables.TRAFFIC.names)
