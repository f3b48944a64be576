"""kproxy.observe.counters: the counters of the hot path."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kproxy.observe import counters as module
from kproxy.observe.counters import BOUNDS, OTHER, ClusterCounters, Counters, Histogram
from kproxy.observe.reasons import Reason
from kproxy.rebootstrap.actions import Action, Cause


def test_bounds_are_geometric_from_50_us_to_a_minute() -> None:
    """The buckets cover a proxy's latencies, each two to three times as wide as the one before."""
    assert (BOUNDS[0], BOUNDS[-1], len(BOUNDS)) == (50e-6, 60, 16)
    assert all(2 < wider / bound <= 3 for bound, wider in pairwise(BOUNDS))


@pytest.mark.parametrize(
    ("seconds", "bucket"),
    [(0.0, 0), (50e-6, 0), (51e-6, 1), (0.5, 10), (0.500001, 11), (60.0, 15), (60.1, 16), (-1e-9, 0)],
)
def test_histogram_puts_a_duration_up_to_its_bound(seconds: float, bucket: int) -> None:
    """A bound is inclusive, as Prometheus' `le` says; the last bucket takes the rest."""
    histogram = Histogram()
    histogram.observe(seconds)
    assert [i for i, count in enumerate(histogram.counts) if count] == [bucket]
    assert histogram.total == seconds


def test_histogram_adds_up() -> None:
    """The total is the sum of the durations, the counts their number."""
    histogram = Histogram()
    for _ in range(8):
        histogram.observe(0.25)
    assert (sum(histogram.counts), histogram.total) == (8, 2.0)


def test_an_api_is_made_once() -> None:
    """The same key and version give the same object, so the relay may keep it; another version gives another."""
    cluster = ClusterCounters("main")
    assert cluster.api(0, 12) is cluster.api(0, 12)
    assert cluster.api(0, 11) is not cluster.api(0, 12)
    assert (cluster.api(3, 5).api_key, cluster.api(3, 5).api_version) == (3, 5)


def test_apis_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit new pairs share one entry; known pairs keep their own."""
    monkeypatch.setattr(module, "MAX_APIS", 2)
    cluster = ClusterCounters("main")
    first = cluster.api(0, 1)
    cluster.api(0, 2)
    assert cluster.api(0, 3) is cluster.api(500, 9)
    assert (cluster.api(0, 3).api_key, cluster.api(0, 3).api_version) == (OTHER, OTHER)
    assert cluster.api(0, 1) is first
    assert len(cluster.apis) == 3


def test_error_codes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that answers random codes cannot make the labels grow."""
    monkeypatch.setattr(module, "MAX_CODES", 2)
    api = ClusterCounters("main").api(0, 12)
    for code in (3, 6, 7, 8, 3):
        api.count_error(code)
    api.count_error(6, 5)
    assert api.errors == {3: 2, 6: 6, OTHER: 2}


def test_refusals_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that tries all api keys cannot make the labels grow."""
    monkeypatch.setattr(module, "MAX_REFUSED", 2)
    cluster = ClusterCounters("main")
    for key in (900, 901, 902, 903, 900):
        cluster.refuse(key, Reason.UNKNOWN_API)
    assert cluster.refused == {(900, "unknown_api"): 2, (901, "unknown_api"): 1, (OTHER, "unknown_api"): 2}


def test_connections_open_and_close() -> None:
    """Active counts connections that were opened and not closed; each end has its reason."""
    cluster = ClusterCounters("main")
    for _ in range(3):
        cluster.connection_opened()
    cluster.connection_closed(Reason.CLIENT_CLOSED)
    cluster.connection_closed(Reason.STALLED_FRAME)
    assert (cluster.connections_opened, cluster.connections_active) == (3, 1)
    assert cluster.closed == {"client_closed": 1, "stalled_frame": 1}


def test_protocol_errors_count_by_reason() -> None:
    """Each kind of wrong bytes has its own number."""
    cluster = ClusterCounters("main")
    cluster.protocol_error(Reason.TLS_ON_PLAINTEXT)
    cluster.protocol_error(Reason.TLS_ON_PLAINTEXT)
    assert cluster.protocol_errors == {Reason.TLS_ON_PLAINTEXT: 2}


def test_a_node_says_whether_it_is_reachable() -> None:
    """None before the first attempt, then the last attempt's result, with its error until the next success."""
    node = ClusterCounters("main").node(1001, "broker:9092")
    assert (node.reachable, node.last_error) == (None, None)
    node.failed(Reason.CONNECT_TIMEOUT, "no answer in 5 s")
    assert (node.reachable, node.last_error, node.connect_failures) == (
        False,
        "no answer in 5 s",
        {"connect_timeout": 1},
    )
    node.connected()
    assert (node.reachable, node.last_error, node.connects) == (True, None, 1)
    node.failed(Reason.CONNECT_TIMEOUT, "no answer in 5 s")
    node.forget()
    assert (node.reachable, node.last_error, node.connects) == (None, None, 1)


