"""kproxy.observe.series: label values and numbers from counters."""

from __future__ import annotations

from kproxy.observe import series
from kproxy.observe.counters import BOOTSTRAP, OTHER, ClusterCounters
from kproxy.observe.families import FAMILIES
from kproxy.observe.reasons import Reason
from kproxy.rebootstrap.actions import Cause, Outcome
from tests.unit.observe.everything import everything


def test_labels_are_kafkas_names() -> None:
    """APIs and nodes have their name, or their number without a name, or "other" beyond the limit."""
    assert [series.api_label(key) for key in (0, 18, 30_000, OTHER)] == ["Produce", "ApiVersions", "30000", "other"]
    assert [series.version_label(version) for version in (0, 17, OTHER)] == ["0", "17", "other"]
    assert [series.node_label(node) for node in (BOOTSTRAP, 0, 2147483646)] == ["bootstrap", "0", "2147483646"]


def test_errors_have_name_and_class() -> None:
    """The class may depend on the API: 48 is abortable from Produce (0) only."""
    assert series.error_labels(6, 0) == ("NOT_LEADER_OR_FOLLOWER", "refresh-retriable")
    assert series.error_labels(48, 0) == ("INVALID_TXN_STATE", "abortable")
    assert series.error_labels(48, 28) == ("INVALID_TXN_STATE", "application-recoverable")
    assert series.error_labels(9999, 0) == ("9999", "application-recoverable")
    assert series.error_labels(OTHER, 0) == ("other", "application-recoverable")


def test_rows_are_the_counters() -> None:
    """Each reader yields exactly the counted numbers."""
    cluster = everything().cluster("main")
    assert list(series.whole("connections_opened")(cluster)) == [((), 2)]
    assert list(series.by_api("request_bytes")(cluster)) == [(("Produce", "12"), 3000)]
    assert list(series.by_key("pauses")(cluster)) == [(("downstream",), 1), (("upstream",), 0)]
    assert list(series.by_pair("software.total")(cluster)) == [(("apache-kafka-java", "4.3.1"), 1)]
    assert list(series.by_error(cluster)) == [(("Produce", "12", "NOT_LEADER_OR_FOLLOWER", "refresh-retriable"), 1)]
    assert list(series.by_refusal(cluster)) == [(("Produce", "unsupported_version"), 1)]
    assert list(series.reachable_by_node(cluster)) == [(("bootstrap",), 1), (("1001",), 0)]
    assert list(series.connects_by_node(cluster)) == [(("bootstrap",), 1), (("1001",), 0)]
    assert list(series.connect_failures_by_node(cluster)) == [(("1001", "connect_failed"), 1)]
    assert list(series.whole("epoch")(cluster)) == [((), 1)]
    assert dict(series.by_key("epochs")(cluster)) == {(cause,): int(cause is Cause.FAILOVER) for cause in Cause}
    assert dict(series.by_key("changes")(cluster)) == {("added",): 0, ("gone",): 0, ("moved",): 2, ("cluster",): 0}
    assert dict(series.by_key("departures")(cluster)) == {(one,): 3 * (one is Outcome.LEFT) for one in Outcome}
    assert list(series.by_notified(cluster)) == [(("129", "apache-kafka-java", "4.3.1"), 1)]
    assert list(series.by_upstream(cluster)) == [(("east",), 1), (("west",), 0)]
    assert list(series.by_look("reachable")(cluster)) == [(("east",), 1), (("west",), 0)]
    assert list(series.by_look("answered_at")(cluster)) == [(("east",), 1_700_000_100.5), (("west",), 1_700_000_050)]
    assert list(series.by_look("fit")(cluster)) == [(("west",), 0)]


def test_rows_of_telemetry() -> None:
    """The rows have the numbers of telemetry's own counters."""
    cluster = everything().cluster("main")
    assert dict(series.telemetry_requests(cluster)) == {
        ("GetTelemetrySubscriptions", "NONE"): 7,
        ("GetTelemetrySubscriptions", "THROTTLING_QUOTA_EXCEEDED"): 1,
        ("PushTelemetry", "NONE"): 5,
        ("PushTelemetry", "UNKNOWN_SUBSCRIPTION_ID"): 2,
    }
    assert [row for row in series.telemetry_refusals(cluster) if row[1]] == [(("address_time",), 2)]
    assert list(series.telemetry("tally.decode_seconds")(cluster)) == [((), 0.25)]
    assert list(series.telemetry_instances(cluster)) == [((), 3)]
    assert list(series.telemetry("instances.evicted")(cluster)) == [((), 1)]
    assert list(series.by_receiver("queued")(cluster)) == [(("collector",), 2)]
    dropped = dict(series.dropped_by_receiver(cluster))
    assert dropped[("collector", "late")] == 1
    assert {reason: dropped[("collector", reason)] for reason in ("full", "refused", "malformed", "failed")} == (
        dict.fromkeys(("full", "refused", "malformed", "failed"), 0)
    ), "Prometheus sees no increase where a series begins"
    assert list(series.series_by_receiver(cluster)) == [(("scrape",), 12)]
    assert dict(series.points_by_receiver(cluster)) == {
        ("scrape", "full"): 1,
        ("scrape", "address_share"): 0,
        ("scrape", "client_share"): 0,
        ("scrape", "conflicting"): 0,
        ("scrape", "invalid"): 0,
    }


def test_without_telemetry_there_are_no_rows() -> None:
    """A cluster that leaves telemetry to the broker has no series of it."""
    cluster = ClusterCounters("quiet")
    readers = [family.rows for family in FAMILIES if family.name.startswith("kproxy_telemetry_")]
    assert len(readers) == 16
    assert all(not list(rows(cluster)) for rows in readers)


def test_only_what_exists_has_a_row() -> None:
    """No latency without a duration, no reachability without an attempt."""
    cluster = ClusterCounters("quiet")
    cluster.api(0, 12).requests = 1
    cluster.node(7, "broker:9092")
    assert list(series.histograms_by_api("proxy")(cluster)) == []
    assert list(series.reachable_by_node(cluster)) == []
    cluster.api(0, 12).proxy.observe(1.0)
    [(labels, histogram)] = series.histograms_by_api("proxy")(cluster)
    assert (labels, histogram) == (("Produce", "12"), cluster.api(0, 12).proxy)


def test_counting_goes_on_while_rows_are_read() -> None:
    """A dict that grows during the read does no harm (in kproxy, the reader is in another thread)."""
    cluster = everything().cluster("main")
    cluster.closed[Reason.DRAINED] = 1
    rows = series.by_key("closed")(cluster)
    next(rows)
    cluster.connection_closed(Reason.INTERNAL_ERROR)
    assert list(rows) == [(("drained",), 1)]
