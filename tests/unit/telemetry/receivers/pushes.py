"""Pushes as clients send them, made of OTLP's own types."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    SummaryDataPoint,
)

from kproxy.telemetry.layout import template_of
from kproxy.telemetry.payload import Push
from kproxy.telemetry.subscription import ClientInfo

DELTA, CUMULATIVE = 1, 2


def client(number: int = 1, *, client_id: str | None = "app", version: str | None = "4.1.0") -> ClientInfo:
    """A Java client with an instance id of its own."""
    return ClientInfo(UUID(int=0xC0FFEE + number), client_id, "apache-kafka-java", version, "10.0.0.1", 40000 + number)


def metrics(*each: Metric, resource: Mapping[str, str] | None = None) -> MetricsData:
    """The metrics of one resource."""
    data = MetricsData()
    of_resource = data.resource_metrics.add()
    for key, value in (resource or {}).items():
        pair = of_resource.resource.attributes.add(key=key)
        pair.value.string_value = value
    of_resource.scope_metrics.add().metrics.extend(each)
    return data


def push(*each: Metric, info: ClientInfo | None = None, resource: Mapping[str, str] | None = None) -> Push:
    """A push of metrics."""
    payload = metrics(*each, resource=resource).SerializeToString()
    return Push(info or client(), 1_700_000_000.5, payload, template=template_of(payload))


def gauge(name: str, value: float | None, **attributes: str) -> Metric:
    """A gauge of one point; None is a point without a value."""
    metric = Metric(name=name)
    point = metric.gauge.data_points.add()
    if value is not None:
        point.as_double = value
    _attribute(point, attributes)
    return metric


def total(
    name: str, value: float, *, temporality: int = DELTA, monotonic: bool = True, start: int = 0, **attributes: str
) -> Metric:
    """A sum of one point, an integer where `value` is one."""
    metric = Metric(name=name)
    metric.sum.aggregation_temporality = temporality  # type: ignore[assignment]
    metric.sum.is_monotonic = monotonic
    point = metric.sum.data_points.add(start_time_unix_nano=start, time_unix_nano=start + 1)
    if isinstance(value, int):
        point.as_int = value
    else:
        point.as_double = value
    _attribute(point, attributes)
    return metric


def histogram(
    name: str,
    bounds: list[float],
    buckets: list[int],
    summed: float,
    *,
    temporality: int = DELTA,
    start: int = 0,
    **attributes: str,
) -> Metric:
    """A histogram of one point."""
    metric = Metric(name=name)
    metric.histogram.aggregation_temporality = temporality  # type: ignore[assignment]
    point = metric.histogram.data_points.add(
        count=sum(buckets), sum=summed, explicit_bounds=bounds, bucket_counts=buckets, start_time_unix_nano=start
    )
    _attribute(point, attributes)
    return metric


def summary(name: str, count: int, summed: float, quantiles: Mapping[float, float], **attributes: str) -> Metric:
    """A summary of one point."""
    metric = Metric(name=name)
    point = metric.summary.data_points.add(count=count, sum=summed)
    for quantile, value in quantiles.items():
        point.quantile_values.add(quantile=quantile, value=value)
    _attribute(point, attributes)
    return metric


def _attribute(point: NumberDataPoint | HistogramDataPoint | SummaryDataPoint, attributes: Mapping[str, str]) -> None:
    for key, value in attributes.items():
        point.attributes.add(key=key).value.string_value = value
