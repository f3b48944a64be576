# This module is pure (no I/O, no clock).
"""Add up clients' metrics for the `prometheus` receiver: deltas become counters. Memory is bounded; idle series expire.

Each push is added when it comes in. `families` is read when /metrics/clients is scraped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kproxy.telemetry.receivers.labels import DEFAULT_LABELS, Kind, Labels
from kproxy.telemetry.receivers.otlp_points import Distribution, Mode, PointReading, reading
from kproxy.telemetry.receivers.plan import MAX_POINTS, Plans, Step
from kproxy.telemetry.receivers.registry import ADDRESS_SHARE, INVALID, Registry
from kproxy.telemetry.receivers.series import Family, Source, scaled, together
from kproxy.telemetry.receivers.shares import Limits

if TYPE_CHECKING:
    from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, MetricsData

    from kproxy.protocol.context import ConnectionState
    from kproxy.telemetry.layout import PayloadTemplate
    from kproxy.telemetry.payload import Losses
    from kproxy.telemetry.subscription import ClientInfo

STEP: Final = 10
"""Points and metrics between two moments at which others get their turn."""
_DROPS: Final = 50
"""Series that are removed in one step."""
_SWEEP: Final = 5.0
_GONE: Final = 30.0
"""Seconds after its last push in which a client that is gone keeps its series though its address is crowded.