def test_a_node_keeps_its_address_until_it_moves() -> None:
    """Looking up a node without an address keeps its address."""
    cluster = ClusterCounters("main")
    cluster.node(7, "old:9092")
    assert cluster.node(7).address == "old:9092"
    assert cluster.node(7, "new:9092").address == "new:9092"
    assert len(cluster.nodes) == 1


def test_an_epoch_rises_for_a_cause() -> None:
    """Every cause begins at 0: Prometheus would not see the rise of a series that begins at 1."""
    cluster = ClusterCounters("main")
    cluster.begin_causes(map(str, Cause))
    assert cluster.epochs == dict.fromkeys(Cause, 0)
    cluster.raise_epoch(Cause.OPERATOR)
    cluster.raise_epoch(Cause.FAILOVER)
    cluster.raise_epoch(Cause.OPERATOR)
    assert cluster.epoch == 3
    assert {cause for cause in Cause if cluster.epochs[cause]} == {"operator", "failover"}
    assert cluster.epochs[Cause.OPERATOR] == 2


def test_notified_clients_are_counted_by_means_and_software() -> None:
    """A client that reports no software, or a text that KIP-511 forbids, is unknown."""
    cluster = ClusterCounters("main")
    cluster.count_notified(Action.NOTIFY, ("librdkafka", "2.16.0"))
    cluster.count_notified(Action.NOTIFY, ("librdkafka", "2.16.0"))
    cluster.count_notified(Action.CLOSE, None)
    cluster.count_notified(Action.REFUSE, ("a b", "1"))
    assert cluster.notified == {
        ("129", "librdkafka", "2.16.0"): 2,
        ("close", "unknown", "unknown"): 1,
        ("refuse", "unknown", "1"): 1,
    }


def test_notified_clients_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client with ever new versions cannot make the labels grow; the means stays right."""
    monkeypatch.setattr(module, "MAX_NOTIFIED", 2)
    cluster = ClusterCounters("main")
    for version in ("1", "2", "3", "4", "1"):
        cluster.count_notified(Action.NOTIFY, ("x", version))
    cluster.count_notified(Action.CLOSE, ("x", "1"))
    assert cluster.notified == {
        ("129", "x", "1"): 2,
        ("129", "x", "2"): 1,
        ("129", "other", "other"): 2,
        ("close", "other", "other"): 1,
    }


def test_one_upstream_is_active() -> None:
    """Activating another upstream makes the former one inactive."""
    cluster = ClusterCounters("main")
    cluster.upstreams |= {"east": True, "west": False}
    cluster.activate("west")
    assert cluster.upstreams == {"east": False, "west": True}


def test_a_cluster_is_made_once() -> None:
    """The same name gives the same counters."""
    counters = Counters(started_at=0.0)
    assert counters.cluster("a") is counters.cluster("a")
    assert counters.cluster("a") is not counters.cluster("b")


def test_hot_objects_have_no_dict() -> None:
    """Slots keep them small and catch a misspelt counter."""
    cluster = Counters(0.0).cluster("a")
    for thing in (Counters(0.0), cluster, cluster.api(0, 0), cluster.node(1), cluster.software, Histogram()):
        assert not hasattr(thing, "__dict__")
