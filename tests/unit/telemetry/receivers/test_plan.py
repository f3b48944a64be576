"""kproxy.telemetry.receivers.plan: pushes by a plan have the same result as pushes that are read."""

from __future__ import annotations

from math import inf, nan

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, MetricsData

from kproxy.telemetry.layout import template_of
from kproxy.telemetry.receivers.accumulate import Accumulator
from kproxy.telemetry.receivers.plan import MAX_POINTS
from kproxy.telemetry.receivers.shares import Limits
from kproxy.telemetry.subscription import ClientInfo
from tests.unit.telemetry.receivers.pushes import CUMULATIVE, client, gauge, histogram, metrics, summary, total
from tests.unit.telemetry.receivers.test_accumulate import nothing_left, samples


def push(accumulator: Accumulator, data: MetricsData, info: ClientInfo | None = None, now: float = 0.0) -> bool:
    """Add up a push as the receiver does; return whether it went by a plan."""
    payload, info = data.SerializeToString(), info or client()
    known = template_of(payload)
    if accumulator.again(info, known, payload, now):
        return True
    list(accumulator.steps(info, data, now, payload, known))
    return False


def usual(sent: float = 1, age: float = 2.0, topic: str = "x") -> MetricsData:
    """What a client pushes each time: a delta of nanoseconds, which has a factor, and a gauge."""
    return metrics(total("sent.ns.total", sent, topic=topic), gauge("age", age))


def test_the_second_like_push_goes_by_a_plan() -> None:
    """Sums and gauges are as without one."""
    accumulator = Accumulator()
    assert [push(accumulator, usual(sent, age)) for sent, age in ((5, 1.0), (7, nan), (11, 3.0), (13, 2.0))] == [
        False,
        True,
        True,
        True,
    ]
    found = samples(accumulator)
    assert list(found["sent_seconds_total"].values()) == [pytest.approx(36e-9)]
    assert list(found["age"].values()) == [2.0]


def test_what_was_taken_is_settled_once() -> None:
    """When the families are read: one step for each client that has pushed since, and none the next time."""
    accumulator = Accumulator()
    for number in (1, 2, 3):
        for _ in range(4):
            push(accumulator, usual(), client(number))
    push(accumulator, usual(topic="y"), client(3))
    assert [len(list(accumulator.settling())) for _ in range(2)] == [2, 0]
    push(accumulator, usual(), client(1))
    assert len(list(accumulator.settling())) == 1
    assert sum(samples(accumulator)["sent_seconds_total"].values()) == pytest.approx(14e-9)


def test_what_was_taken_outlives_its_client() -> None:
    """A client whose labels others share leaves what it counted, even if the families were never read."""
    accumulator = Accumulator(labels=["client_id"], expiry=60.0)
    for _ in range(4):
        push(accumulator, usual(3), client(1))
    push(accumulator, usual(2), client(2), 50.0)
    push(accumulator, usual(3), client(2), 90.0)
    accumulator.expire(100.0)
    assert accumulator.sources == 1
    assert list(samples(accumulator)["sent_seconds_total"].values()) == [pytest.approx(17e-9)]


def test_other_templates_are_read_anew() -> None:
    """A push with another topic of the same length, or another client id, has no plan."""
    accumulator = Accumulator()
    for _ in range(3):
        push(accumulator, usual())
    assert not push(accumulator, usual(topic="y"))
    assert not push(accumulator, usual(), client(client_id="ape"))
    assert len(samples(accumulator)["sent_seconds_total"]) == 3


def test_no_plan_without_a_template() -> None:
    """A push without a template makes no plan and uses none."""
    accumulator = Accumulator()
    data = usual()
    payload = data.SerializeToString()
    for _ in range(2):
        list(accumulator.steps(client(), data, 0.0, payload))
    assert not accumulator.again(client(), template_of(payload), payload, 0.0)
    list(accumulator.steps(client(), data, 0.0, payload, template_of(payload)))
    assert not accumulator.again(client(), None, payload, 0.0)
    assert accumulator.again(client(), template_of(payload), payload, 0.0)


def test_each_client_has_its_own() -> None:
    """The same bytes of another instance have another plan."""
    accumulator = Accumulator()
    for _ in range(3):
        push(accumulator, usual(2), client(1))
        push(accumulator, usual(5), client(2))
    assert sorted(samples(accumulator)["sent_seconds_total"].values()) == [pytest.approx(6e-9), pytest.approx(15e-9)]


