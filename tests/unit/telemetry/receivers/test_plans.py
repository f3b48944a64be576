"""kproxy.telemetry.receivers.plan: which numbers wait to be settled, and when plans are removed."""

from __future__ import annotations

from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.telemetry.layout import template_of
from kproxy.telemetry.receivers.labels import Kind
from kproxy.telemetry.receivers.plan import Plans, Step
from kproxy.telemetry.receivers.series import Family, Group, Holding, Point, Source
from kproxy.telemetry.subscription import ClientInfo
from tests.unit.telemetry.receivers.pushes import client, gauge, metrics, total


def pushed(sent: float, age: float = 1.0) -> bytes:
    """A payload of a counter and a gauge."""
    encoded: bytes = metrics(total("sent", sent), gauge("age", age)).SerializeToString()
    return encoded


def planned(plans: Plans, info: ClientInfo) -> tuple[Source, Point]:
    """A client with one push added up in steps, and the point of its counter."""
    payload = pushed(1.0)
    source = Source((info.client_instance_id, ""), Group(""), Holding("10.0.0.1"), 0.0, 0.0)
    points = [
        Point(Family(name, name, kind, 1.0, ""), (), "", Holding("10.0.0.1"), 0)
        for name, kind in (("sent", Kind.COUNTER), ("age", Kind.GAUGE))
    ]
    for point in points:
        point.values[source] = 1.0
        source.points[point] = 0.0
    known = template_of(payload)
    assert known is not None
    steps = [Step(source, point, adds, 1.0) for point, adds in zip(points, (True, False), strict=True)]
    plans.make(info, known, payload, steps)
    return source, points[0]


def take(plans: Plans, info: ClientInfo, payload: bytes, now: float = 1.0) -> tuple[Source, int] | None:
    """Take a push as a receiver does."""
    return plans.take(info, template_of(payload), payload, now)


def test_the_result_of_a_plan() -> None:
    """The result has the source and the number of invalid values; other clients and other metrics have no plan."""
    plans = Plans()
    source, _ = planned(plans, client(1))
    assert take(plans, client(1), pushed(2.0)) == (source, 0)
    assert take(plans, client(1), pushed(-2.0)) == (source, 1)
    assert take(plans, client(2), pushed(2.0)) is None
    assert take(plans, client(1), metrics(gauge("other", 1.0)).SerializeToString()) is None


def test_what_cannot_have_a_plan() -> None:
    """Neither an empty push nor one with a point that was left out."""
    plans, payload = Plans(), MetricsData().SerializeToString()
    known = template_of(payload)
    assert known is not None
    for taken in ([], [None]):
        plans.make(client(), known, payload, taken)
        assert take(plans, client(), payload) is None


def test_settling_takes_one_step_a_client() -> None:
    """Only for clients that have pushed since; others may be settled singly in between."""
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
    """Its numbers are written to their points; a client without a plan has nothing to settle."""
    plans, info = Plans(), client()
    source, point = planned(plans, info)
    take(plans, info, pushed(5.0))
    for _ in range(2):
        plans.drop(info.client_instance_id)
        assert point.values[source] == 6.0
    assert list(plans.settling()) == []
    assert take(plans, info, pushed(5.0)) is None
