"""What the parts of a report share: how one is asked for, and the forms that answers have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from kproxy.pipeline.findings import sql
from kproxy.pipeline.findings.queries import Value
from kproxy.pipeline.report.timeline import HOUR, Timeline

Row = Mapping[str, Any]
T = TypeVar("T")
SERIES: Final = 6
"""Series in a chart; more colours cannot be told apart."""
ROWS: Final = 10
"""Rows in a table of the page, and in its part of the JSON."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The time that is asked about, and up to when there is data."""

    fine: Timeline
    hourly: Timeline
    last_event: datetime | None
    last_push: datetime | None

    @property
    def values(self) -> Mapping[str, Value]:
        """The parameters of all queries."""
        return {
            "since": self.fine.since,
            "until": self.fine.until,
            "step": self.fine.step,
            "hour_step": self.hourly.step,
            "series": SERIES,
            "rows": ROWS,
        }


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """A query in Spark SQL over the tables by their names, and what its rows are made into."""

    query: str
    make: Callable[[Sequence[Row], Scope], T]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why there is no answer."""

    reason: str


@dataclass(frozen=True, slots=True)
class Series:
    """A value for each bucket; None where there is no data."""

    name: str
    values: tuple[float | None, ...]
    rest: bool = False
    """It stands for all that have no series of their own."""


@dataclass(frozen=True, slots=True)
class OverTime:
    """Values by bucket."""

    step: int
    """Seconds."""
    starts: tuple[datetime, ...]
    series: tuple[Series, ...]

    @property
    def empty(self) -> bool:
        """True when there is no value but zero."""
        return not any(value for series in self.series for value in series.values)


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """The first rows of a table, and how many it has in all."""

    rows: tuple[T, ...]
    total: int

    @property
    def more(self) -> int:
        """How many are left out."""
        return self.total - len(self.rows)


def listing(make: Callable[..., T]) -> Callable[[Sequence[Row], Scope], Listing[T]]:
    """Return what makes a `Listing` of rows whose column `total` says how many there are."""

    def made(rows: Sequence[Row], _: Scope) -> Listing[T]:
        total = int(rows[0]["total"]) if rows else 0
        return Listing(
            tuple(make(**{key: value for key, value in row.items() if key != "total"}) for row in rows), total
        )

    return made


def bucket(time: str, step: str = ":step") -> str:
    """Return the number of a time's bucket, as `Timeline.numbers` has it."""
    return f"unix_seconds({time}) div {step}"


def rollup(step: int) -> tuple[str, str, str]:
    """Return the rollup whose rows buckets of `step` seconds are made of: name, time, and condition of the window."""
    if step >= HOUR:
        return "rollup_1h", "hour", sql.within("hour", "HOUR")
    return "rollup_1m", "minute", sql.within("minute", "MINUTE")


TOP_SERIES: Final = """ranked AS (
  SELECT *, sum(amount) OVER (PARTITION BY name) AS whole FROM counted
), placed AS (
  SELECT *, dense_rank() OVER (ORDER BY whole DESC, name) AS place FROM ranked
), numbered AS (
  SELECT *, max(place) OVER () AS names FROM placed
)
SELECT bucket, least(place, :series + 1) AS place, IF(place <= :series, name, NULL) AS name,
  CAST(sum(amount) AS double) AS amount, any_value(names) AS names
FROM numbered GROUP BY ALL"""
"""Of `counted`, with `bucket`, `name` and `amount`: the largest series, and the sum of the rest."""


def stacked(rows: Iterable[Row], timeline: Timeline) -> OverTime:
    """Return what `TOP_SERIES` gave, the largest series first; where there is no row there is nothing: 0."""
    by_place: dict[int, list[Row]] = {}
    for row in rows:
        by_place.setdefault(row["place"], []).append(row)
    series = tuple(_series(by_place[place], timeline) for place in sorted(by_place))
    return OverTime(timeline.step, timeline.starts, series)


def _series(rows: Sequence[Row], timeline: Timeline) -> Series:
    amounts = {row["bucket"]: row["amount"] for row in rows}
    rest = rows[0]["place"] > SERIES
    name = f"{rows[0]['names'] - SERIES:,} others" if rest else rows[0]["name"]
    return Series(name, tuple(amounts.get(number, 0.0) for number in timeline.numbers), rest)
