# This module is pure (no I/O, no clock).
"""Metrics of client telemetry (KIP-714): requests and pushes, and their delivery by each receiver.

kproxy.observe.prometheus reads them at each scrape of /metrics.
"""

from __future__ import annotations

from typing import Final

from kproxy.observe import series
from kproxy.observe.families.family import Family, Kind

_RECEIVER: Final = ("receiver",)

TELEMETRY: Final[tuple[Family[series.Rows], ...]] = (
    Family(
        "kproxy_telemetry_requests_total",
        Kind.COUNTER,
        ("api", "error"),
        "Requests of client telemetry that kproxy answered (KIP-714), by the error code of the answer.",
        series.telemetry_requests,
    ),
    Family(
        "kproxy_telemetry_refused_total",
        Kind.COUNTER,
        ("reason",),
        "Requests of client telemetry that were over a quota or a bound, by its name.",
        series.telemetry_refusals,
    ),
    Family(
        "kproxy_telemetry_pushed_bytes_total",
        Kind.COUNTER,
        (),
        "Bytes of metrics that clients pushed, as they came.",
        series.telemetry("tally.pushed_bytes"),
    ),
    Family(
        "kproxy_telemetry_decompressed_bytes_total",
        Kind.COUNTER,
        (),
        "Bytes of metrics that clients pushed, decompressed; of accepted pushes only.",
        series.telemetry("tally.decompressed_bytes"),
    ),
    Family(
        "kproxy_telemetry_decode_seconds_total",
        Kind.COUNTER,
        (),
        "Time that it took to decompress and decode pushes.",
        series.telemetry("tally.decode_seconds"),
    ),
    Family(
        "kproxy_telemetry_instances",
        Kind.GAUGE,
        (),
        "Client instances that asked for subscriptions or pushed, and are not forgotten yet.",
        series.telemetry_instances,
    ),
    Family(
        "kproxy_telemetry_instances_evicted_total",
        Kind.COUNTER,
        (),
        "Client instances that were forgotten before their time because there were too many.",
        series.telemetry("instances.evicted"),
    ),
    Family(
        "kproxy_telemetry_receiver_offered_total",
        Kind.COUNTER,
        _RECEIVER,
        "Pushes that a receiver was to get: delivered, dropped or queued.",
        series.by_receiver("offered"),
    ),
    Family(
        "kproxy_telemetry_receiver_delivered_total",
        Kind.COUNTER,
        _RECEIVER,
        "Pushes that a receiver brought where they belong.",
        series.by_receiver("delivered"),
    ),
    Family(
        "kproxy_telemetry_receiver_delivered_bytes_total",
        Kind.COUNTER,
        _RECEIVER,
        "Bytes of those pushes, decompressed.",
        series.by_receiver("delivered_bytes"),
    ),
    Family(
        "kproxy_telemetry_receiver_dropped_total",
        Kind.COUNTER,
        (*_RECEIVER, "reason"),
        "Pushes that a receiver lost, by reason.",
        series.dropped_by_receiver,
    ),
    Family(
        "kproxy_telemetry_receiver_retries_total",
        Kind.COUNTER,
        _RECEIVER,
        "Times that a receiver tried again to deliver.",
        series.by_receiver("retries"),
    ),
    Family(
        "kproxy_telemetry_receiver_queued",
        Kind.GAUGE,
        _RECEIVER,
        "Pushes that wait for a receiver, those under way included.",
        series.by_receiver("queued"),
    ),
    Family(
        "kproxy_telemetry_receiver_queued_bytes",
        Kind.GAUGE,
        _RECEIVER,
        "Bytes of those pushes, decompressed.",
        series.by_receiver("queued_bytes"),
    ),
    Family(
        "kproxy_telemetry_series",
        Kind.GAUGE,
        _RECEIVER,
        "Series that a receiver of type prometheus holds for /metrics/clients.",
        series.series_by_receiver,
    ),
    Family(
        "kproxy_telemetry_points_dropped_total",
        Kind.COUNTER,
        (*_RECEIVER, "reason"),
        "Data points of clients that are not on /metrics/clients, by reason.",
        series.points_by_receiver,
    ),
)
