"""A push as lines of JSON: one for each of its resources, so that Spark reads columns and not text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from kproxy.telemetry.instance import kafka_text
from kproxy.telemetry.receivers.readings import attributes_of, number
from kproxy.telemetry.receivers.resource import MAX_RESOURCES

if TYPE_CHECKING:
    from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

    from kproxy.telemetry.payload import Push

STEP: Final = 100
"""Points, and metrics, between two moments at which others get their turn."""

_NO_VALUE: Final = 1
_TEMPORALITY: Final = {1: "delta", 2: "cumulative"}
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def lines(push: Push, constant: Mapping[str, str]) -> Iterator[bytes | None]:
    """The lines, each with its newline; None is a step in between. ValueError for more resources than may be.

    `constant` columns stand on every line.
    """
    if len(push.metrics.resource_metrics) > MAX_RESOURCES:
        raise ValueError(f"MetricsData with more than {MAX_RESOURCES} resources")
    head = _encode(_client(push) | dict(constant))[:-1]
    for resource_metrics in push.metrics.resource_metrics:
        points: list[str] = []
        metrics = (metric for scope in resource_metrics.scope_metrics for metric in scope.metrics)
        for step, point in enumerate(_points(metrics), 1):
            if point is not None:
                points.append(_encode(point))
            if not step % STEP:
                yield None
        resource = _encode(dict(attributes_of(resource_metrics.resource.attributes)))
        # Half of a surrogate pair, which a client's text may hold, is no UTF-8.
        yield f'{head},"resource":{resource},"metrics":[{",".join(points)}]}}\n'.encode("utf-8", "replace")


def _client(push: Push) -> dict[str, Any]:
    info = push.info
    at = datetime.fromtimestamp(push.received_at, UTC)
    return {
        "received_at": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "client_instance_id": kafka_text(info.client_instance_id),
        "client_id": info.client_id,
        "client_software_name": info.software_name,
        "client_software_version": info.software_version,
        "client_source_address": info.source_address,
        "client_source_port": info.source_port,
        "terminating": push.terminating,
    }


def _points(metrics: Iterator[Metric]) -> Iterator[dict[str, Any] | None]:
    for metric in metrics:
        yield None
        form = metric.WhichOneof("data")
        if form is None:
            continue
        data = getattr(metric, form)
        described = {
            "name": metric.name,
            "kind": form,
            "unit": metric.unit,
            "temporality": _TEMPORALITY.get(getattr(data, "aggregation_temporality", 0)),
            "monotonic": data.is_monotonic if form == "sum" else None,
        }
        value = _VALUES[form]
        for point in data.data_points:
            if not point.flags & _NO_VALUE:
                yield described | _times(point) | value(point)


def _times(point: Any) -> dict[str, Any]:
    return {
        "start_unix_nano": point.start_time_unix_nano or None,
        "unix_nano": point.time_unix_nano or None,
        "attributes": dict(attributes_of(point.attributes)),
    }


def _finite(value: float | None) -> float | None:
    # JSON has neither NaN nor infinity.
    return value if value is not None and isfinite(value) else None


def _numeric(point: Any) -> dict[str, Any]:
    return {"value": _finite(number(point))}


def _counted(point: Any) -> dict[str, Any]:
    return {"count": point.count, "sum": _finite(point.sum)}


def _histogram(point: Any) -> dict[str, Any]:
    bounds = [_finite(bound) for bound in point.explicit_bounds]
    return _counted(point) | {"bounds": bounds, "buckets": list(point.bucket_counts)}


def _exponential(point: Any) -> dict[str, Any]:
    sides = {"positive": point.positive, "negative": point.negative}
    counts = {side: {"offset": each.offset, "buckets": list(each.bucket_counts)} for side, each in sides.items()}
    return _counted(point) | {"scale": point.scale, "zero_count": point.zero_count} | counts


def _summary(point: Any) -> dict[str, Any]:
    quantiles = [{"quantile": _finite(each.quantile), "value": _finite(each.value)} for each in point.quantile_values]
    return _counted(point) | {"quantiles": quantiles}


_VALUES: Final = {
    "gauge": _numeric,
    "sum": _numeric,
    "histogram": _histogram,
    "exponential_histogram": _exponential,
    "summary": _summary,
}
