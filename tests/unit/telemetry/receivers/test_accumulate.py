"""kproxy.telemetry.receivers.accumulate and exposition: what Prometheus' parser reads of what clients pushed."""

from __future__ import annotations

from math import isnan, nan

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, MetricsData
from prometheus_client.parser import text_string_to_metric_families

from kproxy.telemetry.receivers.accumulate import STEP, Accumulator
from kproxy.telemetry.receivers.exposition import page, snapshot
from kproxy.telemetry.receivers.labels import MAX_NAME
from kproxy.telemetry.receivers.registry import MAX_ATTRIBUTES
from kproxy.telemetry.receivers.shares import Limits
from kproxy.telemetry.subscription import ClientInfo
from tests.unit.telemetry.receivers.pushes import CUMULATIVE, client, gauge, histogram, metrics, summary, total

Labels = frozenset[tuple[str, str]]
BY_VERSION = ("client_software_version",)


def take(
    accumulator: Accumulator, *each: Metric, info: ClientInfo | None = None, now: float = 0.0, **resource: str
) -> int:
    """Add up one whole push; return how many times it let others have their turn."""
    return len(list(accumulator.steps(info or client(), metrics(*each, resource=resource), now)))


def samples(*accumulators: Accumulator) -> dict[str, dict[Labels, float]]:
    """What Prometheus reads of the page: by name, by labels. No sample occurs twice."""
    found: dict[str, dict[Labels, float]] = {}
    text = page(snapshot(family) for each in accumulators for family in each.families.values())
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            series = found.setdefault(sample.name, {})
            labels = frozenset(sample.labels.items())
            assert labels not in series, f"{sample.name} stands twice with {sample.labels}"
            series[labels] = sample.value
    return found


def values(accumulator: Accumulator, name: str) -> list[float]:
    """The values of one name, in order."""
    return sorted(samples(accumulator).get(name, {}).values())


def nothing_left(accumulator: Accumulator) -> bool:
    """Whether it is as empty as a new one."""
    return not (accumulator.families or accumulator.sources or accumulator.tally.series)


def test_deltas_add_up() -> None:
    """Three pushes of a delta are one counter, with the client's labels and the point's."""
    accumulator = Accumulator()
    for more in (5, 7, 0):
        take(accumulator, total("sent.total", more, topic="x"), now=more)
    [(labels, value)] = samples(accumulator)["sent_total"].items()
    assert value == 12
    assert dict(labels) == {
        "client_instance_id": "AAAAAAAAAAAAAAAAAMD_7w",
        "client_id": "app",
        "client_software_name": "apache-kafka-java",
        "client_software_version": "4.1.0",
        "topic": "x",
    }


def test_gauges_are_the_latest() -> None:
    """A gauge is replaced; a delta sum that goes up and down is added up."""
    accumulator = Accumulator()
    for value in (5.0, 2.0):
        take(accumulator, gauge("lag", value), total("open", value - 4, monotonic=False))
    assert values(accumulator, "lag") == [2]
    assert values(accumulator, "open") == [1 - 2]


def test_cumulative_sums_follow_the_client() -> None:
    """What a client counted before counts, a restart begins with what it has since, and nothing goes down."""
    accumulator = Accumulator()
    for start, value in ((1, 10.0), (1, 15.0), (2, 3.0), (2, 1.0)):
        take(accumulator, total("t", value, temporality=CUMULATIVE, start=start))
    assert values(accumulator, "t_total") == [10 + 5 + 3 + 1]


def test_histograms_and_summaries() -> None:
    """Buckets are cumulative, as Prometheus has them; units are base units."""
    accumulator = Accumulator()
    for _ in range(2):
        take(accumulator, histogram("latency.ms", [1.0, 5.0], [1, 2, 3], 40.0), summary("size", 4, 9.0, {0.5: 2.0}))
    found = samples(accumulator)
    assert {dict(labels)["le"]: value for labels, value in found["latency_seconds_bucket"].items()} == {
        "0.001": 2,
        "0.005": 6,
        "+Inf": 12,
    }
    assert [*found["latency_seconds_count"].values(), *found["latency_seconds_sum"].values()] == [12, 0.08]
    # A summary is cumulative in OTLP: the second push says what the first one said.
    assert [*found["size_count"].values(), *found["size_sum"].values(), *found["size"].values()] == [4, 9, 2]


def test_a_histogram_without_buckets() -> None:
    """Its only bucket, up to infinity, has all that it counted."""
    accumulator = Accumulator()
    take(accumulator, histogram("h", [], [], 0.0))
    assert {dict(labels)["le"]: value for labels, value in samples(accumulator)["h_bucket"].items()} == {"+Inf": 0}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("records.lag", 10), ("latency.avg", 5), ("records.lag.max", 8), ("queue.min", 2), ("poll.seconds.ago", 8)],
)
def test_gauges_of_clients_that_share_labels(name: str, expected: float) -> None:
    """Added up, averaged, the largest or the smallest, by the name's last word; NaN is left out."""
    accumulator = Accumulator(labels=BY_VERSION)
    for number, value in enumerate((2.0, 8.0, nan)):
        take(accumulator, gauge(name, value), info=client(number))
    [[value]] = [list(series.values()) for series in samples(accumulator).values()]
    assert value == expected


