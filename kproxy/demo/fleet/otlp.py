"""OTLP as Kafka's clients push it: Java repeats its resource for each metric, the others have one of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.demo.fleet.software import Dialect

_DELTA: Final = 1
_PREFIX: Final = "org.apache.kafka."


class Series(NamedTuple):
    """A metric with the labels of one data point."""

    name: str
    """Without the prefix that all have."""
    is_sum: bool = False
    """True for a delta sum, false for a gauge."""
    is_int: bool = False
    labels: tuple[tuple[str, str | int], ...] = ()


Reading = tuple[Series, float]


@dataclass(slots=True)
class Encoder:
    """Encodes the pushes of one instance. Its messages are kept: only times and values change from push to push."""

    dialect: Dialect
    scope: tuple[str, str] | None
    """Name and version of the instrumentation; Java says none."""
    attributes: Mapping[str, str]
    _kept: dict[tuple[Series, ...], tuple[MetricsData, list[Any]]] = field(default_factory=dict)

    def encode(self, readings: Sequence[Reading], start: int, now: int) -> bytes:
        """Return a payload; times are Unix nanoseconds."""
        layout = tuple(series for series, _ in readings)
        if layout not in self._kept:
            self._kept[layout] = self._laid_out(layout)
        data, points = self._kept[layout]
        for (series, value), point in zip(readings, points, strict=True):
            point.time_unix_nano = now
            if series.is_sum or self.dialect is not Dialect.JAVA:
                point.start_time_unix_nano = start
            if series.is_int:
                point.as_int = round(value)
            else:
                point.as_double = value
        payload: bytes = data.SerializeToString()
        return payload

    def _laid_out(self, layout: Sequence[Series]) -> tuple[MetricsData, list[Any]]:
        data, points = MetricsData(), []
        scope: Any = None
        for series in layout:
            if scope is None or self.dialect is Dialect.JAVA:
                scope = self._scope(data)
            points.append(self._point(scope.metrics.add(name=_PREFIX + series.name), series))
        return data, points

    def _scope(self, data: MetricsData) -> Any:
        resource = data.resource_metrics.add()
        for key, value in self.attributes.items():
            resource.resource.attributes.add(key=key).value.string_value = value
        scope = resource.scope_metrics.add()
        if self.scope is not None:
            scope.scope.name, scope.scope.version = self.scope
        return scope

    def _point(self, metric: Any, series: Series) -> Any:
        if series.is_sum:
            metric.sum.aggregation_temporality = _DELTA
            metric.sum.is_monotonic = self.dialect is not Dialect.FRANZ_GO
        point = (metric.sum if series.is_sum else metric.gauge).data_points.add()
        for key, value in series.labels:
            label = point.attributes.add(key=key).value
            if isinstance(value, int):
                label.int_value = value
            else:
                label.string_value = value
        return point
