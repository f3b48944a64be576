# This module is pure (no I/O, no clock).
"""Series of clients' metrics: a number for each client and point, in columns, so that a client costs little.

`Accumulator` changes them when clients push; each scrape of /metrics/clients reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final
from uuid import UUID

from kproxy.telemetry.receivers.labels import Kind
from kproxy.telemetry.receivers.otlp_points import Attributes, Distribution, Value


class Merge(Enum):
    """How gauges of clients with equal labels become one."""

    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"


_BY_LAST_WORD: Final = {
    "avg": Merge.MEAN,
    "mean": Merge.MEAN,
    "ratio": Merge.MEAN,
    "percent": Merge.MEAN,
    "max": Merge.MAX,
    "ago": Merge.MAX,
    "age": Merge.MAX,
    "min": Merge.MIN,
}


def merge_of(name: str) -> Merge:
    """Return the merge by the last word of a metric's name, as in Kafka's `latency.avg`, `records.lag.max`; or SUM."""
    return _BY_LAST_WORD.get(name.rpartition(".")[2], Merge.SUM)


@dataclass(slots=True, eq=False)
class Group:
    """The clients with equal labels; `departed` are the keys of what is kept of those that left."""

    labels: str
    sources: int = 0
    departed: set[tuple[Family, str]] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Source:
    """One client while its labels stay the same; `points` has the time of each point's last push.

    `totals` has (start, value) of each point that the client counts from its own start instead of the last push.
    """

    key: tuple[UUID, str]
    group: Group
    touched: float
    checked: float
    points: dict[Point, float] = field(default_factory=dict)
    totals: dict[Point, tuple[int, Value]] | None = None

    @property
    def client(self) -> UUID:
        """Return the client's instance id."""
        return self.key[0]

    def pushed_before(self, limit: float) -> list[Point]:
        """Return the points whose last push was before `limit`."""
        return [point for point, at in self.points.items() if at < limit]

    def growth(self, point: Point, start: int, total: Value) -> Value:
        """Return what was added since the last push to a point that the client counts from its own `start`."""
        if self.totals is None:
            self.totals = {}
        earlier = self.totals.get(point)
        self.totals[point] = start, total
        return total if earlier is None or earlier[0] != start else growth(earlier[1], total)


@dataclass(slots=True, eq=False)
class Point:
    """One set of a metric's attributes, and its exported `text`; `values` are the clients'."""

    family: Family
    attributes: Attributes
    text: str
    values: dict[Source, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Family:
    """One metric of one kind. `name` is Prometheus', `source_name` OTLP's; OTLP's values are multiplied by `factor`.

    `departed` is what departed clients counted, by group and attributes' text: counters never go down.
    """

    name: str
    source_name: str
    kind: Kind
    factor: float
    help: str
    points: dict[Attributes, Point] = field(default_factory=dict)
    departed: dict[tuple[Group, str], Value] = field(default_factory=dict)


def scaled(value: Value, factor: float) -> Value:
    """Return the value in another unit."""
    return value.scaled(factor) if isinstance(value, Distribution) else value * factor


def together(earlier: Value, later: Value) -> Value:
    """Return the sum of two values of a kind that counts."""
    if isinstance(earlier, Distribution):
        assert isinstance(later, Distribution)  # a family has one kind
        return earlier.plus(later)
    assert not isinstance(later, Distribution)
    return earlier + later


def growth(earlier: Value, later: Value) -> Value:
    """Return what was added since `earlier`; all of `later` if it is less, since the client restarted."""
    if isinstance(later, Distribution):
        assert isinstance(earlier, Distribution)
        return later.minus(earlier)
    assert not isinstance(earlier, Distribution)
    return later - earlier if later >= earlier else later
