"""kproxy.telemetry.receivers.otlp_points: every form of OTLP's metrics as plain values."""

from __future__ import annotations

from math import inf, nan

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

from kproxy.telemetry.receivers.labels import Kind
from kproxy.telemetry.receivers.otlp_points import Distribution, Mode, PointReading, reading, text_of
from tests.unit.telemetry.receivers.pushes import CUMULATIVE, DELTA, gauge, histogram, summary, total


def read(metric: Metric) -> tuple[Kind, Mode, list[PointReading]]:
    """The reading with its points in a list."""
    found = reading(metric)
    assert found is not None
    return found.kind, found.mode, list(found.points)


def exponential() -> Metric:
    """An exponential histogram, cumulative."""
    metric = Metric(name="e")
    metric.exponential_histogram.aggregation_temporality = CUMULATIVE  # type: ignore[assignment]
    metric.exponential_histogram.data_points.add(count=2, sum=3.0)
    return metric


@pytest.mark.parametrize(
    ("metric", "kind", "mode", "value"),
    [
        (gauge("g", 1.5), Kind.GAUGE, Mode.LATEST, 1.5),
        (gauge("g", inf), Kind.GAUGE, Mode.LATEST, inf),
        (gauge("g", None), Kind.GAUGE, Mode.LATEST, None),
        (total("t", 3), Kind.COUNTER, Mode.CHANGE, 3.0),
        (total("t", 3.5, temporality=CUMULATIVE), Kind.COUNTER, Mode.TOTAL, 3.5),
        (total("t", -1.0), Kind.COUNTER, Mode.CHANGE, None),
        (total("t", nan), Kind.COUNTER, Mode.CHANGE, None),
        (total("t", -1.0, monotonic=False), Kind.GAUGE, Mode.CHANGE, -1.0),
        (total("t", 2.0, monotonic=False, temporality=CUMULATIVE), Kind.GAUGE, Mode.LATEST, 2.0),
        (total("t", inf, monotonic=False), Kind.GAUGE, Mode.CHANGE, None),
        (histogram("h", [1.0], [1, 2], 5.0), Kind.HISTOGRAM, Mode.CHANGE, Distribution(3, 5.0, (1.0,), (1, 2))),
        (
            histogram("h", [], [3], 5.0, temporality=CUMULATIVE),
            Kind.HISTOGRAM,
            Mode.TOTAL,
            Distribution(3, 5.0, (), (3,)),
        ),
        (histogram("h", [1.0], [3], 5.0), Kind.HISTOGRAM, Mode.CHANGE, None),
        (histogram("h", [1.0], [1, 2], nan), Kind.HISTOGRAM, Mode.CHANGE, None),
        (summary("s", 1, 2.0, {0.5: 2.0}), Kind.SUMMARY, Mode.TOTAL, Distribution(1, 2.0, quantiles=((0.5, 2.0),))),
        (exponential(), Kind.SUMMARY, Mode.TOTAL, Distribution(2, 3.0)),
    ],
)
def test_forms(metric: Metric, kind: Kind, mode: Mode, value: object) -> None:
    """Kind, mode and value of each form; None for a value that the kind cannot have."""
    assert read(metric) == (kind, mode, [PointReading(0, (), value)])  # type: ignore[arg-type]


def test_attributes_and_start() -> None:
    """Attributes in the order of their names, so that a client that shuffles them has one series."""
    point = read(total("t", 1, start=5, topic="x", partition="0"))[2][0]
    assert point == PointReading(5, (("partition", "0"), ("topic", "x")), 1.0)


def test_what_says_nothing() -> None:
    """A metric without data, and a point that is marked as having no value."""
    assert reading(Metric(name="empty")) is None
    metric = total("t", 1)
    metric.sum.data_points[0].flags = 1
    assert read(metric) == (Kind.COUNTER, Mode.CHANGE, [])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (AnyValue(string_value="x"), "x"),
        (AnyValue(bool_value=True), "true"),
        (AnyValue(bool_value=False), "false"),
        (AnyValue(int_value=-3), "-3"),
        (AnyValue(double_value=0.5), "0.5"),
        (AnyValue(bytes_value=b"x"), ""),
        (AnyValue(), ""),
    ],
)
def test_values_of_attributes(value: AnyValue, text: str) -> None:
    """Text for the values that have one."""
    assert text_of(value) == text


def test_temporality_names() -> None:
    """The numbers that the code compares with are OTLP's."""
    from opentelemetry.proto.metrics.v1 import metrics_pb2

    assert metrics_pb2.AGGREGATION_TEMPORALITY_DELTA == DELTA
    assert metrics_pb2.AGGREGATION_TEMPORALITY_CUMULATIVE == CUMULATIVE
    assert metrics_pb2.DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK == 1
