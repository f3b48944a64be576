# This module is pure (no I/O, no clock).
"""The clients, families and series that are kept: bounded, each name once. What clients counted outlives them.

`Accumulator` calls it when it adds up a push, and when clients or series expire.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from kproxy.telemetry.receivers.labels import MAX_NAME, Kind, Labels, exported
from kproxy.telemetry.receivers.otlp_points import Attributes, Value, attributes_of
from kproxy.telemetry.receivers.series import Family, Group, Point, Source, together

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue
    from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

    from kproxy.telemetry.subscription import ClientInfo

MAX_ATTRIBUTES: Final = 2048
"""The most characters of all attributes of a data point; Kafka's have a topic and a partition, or a node."""

_MAX_HELP: Final = 256


@dataclass(slots=True)
class Tally:
    """How many series there are, and how many points were left out, by reason.

    `full`: no room for another client or series; `conflicting`: another metric has the name; `invalid`: no number, a
    counter that goes down, a name or attributes that are too long.
    """

    series: int = 0
    full: int = 0
    conflicting: int = 0
    invalid: int = 0


class Registry:
    """Keeps clients, families and series; counts refusals in `tally`. A family lives from first to last point."""

    def __init__(self, labels: Labels, *, max_clients: int, max_series: int) -> None:
        self.tally = Tally()
        self.families: dict[tuple[str, Kind], Family] = {}
        # By the time of their last push, the oldest first.
        self.sources: dict[tuple[UUID, str], Source] = {}
        self._labels = labels
        self._max_clients = max_clients
        self._max_series = max_series
        self._names: set[str] = set()
        self._groups: dict[str, Group] = {}

    def source(self, info: ClientInfo, resource: Iterable[KeyValue], now: float) -> Source | None:
        """Return the client, with its present labels, as one that pushes now; None if there is no room for another."""
        labels = self._labels.of_client(info, dict(attributes_of(resource)))
        key = info.client_instance_id, labels
        source = self.sources.get(key)
        if source is None:
            if len(self.sources) >= self._max_clients:
                return None
            group = self._groups.setdefault(labels, Group(labels))
            group.sources += 1
            source = Source(key, group, now, now)
        self.touch(source, now)
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
            self.tally.invalid += 1
            return None
        name, factor = exported(metric.name, kind)
        if name in self._names:
            self.tally.conflicting += 1
            return None
        return Family(name, metric.name, kind, factor, _help(metric))

    def admit(self, family: Family, attributes: Attributes) -> Point | None:
        """Return the point for another series, which must get its value at once; None if the series is refused."""
        if sum(len(name) + len(value) for name, value in attributes) > MAX_ATTRIBUTES:
            self.tally.invalid += 1
            return None
        if self.tally.series >= self._max_series:
            self.tally.full += 1
            return None
        self.tally.series += 1
        self.families[family.source_name, family.kind] = family
        self._names.add(family.name)
        point = family.points.get(attributes)
        if point is None:
            point = family.points[attributes] = Point(family, attributes, self._labels.of_point(attributes))
        return point

    def forget(self, source: Source) -> None:
        """Remove a client with its series; with the last of a group also what the group's departed clients left."""
        self.drop(source, list(source.points))
        del self.sources[source.key]
        group = source.group
        group.sources -= 1
        if not group.sources:
            del self._groups[group.labels]
            self.tally.series -= len(group.departed)
            for family, point in group.departed:
                del family.departed[group, point]
                self._drop_if_empty(family)

    def drop(self, source: Source, points: Iterable[Point]) -> None:
        """Remove the client's series of these points."""
        for point in points:
            del source.points[point]
            if source.totals:
                source.totals.pop(point, None)
            value = point.values.pop(source)
            self.tally.series -= 1
            if self._labels.merge and point.family.kind is not Kind.GAUGE:
                self._depart(source.group, point, value)
            if not point.values:
                del point.family.points[point.attributes]
                self._drop_if_empty(point.family)

    def _depart(self, group: Group, point: Point, value: Value) -> None:
        departed, key = point.family.departed, (group, point.text)
        if key in departed:
            departed[key] = together(departed[key], value)
        else:
            departed[key] = value
            group.departed.add((point.family, point.text))
            self.tally.series += 1

    def _drop_if_empty(self, family: Family) -> None:
        if not family.points and not family.departed:
            del self.families[family.source_name, family.kind]
            self._names.remove(family.name)


def _help(metric: Metric) -> str:
    return metric.description[:_MAX_HELP] or f"Of Kafka clients: {metric.name}."
