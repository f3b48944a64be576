"""Every metric of kproxy's own, once: its name, type, labels, help, and how it is read off the counters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

from kproxy.observe import series


class Kind(StrEnum):
    """Prometheus' metric types, as far as they are used."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


R = TypeVar("R", bound=series.Rows | series.ProcessRows)


@dataclass(frozen=True, slots=True)
class Family(Generic[R]):
    """A metric family; `rows` yields the values of `labels`."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str
    rows: R


_API: Final = ("api", "version")
_RECEIVER: Final = ("receiver",)
_SOFTWARE: Final = ("software_name", "software_version")
_COUNTER, _GAUGE, _HISTOGRAM = Kind.COUNTER, Kind.GAUGE, Kind.HISTOGRAM

FAMILIES: Final[tuple[Family[series.Rows], ...]] = (
    Family("kproxy_requests_total", _COUNTER, _API, "Requests that came from clients.", series.by_api("requests")),
    Family("kproxy_responses_total", _COUNTER, _API, "Responses that went to clients.", series.by_api("responses")),
    Family(
        "kproxy_request_bytes_total",
        _COUNTER,
        _API,
        "Bytes of requests, with the frame's size field.",
        series.by_api("request_bytes"),
    ),
    Family(
        "kproxy_response_bytes_total",
        _COUNTER,
        _API,
        "Bytes of responses, with the frame's size field.",
        series.by_api("response_bytes"),
    ),
    Family(
        "kproxy_response_errors_total",
        _COUNTER,
        (*_API, "error", "error_class"),
        "Error codes that responses carried, by Kafka's name and KIP-1050 class.",
        series.by_error,
    ),
    Family(
        "kproxy_request_proxy_duration_seconds",
        _HISTOGRAM,
        _API,
        "Time that a request and its response spent in kproxy itself.",
        series.histograms_by_api("proxy"),
    ),
    Family(
        "kproxy_request_upstream_duration_seconds",
        _HISTOGRAM,
        _API,
        "Time from a request's last byte to the broker until its response's first byte.",
        series.histograms_by_api("upstream"),
    ),
    Family(
        "kproxy_requests_refused_total",
        _COUNTER,
        ("api", "reason"),
        "Requests that were not let through.",
        series.by_refusal,
    ),
    Family(
        "kproxy_connections_opened_total",
        _COUNTER,
        (),
        "Client connections that were accepted.",
        series.whole("connections_opened"),
    ),
    Family(
        "kproxy_connections_active", _GAUGE, (), "Client connections that are open.", series.whole("connections_active")
    ),
    Family(
        "kproxy_connections_closed_total",
        _COUNTER,
        ("reason",),
        "Client connections that ended, by reason.",
        series.by_key("closed"),
    ),
    Family(
        "kproxy_protocol_errors_total",
        _COUNTER,
        ("reason",),
        "Bytes from a client or a broker that were not what they should be.",
        series.by_key("protocol_errors"),
    ),
    Family(
        "kproxy_backpressure_pauses_total",
        _COUNTER,
        ("direction",),
        "Times that kproxy read no further because a peer took no more: downstream the client, upstream the broker.",
        series.by_key("pauses"),
    ),
    Family(
        "kproxy_spliced_bytes_total",
        _COUNTER,
        (),
        "Bytes that the kernel moved from socket to socket without a copy in the process.",
        series.whole("spliced_bytes"),
    ),
    Family(
        "kproxy_held_bytes",
        _GAUGE,
        (),
        "Bytes held in memory for a peer that lags or a frame that must be whole.",
        series.whole("held_bytes"),
    ),
    Family(
        "kproxy_upstream_reachable",
        _GAUGE,
        ("node",),
        "1 when the last attempt to reach the broker succeeded, 0 when it failed; absent when there was none.",
        series.reachable_by_node,
    ),
    Family(
        "kproxy_upstream_connects_total",
        _COUNTER,
        ("node",),
        "Connections made to a broker.",
        series.connects_by_node,
    ),
    Family(
        "kproxy_upstream_connect_failures_total",
        _COUNTER,
        ("node", "reason"),
        "Connections to a broker that were not made.",
        series.connect_failures_by_node,
    ),
    Family(
        "kproxy_client_software_connections_active",
        _GAUGE,
        _SOFTWARE,
        "Open connections by the software that the client says it is (KIP-511).",
        series.by_software("software.active"),
    ),
    Family(
        "kproxy_client_software_connections_opened_total",
        _COUNTER,
        _SOFTWARE,
        "Connections ever by the software that the client says it is (KIP-511).",
        series.by_software("software.total"),
    ),
    Family(
        "kproxy_topology_epoch",
        _GAUGE,
        (),
        "The number of the topology that clients are to know; it rises when they must rebootstrap.",
        series.whole("epoch"),
    ),
    Family(
        "kproxy_topology_epochs_total",
        _COUNTER,
        ("cause",),
        "Times that the epoch rose, by cause.",
        series.by_key("epochs"),
    ),
    Family(
        "kproxy_topology_changes_total",
        _COUNTER,
        ("change",),
        "Changes of the backend that were seen: nodes added, gone or moved, another cluster id.",
        series.by_key("changes"),
    ),
    Family(
        "kproxy_clients_told_total",
        _COUNTER,
        ("means", *_SOFTWARE),
        "Connections whose client was told to rebootstrap, by means and by the software that the client says it is.",
        series.by_told,
    ),
    Family(
        "kproxy_upstream_active",
        _GAUGE,
        ("upstream",),
        "1 for the upstream cluster behind the virtual cluster, 0 for those where it can fail over to.",
        series.by_upstream,
    ),
    Family(
        "kproxy_telemetry_requests_total",
        _COUNTER,
        ("api", "error"),
        "Requests of client telemetry that kproxy answered (KIP-714), by the error code of the answer.",
        series.telemetry_requests,
    ),
    Family(
        "kproxy_telemetry_pushed_bytes_total",
        _COUNTER,
        (),
        "Bytes of metrics that clients pushed, as they came.",
        series.telemetry("tally.pushed_bytes"),
    ),
    Family(
        "kproxy_telemetry_decompressed_bytes_total",
        _COUNTER,
        (),
        "Bytes of metrics that clients pushed, decompressed; of accepted pushes only.",
        series.telemetry("tally.decompressed_bytes"),
    ),
    Family(
        "kproxy_telemetry_decode_seconds_total",
        _COUNTER,
        (),
        "Time that it took to decompress and decode pushes.",
        series.telemetry("tally.decode_seconds"),
    ),
    Family(
        "kproxy_telemetry_instances",
        _GAUGE,
        (),
        "Client instances that asked for subscriptions or pushed, and are not forgotten yet.",
        series.telemetry_instances,
    ),
    Family(
        "kproxy_telemetry_instances_evicted_total",
        _COUNTER,
        (),
        "Client instances that were forgotten before their time because there were too many.",
        series.telemetry("instances.evicted"),
    ),
    Family(
        "kproxy_telemetry_receiver_offered_total",
        _COUNTER,
        _RECEIVER,
        "Pushes that a receiver was to get: delivered, dropped or queued.",
        series.by_receiver("offered"),
    ),
    Family(
        "kproxy_telemetry_receiver_delivered_total",
        _COUNTER,
        _RECEIVER,
        "Pushes that a receiver brought where they belong.",
        series.by_receiver("delivered"),
    ),
    Family(
        "kproxy_telemetry_receiver_delivered_bytes_total",
        _COUNTER,
        _RECEIVER,
        "Bytes of those pushes, decompressed.",
        series.by_receiver("delivered_bytes"),
    ),
    Family(
        "kproxy_telemetry_receiver_dropped_total",
        _COUNTER,
        (*_RECEIVER, "reason"),
        "Pushes that a receiver lost, by reason.",
        series.dropped_by_receiver,
    ),
    Family(
        "kproxy_telemetry_receiver_retries_total",
        _COUNTER,
        _RECEIVER,
        "Times that a receiver tried again to deliver.",
        series.by_receiver("retries"),
    ),
    Family(
        "kproxy_telemetry_receiver_queued",
        _GAUGE,
        _RECEIVER,
        "Pushes that wait for a receiver, those under way included.",
        series.by_receiver("queued"),
    ),
    Family(
        "kproxy_telemetry_receiver_queued_bytes",
        _GAUGE,
        _RECEIVER,
        "Bytes of those pushes, decompressed.",
        series.by_receiver("queued_bytes"),
    ),
    Family(
        "kproxy_telemetry_series",
        _GAUGE,
        _RECEIVER,
        "Series that a receiver of type prometheus holds for /metrics/clients.",
        series.series_by_receiver,
    ),
    Family(
        "kproxy_telemetry_points_dropped_total",
        _COUNTER,
        (*_RECEIVER, "reason"),
        "Data points of clients that are not on /metrics/clients, by reason.",
        series.points_by_receiver,
    ),
)
"""Of each virtual cluster: every series has the label `cluster` before the family's own."""

