"""kproxy.telemetry.receivers.resource: one resource, and the metrics of all."""

from __future__ import annotations

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.telemetry.receivers.resource import MAX_SPANS, cut
from tests.unit.telemetry.receivers.pushes import gauge, metrics


def payload(*values: float, rack: str = "r1", name: str = "g") -> bytes:
    """A resource for each value, as Java's clients write it."""
    return b"".join(metrics(gauge(name, value), resource={"rack": rack}).SerializeToString() for value in values)


def joined(data: bytes) -> MetricsData | None:
    """The result, as one ResourceMetrics."""
    found = cut(data)
    if found is None:
        return None
    fields = found.resource + b"".join(found.scope_metrics.unpack(data))
    assert len(fields) == found.size
    merged = MetricsData()
    merged.resource_metrics.add().MergeFromString(fields)
    return merged


def values(merged: MetricsData | None) -> list[float]:
    """The values of all gauges, in their order."""
    assert merged is not None
    [only] = merged.resource_metrics
    points = [metric.gauge.data_points for scope in only.scope_metrics for metric in scope.metrics]
    return [point.as_double for each in points for point in each]


def test_a_resource_that_is_repeated_for_each_metric_is_joined() -> None:
    """All metrics are there, in their order; also in the next payload of the size, and in another client's."""
    for rack, numbers in (("r1", (1.0, 2.0, 3.0)), ("r1", (4.0, 5.0, 6.0)), ("r2", (7.0, 8.0, 9.0))):
        merged = joined(payload(*numbers, rack=rack))
        assert values(merged) == list(numbers)
        assert merged is not None
        assert merged.resource_metrics[0].resource.attributes[0].value.string_value == rack


def test_resources_that_differ_stay_apart() -> None:
    """Whether it is the first payload of its size or not."""
    mixed = payload(1.0, rack="r1") + payload(2.0, rack="r2")
    assert cut(mixed) is None
    assert cut(payload(1.0, 2.0)) is not None
    assert cut(mixed) is None


def test_other_lengths_in_the_same_size() -> None:
    """The struct of one payload does not fit another of the same size, which is cut anew."""
    one = payload(1.0, name="a" * 10) + payload(2.0, name="b" * 20)
    other = payload(1.0, name="a" * 20) + payload(2.0, name="b" * 10)
    assert len(one) == len(other)
    for data in (one, other, one):
        assert values(joined(data)) == [1.0, 2.0]


def test_long_lengths() -> None:
    """Lengths of two and three bytes."""
    for size in (200, 20_000):
        assert values(joined(payload(1.0, 2.0, name="n" * size, rack="r" * size))) == [1.0, 2.0]


def test_more_resources_than_are_cut() -> None:
    """There is a bound, since the size of a `Cut` grows with them."""
    assert cut(payload(1.0) * MAX_SPANS) is not None
    assert cut(payload(1.0) * (MAX_SPANS + 1)) is None


def with_schema() -> bytes:
    """A ResourceMetrics with another field after its ScopeMetrics."""
    data = metrics(gauge("g", 1.0))
    data.resource_metrics[0].schema_url = "https://x"
    encoded: bytes = data.SerializeToString()
    return encoded


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x0a",
        b"\x0a\xff\xff\xff\xff\xff\xff",
        b"\x0a\x02\x0a\x00",  # no metrics
        b"\x0a\x00",
        b"\x0a\x04\x12\x00\x0a\x00",  # the resource last
        b"\x12\x04\x0a\x00\x12\x00",  # no ResourceMetrics
        b"\x0a\x04\x0a\x00\x12\x09",  # ends within
        with_schema(),
    ],
)
def test_what_is_not_cut(data: bytes) -> None:
    """All other payloads are left as they are; nothing is raised."""
    assert cut(data) is None