def test_gauges_without_any_number() -> None:
    """NaN, if every client pushes NaN."""
    accumulator = Accumulator(labels=BY_VERSION)
    for number in range(2):
        take(accumulator, gauge("g", nan), info=client(number))
    assert isnan(values(accumulator, "g")[0])


def test_infinite_gauges() -> None:
    """As the exposition format writes them."""
    accumulator = Accumulator()
    take(accumulator, gauge("up", float("inf")), gauge("down", float("-inf")))
    assert (values(accumulator, "up"), values(accumulator, "down")) == ([float("inf")], [float("-inf")])


def test_aggregated_counters_never_go_down() -> None:
    """A departed client leaves what it counted; when the last one departs, all is removed."""
    accumulator = Accumulator(labels=BY_VERSION, expiry=10)
    take(accumulator, total("t", 5), histogram("h", [1.0], [1, 1], 2.0), gauge("g", 3.0), info=client(1), now=0)
    take(accumulator, total("t", 5), info=client(2), now=0)
    take(accumulator, total("t", 7), histogram("h", [1.0], [1, 0], 1.0), info=client(3), now=8)
    assert values(accumulator, "t_total") == [17]
    accumulator.expire(11)
    assert accumulator.sources == 1
    assert (values(accumulator, "t_total"), values(accumulator, "h_count"), values(accumulator, "g")) == ([17], [3], [])
    accumulator.expire(19)
    assert nothing_left(accumulator)


def test_departed_counters_of_a_family_without_clients() -> None:
    """A counter without living clients stays as long as one of their group lives: it may come back."""
    accumulator = Accumulator(labels=BY_VERSION, expiry=10)
    take(accumulator, total("rare", 5), info=client(1), now=0)
    take(accumulator, gauge("g", 1.0), info=client(2), now=9)
    accumulator.expire(11)
    assert values(accumulator, "rare_total") == [5]
    take(accumulator, total("rare", 2), info=client(2), now=12)
    assert values(accumulator, "rare_total") == [7]
    accumulator.expire(30)
    assert nothing_left(accumulator)


def test_merged_histograms_and_summaries() -> None:
    """Counts and sums of several clients are added up; quantiles cannot be, and are left out."""
    accumulator = Accumulator(labels=BY_VERSION)
    for number in range(2):
        take(accumulator, summary("s", 2, 3.0, {0.5: 1.0}), histogram("h", [1.0], [1, 0], 1.0), info=client(number))
    found = samples(accumulator)
    assert "s" not in found
    assert (list(found["s_count"].values()), list(found["h_count"].values())) == ([4], [2])


def test_chosen_attributes() -> None:
    """Attributes that are left out make no series; what they distinguish is added up, over time too."""
    accumulator = Accumulator(attributes=["topic"], expiry=10)
    for now in (0, 9):
        take(
            accumulator,
            *[total("t", 2, topic="x", partition=str(each)) for each in range(3)],
            *[gauge("lag", 1.0, topic="x", partition=str(each)) for each in range(3)],
            now=now,
        )
    assert (values(accumulator, "t_total"), values(accumulator, "lag")) == ([12], [3])
    # Two partitions leave: their lag goes, what they counted stays.
    for now in (18, 24):
        take(accumulator, total("t", 1, topic="x", partition="0"), gauge("lag", 1.0, partition="0", topic="x"), now=now)
    assert (values(accumulator, "t_total"), values(accumulator, "lag")) == ([14], [1])


def test_series_that_a_client_no_longer_pushes() -> None:
    """They expire, though the client lives."""
    accumulator = Accumulator(expiry=10)
    take(accumulator, total("old", 1), gauge("g", 1.0), now=0)
    for now in (6, 12, 18):
        take(accumulator, gauge("g", 1.0), now=now)
    assert set(samples(accumulator)) == {"g"}
    assert accumulator.tally.series == 1


def test_points_of_totals_expire() -> None:
    """A cumulative sum that expired and comes back begins with the client's total."""
    accumulator = Accumulator(expiry=10)
    take(accumulator, total("t", 5.0, temporality=CUMULATIVE, start=1), now=0)
    for now in (6, 12, 18):
        take(accumulator, gauge("g", 1.0), now=now)
    take(accumulator, total("t", 9.0, temporality=CUMULATIVE, start=1), now=19)
    assert values(accumulator, "t_total") == [9]


def test_a_client_whose_labels_change() -> None:
    """A new group id is another series; the old one expires."""
    accumulator = Accumulator(labels=("client_instance_id", "group_id"), expiry=10)
    take(accumulator, total("t", 5), now=0, group_id="a")
    take(accumulator, total("t", 2), now=8, group_id="b")
    assert values(accumulator, "t_total") == [2, 5]
    accumulator.expire(12)
    assert values(accumulator, "t_total") == [2]