Prometheus scrapes every 15 or 30 seconds, so it mostly sees the last push.
"""
_NO_LIMITS: Final = Limits()

_Found = tuple[Source, Family, Mode, bool | None, PointReading]


class Accumulator:
    """Adds up pushes, by their clients' plans or point by point, and forgets what is no longer pushed.

    Times are seconds on any steady clock.
    """

    def __init__(
        self,
        *,
        labels: Sequence[str] = DEFAULT_LABELS,
        attributes: Iterable[str] | None = None,
        constant: Mapping[str, str] = MappingProxyType({}),
        expiry: float = 900.0,
        limits: Limits = _NO_LIMITS,
    ) -> None:
        """Export these `labels` of clients; clients with equal ones are merged. Raise ValueError for an invalid label.

        `attributes` of data points, by OTLP's names, are exported; None is all. Every series has the `constant` labels.
        A series without a push for `expiry` seconds is removed. Where an address has used half of its share, the series
        of clients whose connection has ended are removed within a minute.
        """
        self._registry = Registry(Labels(labels, attributes=attributes, constant=constant), limits)
        self._plans = Plans()
        self._expiry = expiry
        self._swept = -inf
        self.tally = self._registry.tally

    @property
    def sources(self) -> int:
        """Return the number of clients with series."""
        return len(self._registry.sources)

    @property
    def families(self) -> Mapping[tuple[str, Kind], Family]:
        """Return the families by OTLP's name and kind, with all pushes settled."""
        for _ in self.settling():
            pass
        return self._registry.families

    def settling(self) -> Iterator[None]:
        """Bring what `again` took to the `families`, in steps of 50 microseconds."""
        return self._plans.settling()

    def again(
        self,
        info: ClientInfo,
        template: PayloadTemplate | None,
        payload: bytes,
        now: float,
        pusher: ConnectionState | None = None,
        losses: Losses | None = None,
    ) -> bool:
        """Add up a push at once and return True if only its numbers differ from the client's last one; else do nothing.

        Do not call it between the steps of another push of the client.
        """
        taken = self._plans.take(info, template, payload, now)
        if taken is None:
            return False
        source, invalid = taken
        source.pusher = pusher
        self.tally.invalid += invalid
        if invalid and losses is not None:
            losses.note(invalid, INVALID)
        self._registry.touch(source, now)
        self._tidy(source)
        return True

    def steps(
        self,
        info: ClientInfo,
        metrics: MetricsData,
        now: float,
        payload: bytes = b"",
        template: PayloadTemplate | None = None,
        pusher: ConnectionState | None = None,
        losses: Losses | None = None,
    ) -> Iterator[None]:
        """Add up one push in steps of 50 to 100 microseconds.

        A push may have 100,000 points, and a fleet comes back at once. Points that cannot be exported are counted, in
        `losses` as well; nothing is raised for them. `metrics` was decoded from `payload`, or is a part of it. If its
        `template` is given, `again` takes later pushes with the same template. `pusher` is the client's connection.
        """
        yield from self.expiring(now)
        self._plans.settle(info.client_instance_id)
        taken: list[Step | None] = []
        self.tally.losses = losses
        try:
            for number, each in enumerate(self._points(info, metrics, now, pusher), 1):
                if each is not None:
                    step = self._take(*each)
                    if len(taken) <= MAX_POINTS:
                        taken.append(step)
                if not number % STEP:
                    yield
        finally:
            self.tally.losses = None
        if template is not None:
            self._plans.make(info, template, payload, taken)

    def expire(self, now: float) -> None:
        """Do as `expiring`, in one step."""
        for _ in self.expiring(now):
            pass

    def expiring(self, now: float) -> Iterator[None]:
        """Forget the clients whose last push is too old, in steps. No push may be added up between them."""
        sources = self._registry.sources.values()
        for source in list(takewhile(lambda source: source.touched + self._expiry < now, sources)):
            yield from self._forgetting(source)
        if self._swept + _SWEEP <= now:
            self._swept = now
            yield from self._sweeping(now)

    def _sweeping(self, now: float) -> Iterator[None]:
        """Forget clients that are gone, of crowded addresses: who made up thousands of them does not come back."""
        registry = self._registry
        for holding in [each for each in registry.holdings.values() if each.crowded(registry.limits)]:
            for number, source in enumerate(list(holding.sources.values()), 1):
                if source.gone and source.touched + _GONE < now:
                    yield from self._forgetting(source)
                elif not number % _DROPS:
                    yield

    def _forgetting(self, source: Source) -> Iterator[None]:
        self._plans.drop(source.client)
        while len(source.points) > _DROPS:
            self._registry.drop(source, list(islice(source.points, _DROPS)))
            yield
        self._registry.forget(source)

    def _points(
        self, info: ClientInfo, metrics: MetricsData, now: float, pusher: ConnectionState | None
    ) -> Iterator[_Found | None]:
        resource, source = None, None
        for resource_metrics in metrics.resource_metrics:
            yield None
            if source is None or resource_metrics.resource != resource:  # Java repeats it for every metric
                self._tidy(source)
                resource = resource_metrics.resource
                source = self._registry.source(info, resource.attributes, now, pusher)
            if source is None:
                continue
            for scope_metrics in resource_metrics.scope_metrics:
                yield None
                for metric in scope_metrics.metrics:
                    yield None
                    yield from self._of_metric(source, metric)
        self._tidy(source)

    def _of_metric(self, source: Source, metric: Metric) -> Iterator[_Found]:
        read = reading(metric)
        if read is None:
            return
        family = self._registry.family(metric, read.kind)
        if family is not None:
            for point in read.points:
                yield source, family, read.mode, read.adds, point

    def _take(self, source: Source, family: Family, mode: Mode, adds: bool | None, read: PointReading) -> Step | None:
        """Add up one point; return a step if the next number there can be treated the same way."""
        if read.value is None:
            self.tally.drop(INVALID)
            return None
        point = family.points.get(read.attributes)
        if point is None or source not in point.values:
            point = self._registry.admit(source, family, read.attributes)
        if point is None:
            return None
        value = scaled(read.value, family.factor)
        totals = mode is Mode.TOTAL
        large = totals or isinstance(value, Distribution)
        if large and not self._registry.weigh(source, point, value, totals=totals):
            self.tally.drop(ADDRESS_SHARE)
            return None
        if totals:
            value = source.growth(point, read.start, value)
        earlier = None if mode is Mode.LATEST else point.values.get(source)
        point.values[source] = value if earlier is None else together(earlier, value)
        source.points[point] = source.touched
        return None if adds is None else Step(source, point, adds, read.value)

    def _tidy(self, source: Source | None) -> None:
        """Drop the expired points of a client that pushes; forget a client without points."""
        if source is None:
            return
        if source.checked + self._expiry / 2 < source.touched:
            source.checked = source.touched
            self._plans.settle(source.client)
            if gone := source.pushed_before(source.touched - self._expiry):
                self._plans.drop(source.client)
                self._registry.drop(source, gone)
        if not source.points:
            self._registry.forget(source)
