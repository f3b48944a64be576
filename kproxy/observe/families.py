"""Every metric of a virtual cluster, once: its name, type, labels, help, and how it is read off the counters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from kproxy.observe import series


class Kind(StrEnum):
    """Prometheus' metric types, as far as they are used."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """A metric family; every series has the label `cluster` before `labels`. `rows` yields the values of `labels`."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str
    rows: series.Rows


_API: Final = ("api", "version")
_SOFTWARE: Final = ("software_name", "software_version")
_COUNTER, _GAUGE, _HISTOGRAM = Kind.COUNTER, Kind.GAUGE, Kind.HISTOGRAM

FAMILIES: Final = (
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
)
