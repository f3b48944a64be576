# This module is pure.
"""Metrics of the event streams and their destinations."""

from __future__ import annotations

from typing import Final

from kproxy.observe import series
from kproxy.observe.families.family import Family, Kind

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
