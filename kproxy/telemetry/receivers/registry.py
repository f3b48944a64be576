# This module is pure (no I/O, no clock).
"""The clients, families and series that are kept: bounded, each name once. What clients counted outlives them.

`Accumulator` calls it when it adds up a push, and when clients or series expire.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from kproxy.protocol.network import network
from kproxy.telemetry.payload import Losses
from kproxy.telemetry.receivers.labels import MAX_NAME, Kind, Labels, exported
from kproxy.telemetry.receivers.otlp_points import Attributes, Value, attributes_of
from kproxy.telemetry.receivers.series import Family, Group, Holding, Point, Source, together
from kproxy.telemetry.receivers.shares import Limits, of_point, of_series, of_source, of_value

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue
    from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

    from kproxy.protocol.context import ConnectionState
    from kproxy.telemetry.subscription import ClientInfo

MAX_ATTRIBUTES: Final = 2048
"""The most characters of all attributes of a data point; Kafka's have a topic and a partition, or a node."""
MAX_PAIRS: Final = 64
"""The most attributes of a data point, of which each becomes a label."""

_MAX_HELP: Final = 256

FULL: Final = "full"
ADDRESS_SHARE: Final = "address_share"
CLIENT_SHARE: Final = "client_share"
CONFLICTING: Final = "conflicting"
INVALID: Final = "invalid"


@dataclass(slots=True)
class Tally:
    """How many series there are, and how many points were left out, by reason.

    `full`: no room for another client or series; `address_share`, `client_share`: the client's address, or the client
    has as much as one may have; `conflicting`: another metric has the name; `invalid`: no number, a counter that goes
    down, a name or attributes that are too long or too many. `losses` are those of the client whose push is added up.
    """

    series: int = 0
    full: int = 0
    address_share: int = 0
    client_share: int = 0
    conflicting: int = 0
    invalid: int = 0
    losses: Losses | None = None

    def drop(self, reason: str) -> None:
        """Count a point that is left out."""
        setattr(self, reason, getattr(self, reason) + 1)
        if self.losses is not None:
            self.losses.note(1, reason)


