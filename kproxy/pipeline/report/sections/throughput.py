"""How much passes: bytes and requests by kproxy's counters, records by those of the producers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kproxy.pipeline.findings import sql
from kproxy.pipeline.findings.rules.producers import SENT
from kproxy.pipeline.report.sections.shapes import (
    Listing,
    OverTime,
    Question,
    Row,
    Scope,
    Series,
    bucket,
    listing,
    rollup,
)
from kproxy.pipeline.report.timeline import Timeline

_COUNTED: Final = {"bytes_in": "from clients", "bytes_out": "to clients", "requests": "requests"}


@dataclass(frozen=True, slots=True)
class Passed:
    """What passed through kproxy, by second and in all."""

    bytes: OverTime
    requests: OverTime
    bytes_in: int
    bytes_out: int
    requests_in: int


@dataclass(frozen=True, slots=True)
class Busy:
    """A client and what passed between it and kproxy."""

    cluster: str | None
    client_id: str | None
    requests: int
    bytes_in: int
    bytes_out: int


def _rates(timeline: Timeline, last: datetime | None, amounts: dict[int, float]) -> tuple[float | None, ...]:
    """By second, for each bucket."""
    every = zip(timeline.numbers, timeline.covered(last), strict=True)
    return tuple(None if seconds is None else amounts.get(number, 0) / seconds for number, seconds in every)


def _passed(rows: Sequence[Row], scope: Scope) -> Passed:
    totals = {name: sum(row[name] or 0 for row in rows) for name in _COUNTED}
    line = {
        name: Series(title, _rates(scope.hourly, scope.last_event, {row["bucket"]: row[name] or 0 for row in rows}))
        for name, title in _COUNTED.items()
    }
    step, starts = scope.hourly.step, scope.hourly.starts
    both = OverTime(step, starts, (line["bytes_in"], line["bytes_out"]))
    return Passed(both, OverTime(step, starts, (line["requests"],)), *totals.values())


PASSED: Final[Question[Passed]] = Question(
    f"""
SELECT {bucket("hour", ":hour_step")} AS bucket, sum(bytes_in) AS bytes_in, sum(bytes_out) AS bytes_out,
  sum(requests) AS requests
FROM traffic WHERE {sql.within("hour", "HOUR")} GROUP BY ALL
""",
    _passed,
)
BUSIEST: Final[Question[Listing[Busy]]] = Question(
    f"""
WITH grouped AS (
  SELECT cluster, client_id, coalesce(sum(requests), 0) AS requests, coalesce(sum(bytes_in), 0) AS bytes_in,
    coalesce(sum(bytes_out), 0) AS bytes_out
  FROM traffic WHERE {sql.within("hour", "HOUR")} GROUP BY cluster, client_id
)
SELECT *, count(*) OVER () AS total FROM grouped
ORDER BY bytes_in + bytes_out DESC, requests DESC, cluster, client_id LIMIT :rows
""",
    listing(Busy),
)


def records(step: int) -> Question[OverTime]:
    """Ask for the records that producers sent, by second, in buckets of `step` seconds."""
    table, time, condition = rollup(step)
    query = f"SELECT {bucket(time)} AS bucket, sum(delta) AS sent FROM {table} WHERE {condition} AND metric = '{SENT}'"
    return Question(f"{query} GROUP BY ALL", _records)


def _records(rows: Sequence[Row], scope: Scope) -> OverTime:
    sent = {row["bucket"]: row["sent"] or 0 for row in rows}
    values = _rates(scope.fine, scope.last_push, sent)
    return OverTime(scope.fine.step, scope.fine.starts, (Series("records sent", values),) if sent else ())
