# This module is pure (no I/O, no clock).
"""Series of clients' metrics: a number for each client and point, in columns, so that a client costs little.

`Accumulator` changes them when clients push; each scrape of /metrics/clients reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final
from uuid import UUID

from kproxy.protocol.context import ConnectionState
from kproxy.telemetry.receivers.labels import Kind
from kproxy.telemetry.receivers.otlp_points import Attributes, Distribution, Value
from kproxy.telemetry.receivers.shares import Limits, of_family


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
class Holding:
    """What the clients of one address have: `series`, an estimate of their `bytes`, and the clients themselves."""

    address: str
    series: int = 0
    bytes: int = 0
    sources: dict[tuple[UUID, str], Source] = field(default_factory=dict)

    def full(self, limits: Limits) -> bool:
        """Return whether there is no room for another series."""
        return self._uses(limits, 1.0)

    def full_of_clients(self, limits: Limits) -> bool:
        """Return whether there is no room for another client."""
        return self.full(limits) or self._clients_use(limits, 1.0)

    def crowded(self, limits: Limits) -> bool:
        """Return whether half of what there may be is used."""
        return self._uses(limits, 0.5) or self._clients_use(limits, 0.5)

    def _uses(self, limits: Limits, part: float) -> bool:
        most = max(1.0, part * limits.address_share * limits.series)
        return self.bytes >= part * limits.address_bytes or self.series >= most

    def _clients_use(self, limits: Limits, part: float) -> bool:
        return len(self.sources) >= max(1.0, part * limits.address_share * limits.clients)


@dataclass(slots=True, eq=False)
class Group:
    """The clients with equal labels; `departed` has the keys of what is kept of those that left, and whose it was."""

    labels: str
    sources: int = 0
    departed: dict[tuple[Family, str], tuple[Holding, int]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Source:
    """One client while its labels stay the same; `points` has the time of each point's last push.

    `totals` has (start, value) of each point that the client counts from its own start instead of the last push.
    `holding` is charged for it; `sizes` has the bytes of values that are more than a number. `pusher` is the connection
    of its last push.
    """

    key: tuple[UUID, str]
    group: Group
    holding: Holding
    touched: float
    checked: float
    pusher: ConnectionState | None = None
    sizes: dict[Point, int] | None = None
    points: dict[Point, float] = field(default_factory=dict)
    totals: dict[Point, tuple[int, Value]] | None = None

    @property
    def client(self) -> UUID:
        """Return the client's instance id."""
        return self.key[0]

    @property
    def gone(self) -> bool:
        """Return whether the connection of the last push has ended."""
        return self.pusher is not None and self.pusher.gone

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
    """One set of a metric's attributes, and its exported `text`; `values` are the clients'.

    `holding` is charged its `size`: that of the client that pushed it first.
    """

    family: Family
    attributes: Attributes
    text: str
    holding: Holding
    size: int
    values: dict[Source, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Family:
    """One metric of one kind. `name` is Prometheus', `source_name` OTLP's; OTLP's values are multiplied by `factor`.

    `departed` is what departed clients counted, by group and attributes' text: counters never go down; `departures`
    counts them. `holding` is charged its `size`, as with points; None until it has a point.
    """

    name: str
    source_name: str
    kind: Kind
    factor: float
    help: str
    points: dict[Attributes, Point] = field(default_factory=dict)
    departed: dict[tuple[Group, str], Value] = field(default_factory=dict)
    departures: int = 0
    holding: Holding | None = None

    @property
    def size(self) -> int:
        """Return its bytes without points."""
        return of_family(self.name, self.source_name, self.help)


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