class Registry:
    """Keeps clients, families and series; counts refusals in `tally`. A family lives from first to last point."""

    def __init__(self, labels: Labels, limits: Limits) -> None:
        self.tally = Tally()
        self.limits = limits
        self.families: dict[tuple[str, Kind], Family] = {}
        # By the time of their last push, the oldest first.
        self.sources: dict[tuple[UUID, str], Source] = {}
        self.holdings: dict[str, Holding] = {}
        self._labels = labels
        self._names: set[str] = set()
        self._groups: dict[str, Group] = {}
        self._series_of: dict[UUID, int] = {}

    def source(
        self, info: ClientInfo, resource: Iterable[KeyValue], now: float, pusher: ConnectionState | None = None
    ) -> Source | None:
        """Return the client, with its present labels, as one that pushes now; None if there is no room for another."""
        labels = self._labels.of_client(info, dict(attributes_of(resource)))
        source = self.sources.get((info.client_instance_id, labels)) or self._new_source(info, labels, now)
        if source is not None:
            source.pusher = pusher
            self.touch(source, now)
        return source

    def _new_source(self, info: ClientInfo, labels: str, now: float) -> Source | None:
        address = network(info.source_address)
        holding = self.holdings.get(address) or Holding(address)
        if len(self.sources) >= self.limits.clients:
            self.tally.drop(FULL)
            return None
        if holding.full_of_clients(self.limits):
            self.tally.drop(ADDRESS_SHARE)
            return None
        self.holdings[address] = holding
        group = self._groups.setdefault(labels, Group(labels))
        group.sources += 1
        source = Source((info.client_instance_id, labels), group, holding, now, now)
        holding.sources[source.key] = source
        holding.bytes += of_source(labels)
        return source

    def touch(self, source: Source, now: float) -> None:
        """Note that the client pushes now."""
        source.touched = now
        self.sources.pop(source.key, None)
        self.sources[source.key] = source

    def family(self, metric: Metric, kind: Kind) -> Family | None:
        """Return the metric's family, which may be new and not kept yet; None if it cannot have a name."""
        return self.families.get((metric.name, kind)) or self._new_family(metric, kind)

    def _new_family(self, metric: Metric, kind: Kind) -> Family | None:
        if not metric.name or len(metric.name) > MAX_NAME:
            self.tally.drop(INVALID)
            return None
        name, factor = exported(metric.name, kind)
        if name in self._names:
            self.tally.drop(CONFLICTING)
            return None
        return Family(name, metric.name, kind, factor, _help(metric))

    def admit(self, source: Source, family: Family, attributes: Attributes) -> Point | None:
        """Return the point for another series, which must get its value at once; None if the series is refused."""
        reason = self._refusal(source, attributes)
        if reason is not None:
            self.tally.drop(reason)
            return None
        holding = source.holding
        if family.holding is None:
            family.holding = holding
            holding.bytes += family.size
            self.families[family.source_name, family.kind] = family
            self._names.add(family.name)
        point = family.points.get(attributes)
        if point is None:
            text, size = self._labels.of_point(attributes), of_point(attributes)
            point = family.points[attributes] = Point(family, attributes, text, holding, size)
            holding.bytes += size
        self.tally.series += 1
        self._series_of[source.client] = self._series_of.get(source.client, 0) + 1
        holding.series += 1
        holding.bytes += of_series(source.group.labels, point.text)
        return point

    def _refusal(self, source: Source, attributes: Attributes) -> str | None:
        limits = self.limits
        if len(attributes) > MAX_PAIRS or sum([len(name) + len(value) for name, value in attributes]) > MAX_ATTRIBUTES:
            return INVALID
        if self.tally.series >= limits.series:
            return FULL
        if self._series_of.get(source.client, 0) >= limits.client_series:
            return CLIENT_SHARE
        return ADDRESS_SHARE if source.holding.full(limits) else None

    def weigh(self, source: Source, point: Point, value: Value, *, totals: bool) -> bool:
        """Charge what a value takes more than a number; return False where it has grown and there is no room for that.

        Call it for each value that is a distribution or a total.
        """
        line = len(source.group.labels) + len(point.text)
        size = of_value(value, line, totals=totals)
        sizes = source.sizes = {} if source.sizes is None else source.sizes
        more = size - sizes.get(point, 0)
        if more > 0:
            if source.holding.full(self.limits) and point in source.points:
                return False
            sizes[point] = size
            source.holding.bytes += more
        return True

    def forget(self, source: Source) -> None:
        """Remove a client with its series; with the last of a group also what the group's departed clients left."""
        self.drop(source, list(source.points))
        del self.sources[source.key]
        del source.holding.sources[source.key]
        source.holding.bytes -= of_source(source.group.labels)
        group = source.group
        group.sources -= 1
        if not group.sources:
            del self._groups[group.labels]
            self.tally.series -= len(group.departed)
            for (family, point), (holding, size) in group.departed.items():
                del family.departed[group, point]
                self._refund(holding, 1, size)
                self._drop_if_empty(family)
        self._refund(source.holding, 0, 0)

    def drop(self, source: Source, points: Iterable[Point]) -> None:
        """Remove the client's series of these points."""
        for point in points:
            del source.points[point]
            if source.totals:
                source.totals.pop(point, None)
            value = point.values.pop(source)
            size = source.sizes.pop(point, 0) if source.sizes else 0
            self.tally.series -= 1
            self._count_less(source.client)
            self._refund(source.holding, 1, size + of_series(source.group.labels, point.text))
            if self._labels.merge and point.family.kind is not Kind.GAUGE:
                self._depart(source, point, value)
            if not point.values:
                del point.family.points[point.attributes]
                self._refund(point.holding, 0, point.size)
                self._drop_if_empty(point.family)

    def _count_less(self, client: UUID) -> None:
        self._series_of[client] -= 1
        if not self._series_of[client]:
            del self._series_of[client]

    def _refund(self, holding: Holding, series: int, size: int) -> None:
        holding.series -= series
        holding.bytes -= size
        if not holding.bytes and self.holdings.get(holding.address) is holding:
            del self.holdings[holding.address]

    def _depart(self, source: Source, point: Point, value: Value) -> None:
        group = source.group
        departed, key = point.family.departed, (group, point.text)
        point.family.departures += 1
        if key in departed:
            departed[key] = together(departed[key], value)
        else:
            size = of_series(group.labels, point.text) + of_value(value, 0, totals=False) + 2 * len(point.text)
            departed[key] = value
            group.departed[point.family, point.text] = source.holding, size
            source.holding.series += 1
            source.holding.bytes += size
            self.tally.series += 1

    def _drop_if_empty(self, family: Family) -> None:
        if not family.points and not family.departed and family.holding is not None:
            del self.families[family.source_name, family.kind]
            self._names.remove(family.name)
            self._refund(family.holding, 0, family.size)
            family.holding = None


def _help(metric: Metric) -> str:
    return metric.description[:_MAX_HELP] or f"Of Kafka clients: {metric.name}."
