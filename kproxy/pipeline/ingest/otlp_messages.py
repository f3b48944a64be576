"""OTLP read message by message: every kind of metric, into the rows that the `files` receiver writes as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

Row = dict[str, Any]

_NO_VALUE: Final = 1  # DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK
_MAX_LONG: Final = (1 << 63) - 1
_TEMPORALITY: Final = {1: "delta", 2: "cumulative"}


def resources(payload: bytes) -> list[tuple[dict[str, str], list[Row]]]:
    """Return the attributes and the points of each different resource; raise google's DecodeError."""
    return read(payload)[0]


def read(payload: bytes) -> tuple[list[tuple[dict[str, str], list[Row]]], list[str]]:
    """Return `resources`, and the names of metrics of a kind that OTLP did not have when this was written."""
    data = MetricsData.FromString(payload)
    return _resources(data), [metric.name for metric in _metrics(data) if _is_unknown(metric)]


def _metrics(data: MetricsData) -> Iterator[Metric]:
    return (metric for one in data.resource_metrics for scope in one.scope_metrics for metric in scope.metrics)


def _is_unknown(metric: Metric) -> bool:
    """True for a metric with data of an unknown kind; one without any data is none."""
    return metric.WhichOneof("data") is None and len(UnknownFieldSet(metric)) > 0


def _resources(data: MetricsData) -> list[tuple[dict[str, str], list[Row]]]:
    found: dict[tuple[tuple[str, str], ...], list[Row]] = {}
    for one in data.resource_metrics:
        rows = found.setdefault(tuple(_attributes(one.resource.attributes).items()), [])
        rows.extend(row for scope in one.scope_metrics for metric in scope.metrics for row in _points(metric))
    return [(dict(key), rows) for key, rows in found.items()]


def attributes(resource: bytes) -> dict[str, str]:
    """Return the attributes of a Resource message; raise google's DecodeError."""
    return _attributes(Resource.FromString(resource).attributes)


def _points(metric: Metric) -> Iterator[Row]:
    form = metric.WhichOneof("data")
    if form is None:
        return
    data = getattr(metric, form)
    about = {
        "name": metric.name,
        "kind": form,
        "unit": metric.unit,
        "temporality": _TEMPORALITY.get(getattr(data, "aggregation_temporality", 0)),
        "monotonic": data.is_monotonic if form == "sum" else None,
    }
    for point in data.data_points:
        if not point.flags & _NO_VALUE:
            times = {
                "start_unix_nano": _time(point.start_time_unix_nano),
                "unix_nano": _time(point.time_unix_nano),
                "attributes": _attributes(point.attributes),
            }
            yield about | times | _VALUES[form](point)


def _time(nanoseconds: int) -> int | None:
    """Return a time that fits into Spark's long, which ends in 2262; others are none."""
    return nanoseconds if 0 < nanoseconds <= _MAX_LONG else None


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, str]:
    return dict(sorted((pair.key, _text(pair.value)) for pair in pairs))


def _text(value: AnyValue) -> str:
    form = value.WhichOneof("value")
    if form == "string_value":
        return value.string_value
    if form == "bool_value":
        return "true" if value.bool_value else "false"
    return str(getattr(value, form)) if form in ("int_value", "double_value") else ""


def _number(point: Any) -> Row:
    form = point.WhichOneof("value")
    return {"value": None if form is None else float(getattr(point, form))}


def _counted(point: Any) -> Row:
    return {"count": min(point.count, _MAX_LONG), "sum": point.sum}


def _long(counts: Iterable[int]) -> list[int]:
    return [min(count, _MAX_LONG) for count in counts]


def _histogram(point: Any) -> Row:
    return _counted(point) | {"bounds": list(point.explicit_bounds), "buckets": _long(point.bucket_counts)}


def _exponential(point: Any) -> Row:
    sides = {"positive": point.positive, "negative": point.negative}
    counts = {side: {"offset": each.offset, "buckets": _long(each.bucket_counts)} for side, each in sides.items()}
    return _counted(point) | {"scale": point.scale, "zero_count": min(point.zero_count, _MAX_LONG)} | counts


def _summary(point: Any) -> Row:
    quantiles = [{"quantile": each.quantile, "value": each.value} for each in point.quantile_values]
    return _counted(point) | {"quantiles": quantiles}


_VALUES: Final[Mapping[str, Callable[[Any], Row]]] = MappingProxyType(
    {
        "gauge": _number,
        "sum": _number,
        "histogram": _histogram,
        "exponential_histogram": _exponential,
        "summary": _summary,
    }
)