def test_series_are_bounded() -> None:
    """Further series are counted and left out; known ones go on."""
    accumulator = Accumulator(limits=Limits(series=2, address_share=1.0))
    for _ in range(2):
        take(accumulator, *[total("t", 1, topic=str(each)) for each in range(4)], gauge("g", 1.0))
    assert (accumulator.tally.series, accumulator.tally.full) == (2, 6)
    assert values(accumulator, "t_total") == [2, 2]


def test_clients_are_bounded() -> None:
    """A million invented instance ids cost no more than the limit; a client without accepted metrics costs nothing."""
    accumulator = Accumulator(limits=Limits(clients=3, address_share=1.0))
    for number in range(10):
        take(accumulator, gauge("g", 1.0), info=client(number))
        take(accumulator, Metric(name="empty"), info=client(100))
    assert (accumulator.sources, accumulator.tally.full) == (3, 15)
    accumulator = Accumulator()
    take(accumulator, Metric(name="empty"))
    assert nothing_left(accumulator)


def test_a_large_push_lets_others_have_their_turn() -> None:
    """A push of many points, or of many empty metrics, scopes or resources, is taken in many steps."""
    accumulator = Accumulator()
    metric = total("t", 1)
    for each in range(10 * STEP):
        metric.sum.data_points.add(as_int=1).attributes.add(key="partition").value.int_value = each
    assert take(accumulator, metric) >= 10
    assert take(accumulator, *[Metric() for _ in range(10 * STEP)]) >= 10
    for empty in (b"\x0a\x00", b"\x0a\x02\x12\x00"):
        assert len(list(accumulator.steps(client(), MetricsData.FromString(empty * 10 * STEP), 0.0))) >= 10


def test_invalid_points() -> None:
    """They are counted, and not exported."""
    accumulator = Accumulator()
    take(
        accumulator,
        total("t", -1),
        gauge("x" * (MAX_NAME + 1), 1.0),
        gauge("", 1.0),
        gauge("g", 1.0, topic="x" * (MAX_ATTRIBUTES + 1)),
    )
    assert accumulator.tally.invalid == 4
    assert nothing_left(accumulator)


def test_names_that_become_one() -> None:
    """The first metric has the name; the other is counted, until the first has gone."""
    accumulator = Accumulator(expiry=10)
    take(accumulator, gauge("x.y", 1.0), gauge("x-y", 2.0), now=0)
    assert (values(accumulator, "x_y"), accumulator.tally.conflicting) == ([1], 1)
    take(accumulator, gauge("x-y", 2.0), now=11)
    assert values(accumulator, "x_y") == [2]


def test_a_metric_of_two_kinds() -> None:
    """Clients that disagree on what a metric is have a family each."""
    accumulator = Accumulator()
    take(accumulator, total("x.total", 1), info=client(1))
    take(accumulator, gauge("x.total", 2.0), info=client(2))
    assert (values(accumulator, "x_total"), values(accumulator, "x")) == ([1], [2])


def test_constant_labels() -> None:
    """Every series has them, and no attribute of a client can replace them."""
    accumulator = Accumulator(labels=(), constant={"cluster": "main"})
    take(accumulator, gauge("g", 1.0, cluster="forged"))
    assert samples(accumulator)["g"] == {frozenset({("cluster", "main")}): 1}


def test_no_labels_at_all() -> None:
    """All clients are in one series."""
    accumulator = Accumulator(labels=())
    for number in range(2):
        take(accumulator, gauge("g", 1.0), info=client(number))
    assert samples(accumulator)["g"] == {frozenset(): 2}


def test_several_accumulators_on_one_page() -> None:
    """A family occurs once, with the series of each; where kinds differ the first one has the name."""
    one, two = (Accumulator(labels=(), constant={"cluster": name}) for name in ("one", "two"))
    take(one, gauge("g", 1.0), gauge("h", 1.0))
    take(two, gauge("g", 2.0), histogram("h", [], [1], 1.0))
    found = samples(one, two)
    assert sorted(found["g"].values()) == [1, 2]
    assert (list(found["h"].values()), "h_count" in found) == ([1], False)


def test_help() -> None:
    """The metric's description, in one line of bounded length, or the name that clients give it."""
    accumulator = Accumulator()
    described = gauge("g", 1.0)
    described.description = "two\nlines \\ " + "x" * 1000
    take(accumulator, described, gauge("h", 1.0))
    text = page(map(snapshot, accumulator.families.values()))
    lines = [line for line in text.splitlines() if line.startswith("# HELP")]
    assert lines[0].startswith(r"# HELP g two\nlines \\ x")
    assert len(lines[0]) < 300
    assert lines[1] == "# HELP h Of Kafka clients: h."


def test_labels_are_checked() -> None:
    """A label that Prometheus would refuse is refused at the start, constant or not."""
    with pytest.raises(ValueError, match="'le' cannot be a label"):
        Accumulator(labels=["le"])
    with pytest.raises(ValueError, match="'a-b' cannot be a label"):
        Accumulator(constant={"a-b": "x"})