@pytest.mark.parametrize("bad", [-1.0, nan, inf])
def test_a_counter_that_cannot_be(bad: float) -> None:
    """It is counted as invalid and not added."""
    accumulator = Accumulator()
    for value in (1.0, 1.0, bad, 1.0):
        push(accumulator, metrics(total("t", value)))
    assert accumulator.tally.invalid == 1
    assert list(samples(accumulator)["t_total"].values()) == [3.0]


@pytest.mark.parametrize(
    "each",
    [
        (total("t", 1, temporality=CUMULATIVE),),
        (total("t", 1.0, monotonic=False),),
        (histogram("h", [1.0], [1, 2], 3.0),),
        (summary("s", 1, 2.0, {0.5: 1.0}),),
        (gauge("g", 1.0), gauge("g", 2.0)),
        (gauge("g", 1.0), gauge("", 1.0)),
        (total("t", 1), total("t", -1)),
        (gauge("a.b", 1.0), gauge("a-b", 2.0)),
        (Metric(name="empty"),),
        (),
    ],
    ids=lambda each: "-".join(metric.name for metric in each),
)
def test_what_no_plan_is_made_for(each: tuple[Metric, ...]) -> None:
    """Such a push is read each time, and counts each time."""
    once, again = Accumulator(), Accumulator()
    for _ in range(4):
        assert not push(again, metrics(*each))
        list(once.steps(client(), metrics(*each), 0.0))
    assert samples(once) == samples(again)
    assert once.tally == again.tally


def test_several_resources() -> None:
    """Metrics of resources with different labels are series of several sources, and are read each time."""
    accumulator = Accumulator(labels=("rack",))
    data = metrics(gauge("g", 1.0), resource={"rack": "a"})
    data.MergeFrom(metrics(gauge("g", 2.0), resource={"rack": "b"}))
    assert [push(accumulator, data) for _ in range(4)] == [False] * 4
    assert len(samples(accumulator)["g"]) == 2


def test_one_resource_named_again() -> None:
    """As Java repeats it for every metric: one source, and a plan."""
    accumulator = Accumulator(labels=("rack",))
    data = metrics(gauge("g", 1.0), resource={"rack": "a"})
    data.MergeFrom(metrics(total("t", 2), resource={"rack": "a"}))
    assert [push(accumulator, data) for _ in range(3)] == [False, True, True]
    assert accumulator.sources == 1
    assert list(samples(accumulator)["t_total"].values()) == [6]


def test_large_pushes_are_taken_in_steps() -> None:
    """There is no plan for too many points: adding them up at once would take too long."""
    accumulator = Accumulator()
    large = metrics(*[gauge("g", 1.0, partition=str(each + 1000)) for each in range(MAX_POINTS + 1)])
    assert [push(accumulator, large) for _ in range(3)] == [False] * 3


def test_series_that_go_take_the_plan_with_them() -> None:
    """An expired series begins anew with the next push."""
    accumulator = Accumulator(expiry=60)
    for now in (0.0, 1.0, 2.0):
        push(accumulator, usual(), now=now)
    accumulator.expire(100.0)
    assert nothing_left(accumulator)
    assert not push(accumulator, usual(), now=101.0)
    assert list(samples(accumulator)["sent_seconds_total"].values()) == [pytest.approx(1e-9)]


def test_pushes_by_a_plan_keep_their_series() -> None:
    """They do not expire, but other series of the client do."""
    accumulator = Accumulator(expiry=60)
    push(accumulator, metrics(gauge("gone", 1.0)))
    for now in range(0, 200, 20):
        push(accumulator, usual(), now=float(now))
    assert set(samples(accumulator)) == {"sent_seconds_total", "age"}
    accumulator.expire(239.0)
    assert accumulator.sources == 1


def test_a_full_accumulator_makes_no_plan_for_what_is_left_out() -> None:
    """So the series is accepted when there is room again."""
    accumulator = Accumulator(limits=Limits(series=1))
    for _ in range(3):
        assert not push(accumulator, usual())
    assert accumulator.tally.full == 3


def test_a_layout_that_is_forgotten_ends_its_plan() -> None:
    """Layouts are kept in bounded memory: the push is added up point by point, and nothing is lost or misread."""
    accumulator = Accumulator()
    assert [push(accumulator, usual()) for _ in range(3)] == [False, True, True]
    known, payload = template_of(usual().SerializeToString()), usual(5).SerializeToString()
    assert known is not None
    known.layout.forget()
    assert not accumulator.again(client(), known, payload, 0.0)
    list(accumulator.steps(client(), usual(5), 0.0, payload, known))
    assert not accumulator.again(client(), known, payload, 0.0)
    assert list(samples(accumulator)["sent_seconds_total"].values()) == [pytest.approx(8e-9)]
