"""Metrics as clients push them: every kind of OTLP's data, compressed by every codec."""

from __future__ import annotations

from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from tests.unit.telemetry.compressed import COMPRESS

_NOW = 1_760_000_000_000_000_000


def metrics(value: int = 1) -> bytes:
    """Return OTLP with a metric of each kind, in two resources."""
    data = MetricsData()
    for name in ("java", "librdkafka"):
        one = data.resource_metrics.add()
        one.resource.attributes.add(key="group_id").value.string_value = name
        one.resource.attributes.add(key="client_id").value.string_value = "another's"
        scope = one.scope_metrics.add()
        scope.scope.name = "org.apache.kafka"
        for kind in ("sum", "gauge"):
            points = getattr(scope.metrics.add(name=f"org.apache.kafka.{name}.{kind}", unit="ms"), kind)
            points.data_points.add(as_double=value + 0.5, time_unix_nano=_NOW, start_time_unix_nano=_NOW - 9)
            points.data_points.add(as_int=value, time_unix_nano=_NOW).attributes.add(key="t").value.int_value = 4
        scope.metrics[0].sum.aggregation_temporality = 1 + value % 2
        scope.metrics[0].sum.is_monotonic = True
        _distributions(scope, value)
    encoded: bytes = data.SerializeToString()
    return encoded


def _distributions(scope: object, value: int) -> None:
    add = scope.metrics.add  # type: ignore[attr-defined]
    histogram = add(name="histogram", unit="s").histogram
    histogram.aggregation_temporality = 1 + value % 2
    histogram.data_points.add(count=3, sum=4.5, bucket_counts=[1, 2, value], explicit_bounds=[0.5, 1.0])
    exponential = add(name="exponential").exponential_histogram.data_points.add(count=3, scale=2, zero_count=1)
    exponential.positive.bucket_counts.extend([1, value])
    summary = add(name="summary").summary.data_points.add(count=2, sum=value)
    summary.quantile_values.add(quantile=0.99, value=7.5)


def payloads() -> list[tuple[int, bytes]]:
    """Return (codec, compressed payload), the numbers different in each."""
    found = [(number, compress(metrics(at))) for at, (number, compress) in enumerate(COMPRESS.values())]
    return [*found, (0, b""), (0, metrics(7) + metrics(8)), (4, COMPRESS["zstd"][1](bytes(2000)))]
