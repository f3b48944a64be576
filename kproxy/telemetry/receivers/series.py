# This module is pure.
"""What is kept of clients' metrics: a number for each client and point, in columns, so that a client costs little."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final
from uuid import UUID

from kproxy.telemetry.receivers.labels import Kind
from kproxy.telemetry.receivers.otlp_points import Attributes, Distribution, Value


class Merge(Enum):
    """What becomes of gauges of several clients that share their labels."""

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
    """By the last word of a metric's name, as Kafka names them: `latency.avg`, `records.lag.max`; else the sum."""
    return _BY_LAST_WORD.get(name.rpartition(".")[2], Merge.SUM)


@dataclass(slots=True, eq=False)
class Group:
    """The clients that share their labels; `departed` are the keys of what is kept of those that left."""

    labels: str
    sources: int = 0
    departed: set[tuple[Family, str]] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Source:
    """One client, as far as its labels stay the same; `points` with the time of their last push.

    `totals` are (start, value) of points whose client counts from its own start instead of the last push.
    """

    key: tuple[UUID, str]
    group: Group
    touched: float
    checked: float
    points: dict[Point, float] = field(default_factory=dict)
    totals: dict[Point, tuple[int, Value]] | None = None

    @property
    def client(self) -> UUID:
        """Its instance id."""
        return self.key[0]

    def pushed_before(self, limit: float) -> list[Point]:
        """The points whose last push was earlier."""
        return [point for point, at in self.points.items() if at < limit]

    def growth(self, point: Point, start: int, total: Value) -> Value:
        """What was added since the last push to a point whose client counts from its own `start`."""
        if self.totals is None:
            self.totals = {}
        earlier = self.totals.get(point)
        self.totals[point] = start, total
        return total if earlier is None or earlier[0] != start else growth(earlier[1], total)


@dataclass(slots=True, eq=False)
class Point:
    """One set of a metric's attributes, and what of them is exported; `values` are the clients'."""

    family: Family
    attributes: Attributes
    text: str
    values: dict[Source, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Family:
    """One metric, of one kind. `name` is Prometheus', `source_name` OTLP's; OTLP's values are multiplied by `factor`.

    `departed` is what clients counted that left, by their group and the attributes' text: counters never go down.
    """

    name: str
    source_name: str
    kind: Kind
    factor: float
    help: str
    points: dict[Attributes, Point] = field(default_factory=dict)
    departed: dict[tuple[Group, str], Value] = field(default_factory=dict)


def scaled(value: Value, factor: float) -> Value:
    """In another unit."""
    return value.scaled(factor) if isinstance(value, Distribution) else value * factor


def together(earlier: Value, later: Value) -> Value:
    """Two values of a kind that counts, added up."""
    if isinstance(earlier, Distribution):
        assert isinstance(later, Distribution)  # a family has one kind
        return earlier.plus(later)
    assert not isinstance(later, Distribution)
    return earlier + later


def growth(earlier: Value, later: Value) -> Value:
    """What was added in between; all of it when there is less than before: a restart."""
    if isinstance(later, Distribution):
        assert isinstance(earlier, Distribution)
        return later.minus(earlier)
    assert not isinstance(earlier, Distribution)
    return later - earlier if later >= earlier else later
