# This module is pure (no I/O, no clock).
"""Read OTLP's metrics as plain values: their kind, how a value relates to the one before it, and their points.

The `prometheus` receiver calls `reading` for each metric of a push that it adds up point by point. The `files` receiver
reads numbers and attributes of each push.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from math import inf, isfinite
from operator import add, sub
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kproxy.telemetry.receivers.labels import Kind

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.metrics.v1.metrics_pb2 import (
        ExponentialHistogramDataPoint,
        HistogramDataPoint,
        Metric,
        NumberDataPoint,
        SummaryDataPoint,
    )


class Distribution(NamedTuple):
    """A histogram or a summary. `buckets[i]` counts values up to `bounds[i]`, the last one those above all bounds.

    A summary has no buckets. `quantiles` are (quantile, value) of one client: they cannot be added up.
    """

    counted: float = 0.0
    summed: float = 0.0
    bounds: tuple[float, ...] = ()
    buckets: tuple[float, ...] = ()
    quantiles: tuple[tuple[float, float], ...] = ()

    def plus(self, later: Distribution) -> Distribution:
        """Return the sum, with the quantiles of `later`. Buckets of different bounds cannot be added: they are lost."""
        if self.bounds != later.bounds:
            return Distribution(self.counted + later.counted, self.summed + later.summed)
        buckets = tuple(map(add, self.buckets, later.buckets))
        return Distribution(
            self.counted + later.counted, self.summed + later.summed, self.bounds, buckets, later.quantiles
        )

    def minus(self, earlier: Distribution) -> Distribution:
        """Return what was added since `earlier`; all of it if the count went down or the bounds changed: a restart."""
        if self.bounds != earlier.bounds or self.counted < earlier.counted:
            return self
        buckets = tuple(map(sub, self.buckets, earlier.buckets))
        return self._replace(
            counted=self.counted - earlier.counted, summed=self.summed - earlier.summed, buckets=buckets
        )

    def scaled(self, factor: float) -> Distribution:
        """Return it in another unit."""
        return self._replace(
            summed=self.summed * factor,
            bounds=tuple(bound * factor for bound in self.bounds),
            quantiles=tuple((quantile, value * factor) for quantile, value in self.quantiles),
        )


def of_histogram(point: HistogramDataPoint) -> Distribution | None:
    """Return a histogram's point; None if its buckets do not fit its bounds."""
    bounds, buckets = tuple(point.explicit_bounds), tuple(point.bucket_counts)
    if inf in bounds[-1:]:
        bounds, buckets = bounds[:-1], (*buckets[:-2], sum(buckets[-2:]))
    if len(buckets) != len(bounds) + bool(buckets) or list(bounds) != sorted(set(bounds)):
        return None
    return Distribution(point.count, point.sum, bounds, buckets)


def of_exponential(point: ExponentialHistogramDataPoint) -> Distribution:
    """Return count and sum: the buckets' bounds differ from client to client and from push to push."""
    return Distribution(point.count, point.sum)


def of_summary(point: SummaryDataPoint) -> Distribution:
    """Return a summary's point."""
    quantiles = tuple(sorted({each.quantile: each.value for each in point.quantile_values}.items()))
    return Distribution(point.count, point.sum, quantiles=quantiles)


Value = float | Distribution
Attributes = tuple[tuple[str, str], ...]

_DELTA: Final = 1  # AGGREGATION_TEMPORALITY_DELTA
_NO_VALUE: Final = 1  # DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK


class Mode(Enum):
    """What a value means."""

    LATEST = "latest"
    """The present value."""
    CHANGE = "change"
    """What was added since the last push."""
    TOTAL = "total"
    """What was added since the client's own start."""


class PointReading(NamedTuple):
    """One data point; `value` is None if its kind does not allow it.

    `start` is when a TOTAL began to count, in unix nanoseconds.
    """

    start: int
    attributes: Attributes
    value: Value | None


class Reading(NamedTuple):
    """One metric of one push."""

    kind: Kind
    mode: Mode
    adds: bool | None
    """True for deltas of counters, which are added up; False for gauges; None for anything else."""
    points: Iterator[PointReading]


def reading(metric: Metric) -> Reading | None:
    """Read a metric; return None if it has no data."""
    name = metric.WhichOneof("data")
    if name is None:
        return None
    data = getattr(metric, name)
    form = _UP_AND_DOWN if name == "sum" and not data.is_monotonic else _FORMS[name]
    # A gauge and a summary have no temporality.
    mode = Mode.CHANGE if getattr(data, "aggregation_temporality", 0) == _DELTA else form.mode
    read = form.read
    points = (
        PointReading(point.start_time_unix_nano, attributes_of(point.attributes), read(point))
        for point in data.data_points
        if not point.flags & _NO_VALUE
    )
    adds = False if name == "gauge" else True if (form.kind, mode) == (Kind.COUNTER, Mode.CHANGE) else None
    return Reading(form.kind, mode, adds, points)


def attributes_of(pairs: Iterable[KeyValue]) -> Attributes:
    """Return the attributes as text, sorted by name."""
    return tuple(sorted([(pair.key, text_of(pair.value)) for pair in pairs])) if pairs else ()


def text_of(value: AnyValue) -> str:
    """Return a string, a number or a boolean as text; empty for lists, maps and bytes, which no label can hold."""
    form = value.WhichOneof("value")
    if form == "string_value":
        return value.string_value
    if form == "bool_value":
        return "true" if value.bool_value else "false"
    return str(getattr(value, form)) if form in ("int_value", "double_value") else ""


def number(point: NumberDataPoint) -> float | None:
    """Return the point's number; None if it has none."""
    form = point.WhichOneof("value")
    if form == "as_double":
        return point.as_double
    return None if form is None else float(point.as_int)


def _finite(point: NumberDataPoint) -> float | None:
    # One NaN or infinity would stay in a sum for ever.
    value = number(point)
    return value if value is not None and isfinite(value) else None


def _growing(point: NumberDataPoint) -> float | None:
    value = _finite(point)
    return value if value is not None and value >= 0 else None


def _summed(of: Callable[[Any], Distribution | None]) -> Callable[[Any], Distribution | None]:
    def read(point: Any) -> Distribution | None:
        distribution = of(point)
        return distribution if distribution is not None and isfinite(distribution.summed) else None

    return read


class _Form(NamedTuple):
    kind: Kind
    mode: Mode
    """The mode where it is not a delta."""
    read: Callable[[Any], Value | None]


_FORMS: Final[Mapping[str, _Form]] = MappingProxyType(
    {
        "gauge": _Form(Kind.GAUGE, Mode.LATEST, number),
        "sum": _Form(Kind.COUNTER, Mode.TOTAL, _growing),
        "histogram": _Form(Kind.HISTOGRAM, Mode.TOTAL, _summed(of_histogram)),
        "exponential_histogram": _Form(Kind.SUMMARY, Mode.TOTAL, _summed(of_exponential)),
        "summary": _Form(Kind.SUMMARY, Mode.TOTAL, _summed(of_summary)),
    }
)
_UP_AND_DOWN: Final = _Form(Kind.GAUGE, Mode.LATEST, _finite)
