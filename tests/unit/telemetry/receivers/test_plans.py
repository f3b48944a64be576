"""kproxy.telemetry.receivers.plan: whose numbers wait for being settled, and when plans go."""

from __future__ import annotations

from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.telemetry.layout import words
from kproxy.telemetry.receivers.labels import Kind
from kproxy.telemetry.receivers.plan import Plans, Step
from kproxy.telemetry.receivers.series import Family, Group, Point, Source
from kproxy.telemetry.subscription import ClientInfo
from tests.unit.telemetry.receivers.pushes import client, gauge, metrics, total


def pushed(sent: float, age: float = 1.0) -> bytes:
    """A payload of a counter and a gauge."""
    encoded: bytes = metrics(total("sent", sent), gauge("age", age)).SerializeToString()
    return encoded


def planned(plans: Plans, info: ClientInfo) -> tuple[Source, Point]:
    """A client of which one push was taken by steps, and its point that counts."""
    payload = pushed(1.0)
    source = Source((info.client_instance_id, ""), Group(""), 0.0, 0.0)
    points = [
        Point(Family(name, name, kind, 1.0, ""), (), "") for name, kind in (("sent", Kind.COUNTER), ("age", Kind.GAUGE))
    ]
    for point in points:
        point.values[source] = 1.0
        source.points[point] = 0.0
    known = words(payload)
    assert known is not None
    steps = [Step(source, point, adds, 1.0) for point, adds in zip(points, (True, False), strict=True)]
    plans.make(info, known, payload, steps)
    return source, points[0]


def take(plans: Plans, info: ClientInfo, payload: bytes, now: float = 1.0) -> tuple[Source, int] | None:
    """A push, as a receiver hands it over."""
    return plans.take(info, words(payload), payload, now)


def test_who_has_a_plan_is_told() -> None:
    """With the number of what was invalid; other clients and other metrics have none."""
    plans = Plans()
    source, _ = planned(plans, client(1))
    assert take(plans, client(1), pushed(2.0)) == (source, 0)
    assert take(plans, client(1), pushed(-2.0)) == (source, 1)
    assert take(plans, client(2), pushed(2.0)) is None
    assert take(plans, client(1), metrics(gauge("other", 1.0)).SerializeToString()) is None


def test_what_cannot_have_a_plan() -> None:
    """Of a push of nothing there is none, nor where a point was not taken."""
    plans, payload = Plans(), MetricsData().SerializeToString()
    known = words(payload)
    assert known is not None
    for taken in ([], [None]):
        plans.make(client(), known, payload, taken)
        assert take(plans, client(), payload) is None


def test_settling_takes_one_step_a_client() -> None:
    """For those that have pushed since; in between, others may be settled apart."""
    plans = Plans()
    counted = {number: planned(plans, client(number)) for number in (1, 2, 3)}
    for number in (1, 2, 2):
        take(plans, client(number), pushed(5.0))
    plans.settle(client(1).client_instance_id)
    source, point = counted[1]
    assert (point.values[source], source.points[point]) == (6.0, 1.0)
    assert len(list(plans.settling())) == 1
    assert [point.values[source] for source, point in counted.values()] == [6.0, 11.0, 1.0]
    assert list(plans.settling()) == []


def test_a_plan_that_goes_leaves_nothing_unsettled() -> None:
    """What was taken by it is where its points are; who has none has nothing to settle."""
    plans, info = Plans(), client()
    source, point = planned(plans, info)
    take(plans, info, pushed(5.0))
    for _ in range(2):
        plans.drop(info.client_instance_id)
        assert point.values[source] == 6.0
    assert list(plans.settling()) == []
    assert take(plans, info, pushed(5.0)) is None
