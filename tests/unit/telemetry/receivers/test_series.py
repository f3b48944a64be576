"""kproxy.telemetry.receivers.series: values that are added up, and the points of a client."""

from __future__ import annotations

from uuid import UUID

import pytest

from kproxy.telemetry.receivers.labels import Kind
from kproxy.telemetry.receivers.otlp_points import Distribution
from kproxy.telemetry.receivers.series import (
    Family,
    Group,
    Holding,
    Merge,
    Point,
    Source,
    growth,
    merge_of,
    scaled,
    together,
)


def source() -> Source:
    """A client without points."""
    return Source((UUID(int=7), ""), Group(""), Holding("10.0.0.1"), 0.0, 0.0)


def point(name: str = "a") -> Point:
    """A point of a counter."""
    return Point(Family(name, name, Kind.COUNTER, 1.0, ""), (), "", Holding("10.0.0.1"), 0)


def of(count: float) -> Distribution:
    """This many values of one second, in one bucket."""
    return Distribution(counted=count, summed=count, bounds=(), buckets=(count,))


@pytest.mark.parametrize(
    ("name", "merge"),
    [
        ("connection.count", Merge.SUM),
        ("request.latency.avg", Merge.MEAN),
        ("io.ratio", Merge.MEAN),
        ("records.lag.max", Merge.MAX),
        ("metadata.age", Merge.MAX),
        ("lead.min", Merge.MIN),
        ("max", Merge.MAX),
    ],
)
def test_how_gauges_of_several_clients_become_one(name: str, merge: Merge) -> None:
    """By the last word of the name."""
    assert merge_of(name) is merge


def test_numbers_and_distributions_alike() -> None:
    """They are scaled, added and subtracted; one that is less than before began anew."""
    assert (scaled(4.0, 0.5), together(4.0, 1.0), growth(4.0, 6.0), growth(4.0, 3.0)) == (2.0, 5.0, 2.0, 3.0)
    assert scaled(of(4), 0.5) == of(4)._replace(summed=2.0)
    assert (together(of(4), of(1)), growth(of(4), of(6)), growth(of(4), of(3))) == (of(5), of(2), of(3))


def test_growth_since_a_clients_own_start() -> None:
    """All of it the first time and after each start, else the difference; each point by itself."""
    who, one, other = source(), point("a"), point("b")
    grown = [who.growth(one, start, total) for start, total in ((1, 10.0), (1, 15.0), (2, 3.0), (2, 3.0), (2, 1.0))]
    assert grown == [10.0, 5.0, 3.0, 0.0, 1.0]
    assert who.growth(other, 2, 4.0) == 4.0


def test_points_pushed_before() -> None:
    """Not those pushed exactly at the limit."""
    who, points = source(), [point(name) for name in "abc"]
    who.points.update(zip(points, (1.0, 2.0, 3.0), strict=True))
    assert who.pushed_before(2.0) == points[:1]
    assert who.client == UUID(int=7)
