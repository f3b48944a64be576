"""Clients' metrics, added up: deltas become counters, as Prometheus wants them; bounded, and forgotten after a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from uuid import UUID

from kproxy.telemetry.receivers.labels import DEFAULT_LABELS, check, client_text, point_text, text
from kproxy.telemetry.receivers.naming import MAX_NAME, Kind, exported
from kproxy.telemetry.receivers.plan import MAX_POINTS, Plan, Step, plan
from kproxy.telemetry.receivers.readings import Attributes, Mode, PointReading, Value, attributes_of, reading
from kproxy.telemetry.receivers.series import Family, Group, Point, Source, growth, scaled, together

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue
    from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, MetricsData

    from kproxy.telemetry.instance import ClientInfo
    from kproxy.telemetry.layout import Words

MAX_ATTRIBUTES: Final = 2048
"""Characters of all attributes of a data point; Kafka's have a topic and a partition, or a node."""

STEP: Final = 100
"""Points, and metrics, between two moments at which others get their turn."""

_MAX_HELP: Final = 256
_Found = tuple[Source, Family, Mode, bool | None, PointReading]


@dataclass(slots=True)
class Tally:
    """How many series there are, and how many points were not taken, by reason.

    `full`: no room for another client or series; `conflicting`: another metric has the name; `invalid`: no number, a
    counter that goes down, a name or attributes beyond all bounds.
    """

    series: int = 0
    full: int = 0
    conflicting: int = 0
    invalid: int = 0


