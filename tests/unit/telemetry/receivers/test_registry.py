"""kproxy.telemetry.receivers.registry: what is kept, what is refused, and what is removed together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

from kproxy.telemetry.receivers.labels import DEFAULT_LABELS, MAX_NAME, Kind, Labels
from kproxy.telemetry.receivers.registry import MAX_ATTRIBUTES, MAX_PAIRS, Registry, Tally
from kproxy.telemetry.receivers.series import Point, Source
from kproxy.telemetry.receivers.shares import Limits
from kproxy.telemetry.subscription import ClientInfo
from tests.unit.telemetry.receivers.pushes import client, metrics

BY_VERSION = ("client_software_version",)


def registry(labels: Sequence[str] = DEFAULT_LABELS, *, max_clients: int = 10, max_series: int = 10) -> Registry:
    """An empty registry."""
    chosen = Labels(labels, attributes=None, constant={})
    return Registry(chosen, Limits(clients=max_clients, series=max_series, address_share=1.0))


def source(
    of: Registry,
    info: ClientInfo | None = None,
    now: float = 0.0,
    resource: Mapping[str, str] = MappingProxyType({}),
) -> Source:
    """A client that is not refused."""
    found = of.source(info or client(), metrics(resource=resource).resource_metrics[0].resource.attributes, now)
    assert found is not None
    return found


def put(of: Registry, who: Source, name: str, value: float = 1.0, kind: Kind = Kind.COUNTER, topic: str = "x") -> Point:
    """A point that is not refused, with a value of the client."""
    family = of.family(Metric(name=name), kind)
    assert family is not None
    point = of.admit(who, family, (("topic", topic),))
    assert point is not None
    point.values[who] = value
    who.points[point] = who.touched
    return point


def test_a_client_is_one_source_as_long_as_its_labels_stay() -> None:
    """Another group id is another source, of a group of its own; clients that share their labels share one."""
    of = registry(labels=("client_software_version", "group_id"))
    first, second = source(of, client(1)), source(of, client(2))
    assert source(of, client(1), now=3.0) is first
    assert (first.group is second.group, first.group.sources) == (True, 2)
    moved = source(of, client(1), resource={"group_id": "g"})
    assert moved.group.labels == 'client_software_version="4.1.0",group_id="g",'
    assert (first.client, moved.client) == (client(1).client_instance_id,) * 2


def test_clients_are_in_the_order_of_their_last_push() -> None:
    """The oldest is first, whichever came first."""
    of = registry()
    first, second, third = (source(of, client(number), now=number) for number in range(3))
    of.touch(first, 3.0)
    source(of, client(1), now=4.0)
    assert list(of.sources.values()) == [third, first, second]
    assert [each.touched for each in of.sources.values()] == [2.0, 3.0, 4.0]


def test_clients_are_bounded() -> None:
    """There is room again when one is forgotten; a known one is never refused."""
    of = registry(max_clients=1)
    known = source(of, client(1))
    assert of.source(client(2), (), 0.0) is None
    assert source(of, client(1)) is known
    of.forget(known)
    assert source(of, client(2)).points == {}


def test_series_are_bounded() -> None:
    """A point of another client is another series; a refused series leaves nothing behind."""
    of = registry(max_series=2)
    one, two = source(of, client(1)), source(of, client(2))
    point = put(of, one, "a")
    assert put(of, two, "a") is point
    other = of.family(Metric(name="b"), Kind.GAUGE)
    assert other is not None
    assert of.admit(one, other, ()) is None
    assert (of.tally, list(of.families)) == (Tally(series=2, full=1), [("a", Kind.COUNTER)])


def test_names_and_attributes_are_bounded() -> None:
    """A metric without a name has no family either."""
    of = registry()
    who = source(of)
    assert [of.family(Metric(name=name), Kind.GAUGE) for name in ("", "x" * (MAX_NAME + 1))] == [None, None]
    family = of.family(Metric(name="x" * MAX_NAME), Kind.GAUGE)
    assert family is not None
    assert of.admit(who, family, (("k", "x" * MAX_ATTRIBUTES),)) is None
    pairs = tuple((f"k{number:02}", "") for number in range(MAX_PAIRS + 1))
    assert of.admit(who, family, pairs) is None
    assert of.tally == Tally(invalid=4)
    assert of.admit(who, family, pairs[1:]) is not None
    assert of.admit(who, family, (("k", "x" * (MAX_ATTRIBUTES - 1)),)) is not None


def test_a_name_is_one_metrics() -> None:
    """From the metric's first point to its last; a family without points has no name."""
    of = registry()
    who = source(of)
    assert of.family(Metric(name="x-y"), Kind.GAUGE) is not None
    point = put(of, who, "x.y", kind=Kind.GAUGE)
    assert of.family(Metric(name="x-y"), Kind.GAUGE) is None
    assert of.tally.conflicting == 1
    assert of.family(Metric(name="x.y"), Kind.GAUGE) is point.family
    of.drop(who, [point])
    assert of.family(Metric(name="x-y"), Kind.GAUGE) is not None


def test_a_metric_of_two_kinds_is_two_families() -> None:
    """If the families have different names."""
    of = registry()
    who = source(of)
    families = [put(of, who, "x.total", kind=kind).family for kind in (Kind.COUNTER, Kind.GAUGE)]
    assert [family.name for family in families] == ["x_total", "x"]
    assert of.family(Metric(name="x.total"), Kind.SUMMARY) is None


def test_help() -> None:
    """The metric's description, of bounded length, or the name that clients give it."""
    of = registry()
    described, bare = Metric(name="g", description="d" * 1000), Metric(name="h")
    families = [of.family(metric, Kind.GAUGE) for metric in (described, bare)]
    assert [family and family.help for family in families] == ["d" * 256, "Of Kafka clients: h."]


def test_what_clients_counted_outlives_them() -> None:
    """As one series for the departed, until the last client with their labels departs; gauges are removed at once."""
    of = registry(labels=BY_VERSION)
    clients = [source(of, client(number)) for number in range(3)]
    for who, value in zip(clients, (1.0, 2.0, 4.0), strict=True):
        counted = put(of, who, "sent", value)
        put(of, who, "age", kind=Kind.GAUGE)
    assert of.tally.series == 6
    of.forget(clients[0])
    assert (list(counted.family.departed.values()), of.tally.series) == ([1.0], 5)
    of.forget(clients[1])
    assert (list(counted.family.departed.values()), of.tally.series) == ([3.0], 3)
    of.drop(clients[2], list(clients[2].points))
    assert (list(counted.family.departed.values()), list(of.families)) == ([7.0], [("sent", Kind.COUNTER)])
    of.forget(clients[2])
    assert (of.tally, of.families, of.sources) == (Tally(), {}, {})


def test_nothing_outlives_a_client_that_shares_no_labels() -> None:
    """No other client continues its series, so it is removed, with the totals counted from its own start."""
    of = registry()
    who, other = source(of, client(1)), source(of, client(2))
    gone, stays = put(of, who, "a"), put(of, other, "b")
    who.growth(gone, 1, 5.0)
    who.growth(stays, 1, 5.0)
    of.drop(who, [gone])
    assert (who.points, who.totals, gone.family.departed) == ({}, {stays: (1, 5.0)}, {})
    assert (of.tally.series, list(of.families)) == (1, [("b", Kind.COUNTER)])
