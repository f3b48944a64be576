"""Accumulated values are the same, whether a push goes by a plan or is read anew."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, MetricsData

from kproxy.telemetry.layout import template_of
from kproxy.telemetry.receivers.accumulate import Accumulator
from tests.unit.telemetry.receivers.pushes import CUMULATIVE, DELTA, client, gauge, metrics, total

EXPIRY = 60.0
NUMBERS = st.one_of(st.integers(-2, 9), st.floats(width=32))
NAMES = st.sampled_from(["a", "b", "a.ns"])
TOPICS = st.sampled_from(["x", "y"])


@st.composite
def measured(draw: st.DrawFn) -> Metric:
    """A gauge or a sum of any kind."""
    name, topic, value = draw(NAMES), draw(TOPICS), draw(NUMBERS)
    if draw(st.booleans()):
        return gauge(name, value, topic=topic)
    temporality = draw(st.sampled_from([DELTA, DELTA, CUMULATIVE]))
    return total(name, value, temporality=temporality, monotonic=draw(st.integers(0, 4)) > 0, topic=topic)


def renumbered(data: MetricsData, numbers: Sequence[float]) -> MetricsData:
    """The same metrics with other numbers, each of its kind."""
    other = MetricsData()
    other.CopyFrom(data)
    for resource_metrics, number in zip(other.resource_metrics, numbers, strict=False):
        for metric in resource_metrics.scope_metrics[0].metrics:
            for point in [*metric.gauge.data_points, *metric.sum.data_points]:
                if point.HasField("as_int"):
                    point.as_int = 0 if isnan(number) or abs(number) > 1e9 else int(number)
                else:
                    point.as_double = number
    return other


PUSHES = st.lists(
    st.tuples(
        st.lists(measured(), min_size=1, max_size=3),
        st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=3, max_size=5),
        st.integers(1, 2),
        st.floats(0, 2 * EXPIRY),
    ),
    max_size=4,
)


def state(accumulator: Accumulator) -> object:
    """Return everything that is exported of an accumulator."""
    return (
        accumulator.tally,
        accumulator.sources,
        {
            key: {
                point.text: {source.key: repr(value) for source, value in point.values.items()}
                for point in family.points.values()
            }
            for key, family in accumulator.families.items()
        },
    )


COUNTED = [total("a", 0, temporality=DELTA, monotonic=True, topic=topic) for topic in "xy"]
REFUSED_LAST = [
    ([*COUNTED, gauge("a", 0.0, topic="x")], [[0, 0, 0], [0, 0, 0], [0, -1, 0]], 1, 88.0),
    ([gauge("b", 1.0, topic="x")], [[0, 0, 0]] * 3, 1, 31.0),
]
REFUSED_TWICE = [([*COUNTED, gauge("a", 0.0, topic="x")], [[0, 0, 0]] * 2 + [[0, -1, 0]] * 3, 1, 120.0)]
"""A number that no counter takes does not keep its series: the series goes when its last good number is too old."""


@example(REFUSED_TWICE, False)
@example(REFUSED_LAST, True)
@given(PUSHES, st.booleans())
def test_a_plan_changes_nothing(
    pushes: list[tuple[list[Metric], list[list[float]], int, float]], each_apart: bool
) -> None:
    """Any pushes of any clients, each repeated with other numbers, and any time in between."""
    planned, plain, now = Accumulator(expiry=EXPIRY), Accumulator(expiry=EXPIRY), 0.0
    for measured_once, numbers, number, later in pushes:
        data = metrics(*measured_once)
        if each_apart:
            data = MetricsData()
            for metric in measured_once:
                data.MergeFrom(metrics(metric, resource={"client_rack": "r"}))
        for each in numbers:
            now += later / len(numbers)
            pushed, info = renumbered(data, each), client(number)
            for accumulator in (planned, plain):
                accumulator.expire(now)
            payload = pushed.SerializeToString()
            if not planned.again(info, template_of(payload), payload, now):
                list(planned.steps(info, pushed, now, payload, template_of(payload)))
            list(plain.steps(info, pushed, now))
    assert state(planned) == state(plain)