class Accumulator:
    """Takes pushes in, and holds the families that the exposition writes. Times are seconds on any steady clock."""

    def __init__(
        self,
        *,
        labels: Sequence[str] = DEFAULT_LABELS,
        attributes: Iterable[str] | None = None,
        constant: Mapping[str, str] = MappingProxyType({}),
        expiry: float = 900.0,
        max_clients: int = 20_000,
        max_series: int = 500_000,
    ) -> None:
        """`labels` of clients are exported; clients that share them are merged. ValueError for what is no label.

        `attributes` of data points, by OTLP's names, are exported; None is all. `constant` labels stand on every
        series. A series without a push for `expiry` seconds goes.
        """
        check([*constant, *labels])
        self._families: dict[tuple[str, Kind], Family] = {}
        self.tally = Tally()
        self._labels = tuple(labels)
        self._taken = frozenset([*constant, *labels])
        self._constant = text(constant.items())
        self._attributes = None if attributes is None else frozenset(attributes)
        self._merges = self._attributes is not None or "client_instance_id" not in labels
        self._expiry = expiry
        self._max_clients = max_clients
        self._max_series = max_series
        self._names: set[str] = set()
        self._groups: dict[str, Group] = {}
        # By the time of their last push, the oldest first.
        self._sources: dict[tuple[UUID, str], Source] = {}
        self._plans: dict[UUID, Plan] = {}
        self._unsettled: dict[Plan, None] = {}

    @property
    def sources(self) -> int:
        """Clients of which something is kept."""
        return len(self._sources)

    @property
    def families(self) -> Mapping[tuple[str, Kind], Family]:
        """By OTLP's name and kind, with all that was taken in."""
        for _ in self.settling():
            pass
        return self._families

    def settling(self) -> Iterator[None]:
        """Brings what was taken `again` to where `families` have it; each step takes 50 microseconds."""
        while self._unsettled:
            self._unsettled.popitem()[0].settle()
            yield

    def again(self, info: ClientInfo, words: Words | None, payload: bytes, now: float) -> bool:
        """Takes a push in, at once, if it is like the client's last ones but for its numbers; else nothing is done.

        Not to be called between the steps of another push of the client.
        """
        plan = self._plans.get(info.client_instance_id)
        invalid = None if plan is None else plan.take(info, words, payload, now)
        if plan is None or invalid is None:
            return False
        self.tally.invalid += invalid
        self._unsettled[plan] = None
        self._touch(plan.source, now)
        self._tidy(plan.source)
        return True

    def steps(
        self, info: ClientInfo, metrics: MetricsData, now: float, payload: bytes = b"", words: Words | None = None
    ) -> Iterator[None]:
        """Takes one push in; each step takes a millisecond or so, since a push may have 10,000 points and more.

        What cannot be exported is counted; nothing is raised for it. `payload` is what `metrics` was decoded from, and
        `words` its, where they are known: others like it then come `again`.
        """
        self.expire(now)
        self._settle(info.client_instance_id)
        taken: list[Step | None] = []
        for number, each in enumerate(self._points(info, metrics, now), 1):
            if each is not None:
                step = self._take(*each)
                if len(taken) <= MAX_POINTS:
                    taken.append(step)
            if not number % STEP:
                yield
        if words is not None and taken and (found := plan(info, words, payload, taken)) is not None:
            self._plans[info.client_instance_id] = found

    def _points(self, info: ClientInfo, metrics: MetricsData, now: float) -> Iterator[_Found | None]:
        resource, source = None, None
        for resource_metrics in metrics.resource_metrics:
            yield None
            if source is None or resource_metrics.resource != resource:  # Java names it once for every metric
                self._tidy(source)
                resource = resource_metrics.resource
                source = self._source(info, resource.attributes, now)
            if source is None:
                self.tally.full += 1
                continue
            for scope_metrics in resource_metrics.scope_metrics:
                yield None
                for metric in scope_metrics.metrics:
                    yield None
                    yield from self._of_metric(source, metric)
        self._tidy(source)

    def _settle(self, client: UUID) -> None:
        plan = self._plans.get(client)
        if plan is not None:
            self._unsettled.pop(plan, None)
            plan.settle()

    def _tidy(self, source: Source | None) -> None:
        if source is None:
            return
        if source.checked + self._expiry / 2 < source.touched:
            self._settle(source.key[0])
            source.checked = source.touched
            limit = source.touched - self._expiry
            self._drop(source, [point for point, at in source.points.items() if at < limit])
        if not source.points:
            self._forget(source)

    def expire(self, now: float) -> None:
        """Forgets the clients that have not pushed for long."""
        stale = []
        for source in self._sources.values():
            if source.touched + self._expiry >= now:
                break
            stale.append(source)
        for source in stale:
            self._forget(source)

    def _source(self, info: ClientInfo, resource: Iterable[KeyValue], now: float) -> Source | None:
        labels = self._constant + client_text(self._labels, info, dict(attributes_of(resource)))
        key = info.client_instance_id, labels
        source = self._sources.get(key)
        if source is None:
            if len(self._sources) >= self._max_clients:
                return None
            group = self._groups.setdefault(labels, Group(labels))
            group.sources += 1
            source = Source(key, group, now, now)
        self._touch(source, now)
        return source

    def _touch(self, source: Source, now: float) -> None:
        source.touched = now
        self._sources.pop(source.key, None)
        self._sources[source.key] = source

    def _of_metric(self, source: Source, metric: Metric) -> Iterator[_Found]:
        read = reading(metric)
        if read is None:
            return
        family = self._families.get((metric.name, read.kind)) or self._new_family(metric, read.kind)
        if family is not None:
            for point in read.points:
                yield source, family, read.mode, read.adds, point

    def _new_family(self, metric: Metric, kind: Kind) -> Family | None:
        if not metric.name or len(metric.name) > MAX_NAME:
            self.tally.invalid += 1
            return None
        name, factor = exported(metric.name, kind)
        if name in self._names:
            self.tally.conflicting += 1
            return None
        return Family(name, metric.name, kind, factor, _help(metric))

    def _take(self, source: Source, family: Family, mode: Mode, adds: bool | None, read: PointReading) -> Step | None:
        """What was done, if the same may be done with the next number there."""
        if read.value is None:
            self.tally.invalid += 1
            return None
        point = family.points.get(read.attributes)
        if (point is None or source not in point.values) and (point := self._admit(family, read.attributes)) is None:
            return None
        value = scaled(read.value, family.factor)
        if mode is Mode.TOTAL:
            value = _since(source, point, read.start, value)
        earlier = None if mode is Mode.LATEST else point.values.get(source)
        point.values[source] = value if earlier is None else together(earlier, value)
        source.points[point] = source.touched
        return None if adds is None else Step(source, point, adds, read.value)

    def _admit(self, family: Family, attributes: Attributes) -> Point | None:
        """The point, when there is room for another series of it."""
        if sum(len(name) + len(value) for name, value in attributes) > MAX_ATTRIBUTES:
            self.tally.invalid += 1
            return None
        if self.tally.series >= self._max_series:
            self.tally.full += 1
            return None
        self.tally.series += 1
        self._families[family.source_name, family.kind] = family
        self._names.add(family.name)
        point = family.points.get(attributes)
        if point is None:
            chosen = [each for each in attributes if self._attributes is None or each[0] in self._attributes]
            point = family.points[attributes] = Point(family, attributes, point_text(chosen, self._taken))
        return point

    def _forget(self, source: Source) -> None:
        self._settle(source.key[0])
        self._drop(source, list(source.points))
        del self._sources[source.key]
        group = source.group
        group.sources -= 1
        if not group.sources:
            del self._groups[group.labels]
            self.tally.series -= len(group.departed)
            for family, point in group.departed:
                del family.departed[group, point]
                self._drop_if_empty(family)

    def _drop(self, source: Source, points: Iterable[Point]) -> None:
        for point in points:
            self._plans.pop(source.key[0], None)
            del source.points[point]
            if source.totals:
                source.totals.pop(point, None)
            value = point.values.pop(source)
            self.tally.series -= 1
            if self._merges and point.family.kind is not Kind.GAUGE:
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
            del self._families[family.source_name, family.kind]
            self._names.remove(family.name)


def _help(metric: Metric) -> str:
    return metric.description[:_MAX_HELP] or f"Of Kafka clients: {metric.name}."


def _since(source: Source, point: Point, start: int, total: Value) -> Value:
    if source.totals is None:
        source.totals = {}
    earlier = source.totals.get(point)
    source.totals[point] = start, total
    return total if earlier is None or earlier[0] != start else growth(earlier[1], total)
