# This module is pure (no I/O, no clock).
"""Metrics of the topology behind a virtual cluster, and of its certificates.

kproxy.observe.prometheus reads them at each scrape of /metrics.
"""

from __future__ import annotations

from typing import Final

from kproxy.observe import series
from kproxy.observe.families.family import SOFTWARE, Family, Kind

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
        "kproxy_upstream_active",
        Kind.GAUGE,
        ("upstream",),
        "1 for the upstream cluster behind the virtual cluster, 0 for those where it can fail over to.",
        series.by_upstream,
    ),
    Family(
        "kproxy_certificate_expiry_timestamp_seconds",
        Kind.GAUGE,
        ("certificate",),
        "When kproxy's own certificate ends, in seconds since the Unix epoch, by the setting that names it.",
        series.by_certificate,
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