_DESTINATION: Final = ("destination",)

PROCESS_FAMILIES: Final[tuple[Family[series.ProcessRows], ...]] = (
    Family(
        "kproxy_events_offered_total",
        _COUNTER,
        _DESTINATION,
        "Events that a destination was to get: delivered, dropped or queued.",
        series.by_destination("offered"),
    ),
    Family(
        "kproxy_events_delivered_total",
        _COUNTER,
        _DESTINATION,
        "Events that are where they belong.",
        series.by_destination("delivered"),
    ),
    Family(
        "kproxy_events_delivered_bytes_total",
        _COUNTER,
        _DESTINATION,
        "Bytes of those events, as JSON.",
        series.by_destination("delivered_bytes"),
    ),
    Family(
        "kproxy_events_dropped_total",
        _COUNTER,
        (*_DESTINATION, "reason"),
        "Events that a destination lost, by reason.",
        series.dropped_by_destination,
    ),
    Family(
        "kproxy_events_retries_total",
        _COUNTER,
        _DESTINATION,
        "Times that a destination tried again to deliver.",
        series.by_destination("retries"),
    ),
    Family(
        "kproxy_events_queued",
        _GAUGE,
        _DESTINATION,
        "Events that wait for a destination, those under way included.",
        series.by_destination("queued"),
    ),
    Family(
        "kproxy_events_queued_bytes",
        _GAUGE,
        _DESTINATION,
        "Bytes of those events, as JSON.",
        series.by_destination("queued_bytes"),
    ),
)
"""Of the whole process."""
