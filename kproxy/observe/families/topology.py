# This module is pure (no I/O, no clock).
"""Metrics of the topology behind a virtual cluster, and of its certificates.

kproxy.observe.prometheus reads them at each scrape of /metrics.
"""

from __future__ import annotations

from typing import Final

from kproxy.observe import series
from kproxy.observe.families.family import SOFTWARE, Family, Kind

_UPSTREAM: Final = ("upstream",)

TOPOLOGY: Final[tuple[Family[series.Rows], ...]] = (
    Family(
        "kproxy_topology_epoch",
        Kind.GAUGE,
        (),
        "The number of the topology that clients are to know; it rises when they must rebootstrap.",
        series.whole("epoch"),
    ),
    Family(
        "kproxy_topology_epochs_total",
        Kind.COUNTER,
        ("cause",),
        "Times that the epoch rose, by cause.",
        series.by_key("epochs"),
    ),
    Family(
        "kproxy_topology_changes_total",
        Kind.COUNTER,
        ("change",),
        "Changes of the backend that were seen: nodes added, gone or moved, another cluster id.",
        series.by_key("changes"),
    ),
    Family(
        "kproxy_clients_told_total",
        Kind.COUNTER,
        ("means", *SOFTWARE),
        "Connections whose client was told to rebootstrap, by means and by the software that the client says it is.",
        series.by_notified,
    ),
    Family(
        "kproxy_group_departures_total",
        Kind.COUNTER,
        ("outcome",),
        "Members of groups that were to leave the cluster that clients were sent away from, by what became of them.",
        series.by_key("departures"),
    ),
    Family(
        "kproxy_upstream_active",
        Kind.GAUGE,
        _UPSTREAM,
        "1 for the upstream cluster behind the virtual cluster, 0 for those where it can fail over to.",
        series.by_upstream,
    ),
    Family(
        "kproxy_upstream_cluster_reachable",
        Kind.GAUGE,
        _UPSTREAM,
        "1 when the last poll of the upstream cluster was answered, 0 when not; absent before the first.",
        series.by_look("reachable"),
    ),
    Family(
        "kproxy_upstream_cluster_fit",
        Kind.GAUGE,
        _UPSTREAM,
        "1 while an automatic failover would go there, 0 while something forbids it; absent for the active one.",
        series.by_look("fit"),
    ),
    Family(
        "kproxy_upstream_cluster_last_answer_timestamp_seconds",
        Kind.GAUGE,
        _UPSTREAM,
        "When the upstream cluster last answered a poll, in seconds since the Unix epoch.",
        series.by_look("answered_at"),
    ),
    Family(
        "kproxy_upstream_cluster_nodes",
        Kind.GAUGE,
        _UPSTREAM,
        "Nodes that the upstream cluster named when it last answered.",
        series.by_look("nodes"),
    ),
    Family(
        "kproxy_upstream_cluster_nodes_unreachable",
        Kind.GAUGE,
        _UPSTREAM,
        "Nodes of the upstream cluster that did not answer when last probed.",
        series.by_look("silent"),
    ),
    Family(
        "kproxy_upstream_cluster_nodes_without_port",
        Kind.GAUGE,
        _UPSTREAM,
        "Nodes of the upstream cluster that have no port here; of a standby, that would have none.",
        series.by_look("lacking"),
    ),
    Family(
        "kproxy_failover_order",
        Kind.GAUGE,
        (),
        "The number of the newest order to fail over that this replica knows; replicas that agree show the same one.",
        series.order_number,
    ),
    Family(
        "kproxy_failover_order_pending",
        Kind.GAUGE,
        (),
        "1 while that order is not in force here: this replica is at another upstream than it says.",
        series.order_pending,
    ),
    Family(
        "kproxy_failover_orders_readable",
        Kind.GAUGE,
        ("place",),
        "1 while the place that keeps the orders can be read, 0 while not.",
        series.by_place,
    ),
    Family(
        "kproxy_certificate_expiry_timestamp_seconds",
        Kind.GAUGE,
        ("certificate",),
        "When kproxy's own certificate ends, in seconds since the Unix epoch, by the setting that names it.",
        series.by_certificate,
        series.by_process_certificate,
    ),
)


_DESTINATION: Final = ("destination",)

EVENTS: Final[tuple[Family[series.ProcessRows], ...]] = (
    Family(
        "kproxy_events_offered_total",
        Kind.COUNTER,
        _DESTINATION,
        "Events that a destination was to get: delivered, dropped or queued.",
        series.by_destination("offered"),
    ),
    Family(
        "kproxy_events_delivered_total",
        Kind.COUNTER,
        _DESTINATION,
        "Events that are where they belong.",
        series.by_destination("delivered"),
    ),
    Family(
        "kproxy_events_delivered_bytes_total",
        Kind.COUNTER,
        _DESTINATION,
        "Bytes of those events, as JSON.",
        series.by_destination("delivered_bytes"),
    ),
    Family(
        "kproxy_events_dropped_total",
        Kind.COUNTER,
        (*_DESTINATION, "reason"),
        "Events that a destination lost, by reason.",
        series.dropped_by_destination,
    ),
    Family(
        "kproxy_events_retries_total",
        Kind.COUNTER,
        _DESTINATION,
        "Times that a destination tried again to deliver.",
        series.by_destination("retries"),
    ),
    Family(
        "kproxy_events_queued",
        Kind.GAUGE,
        _DESTINATION,
        "Events that wait for a destination, those under way included.",
        series.by_destination("queued"),
    ),
    Family(
        "kproxy_events_queued_bytes",
        Kind.GAUGE,
        _DESTINATION,
        "Bytes of those events, as JSON.",
        series.by_destination("queued_bytes"),
    ),
)
