# This module is pure (no I/O, no clock).
"""Metrics of the relay: requests, responses, client connections and their software, connections to brokers.

kproxy.observe.prometheus reads them at each scrape of /metrics.
"""

from __future__ import annotations

from typing import Final

from kproxy.observe import series
from kproxy.observe.families.family import SOFTWARE, Family, Kind

_API: Final = ("api", "version")

RELAY: Final[tuple[Family[series.Rows], ...]] = (
    Family("kproxy_requests_total", Kind.COUNTER, _API, "Requests that came from clients.", series.by_api("requests")),
    Family("kproxy_responses_total", Kind.COUNTER, _API, "Responses that went to clients.", series.by_api("responses")),
    Family(
        "kproxy_request_bytes_total",
        Kind.COUNTER,
        _API,
        "Bytes of requests, with the frame's size field.",
        series.by_api("request_bytes"),
    ),
    Family(
        "kproxy_response_bytes_total",
        Kind.COUNTER,
        _API,
        "Bytes of responses, with the frame's size field.",
        series.by_api("response_bytes"),
    ),
    Family(
        "kproxy_response_errors_total",
        Kind.COUNTER,
        (*_API, "error", "error_class"),
        "Error codes that responses carried, by Kafka's name and KIP-1050 class.",
        series.by_error,
    ),
    Family(
        "kproxy_request_proxy_duration_seconds",
        Kind.HISTOGRAM,
        _API,
        "Time that a request and its response spent in kproxy itself.",
        series.histograms_by_api("proxy"),
    ),
    Family(
        "kproxy_request_upstream_duration_seconds",
        Kind.HISTOGRAM,
        _API,
        "Time from a request's last byte to the broker until its response's first byte.",
        series.histograms_by_api("upstream"),
    ),
    Family(
        "kproxy_requests_refused_total",
        Kind.COUNTER,
        ("api", "reason"),
        "Requests that were not let through.",
        series.by_refusal,
    ),
    Family(
        "kproxy_connections_opened_total",
        Kind.COUNTER,
        (),
        "Client connections that were accepted.",
        series.whole("connections_opened"),
    ),
    Family(
        "kproxy_connections_active",
        Kind.GAUGE,
        (),
        "Client connections that are open.",
        series.whole("connections_active"),
    ),
    Family(
        "kproxy_connections_closed_total",
        Kind.COUNTER,
        ("reason",),
        "Client connections that ended, by reason.",
        series.by_key("closed"),
    ),
    Family(
        "kproxy_authentications_total",
        Kind.COUNTER,
        ("mechanism", "outcome"),
        "Clients that authenticated to kproxy, by outcome: accepted or refused.",
        series.by_pair("authentications"),
    ),
    Family(
        "kproxy_upstream_reauthentications_total",
        Kind.COUNTER,
        ("outcome",),
        "Times that kproxy authenticated to a broker again, on a client's connection, before the session of its "
        "`identity` ended: accepted, refused, or failed without an answer.",
        series.by_key("reauthentications"),
    ),
    Family(
        "kproxy_faults_injected_total",
        Kind.COUNTER,
        ("api", "fault"),
        "Faults that kproxy injected for a test, by fault: an error's name, delay, close or half.",
        series.by_pair("faults"),
    ),
    Family(
        "kproxy_protocol_errors_total",
        Kind.COUNTER,
        ("reason",),
        "Bytes from a client or a broker that were not what they should be.",
        series.by_key("protocol_errors"),
    ),
    Family(
        "kproxy_backpressure_pauses_total",
        Kind.COUNTER,
        ("direction",),
        "Times that kproxy read no further because a peer took no more: downstream the client, upstream the broker.",
        series.by_key("pauses"),
    ),
    Family(
        "kproxy_spliced_bytes_total",
        Kind.COUNTER,
        (),
        "Bytes that the kernel moved from socket to socket without a copy in the process.",
        series.whole("spliced_bytes"),
    ),
    Family(
        "kproxy_held_bytes",
        Kind.GAUGE,
        (),
        "Bytes held in memory for a peer that lags or a frame that must be whole.",
        series.whole("held_bytes"),
    ),
    Family(
        "kproxy_producer_ids_issued_total",
        Kind.COUNTER,
        (),
        "Producer ids that producers got with their Kafka cluster in them.",
        series.whole("producer_ids_issued"),
    ),
    Family(
        "kproxy_batches_renumbered_total",
        Kind.COUNTER,
        (),
        "Batches written under another producer id than the client's, since that is from before a failover.",
        series.whole("batches_renumbered"),
    ),
    Family(
        "kproxy_throttles_total",
        Kind.COUNTER,
        ("api",),
        "Produce requests and Fetch responses for which a client was throttled: its principal was above its rate.",
        series.by_key("throttles"),
    ),
    Family(
        "kproxy_throttle_seconds_total",
        Kind.COUNTER,
        ("api",),
        "Seconds for which clients were throttled.",
        series.by_key("throttle_seconds"),
    ),
    Family(
        "kproxy_upstream_reachable",
        Kind.GAUGE,
        ("node",),
        "1 when the last attempt to reach the broker succeeded, 0 when it failed; absent when there was none.",
        series.reachable_by_node,
    ),
    Family(
        "kproxy_upstream_connects_total",
        Kind.COUNTER,
        ("node",),
        "Connections made to a broker.",
        series.connects_by_node,
    ),
    Family(
        "kproxy_upstream_connect_failures_total",
        Kind.COUNTER,
        ("node", "reason"),
        "Connections to a broker that were not made.",
        series.connect_failures_by_node,
    ),
    Family(
        "kproxy_client_software_connections_active",
        Kind.GAUGE,
        SOFTWARE,
        "Open connections by the software that the client says it is (KIP-511).",
        series.by_pair("software.active"),
    ),
    Family(
        "kproxy_client_software_connections_opened_total",
        Kind.COUNTER,
        SOFTWARE,
        "Connections ever by the software that the client says it is (KIP-511).",
        series.by_pair("software.total"),
    ),
)

ACCEPTING: Final[tuple[Family[series.ProcessRows], ...]] = (
    Family(
        "kproxy_connections_limit",
        Kind.GAUGE,
        (),
        "The most client connections at a time, by limits.max_connections and the limit of open files.",
        series.of_accepting("max_connections"),
    ),
    Family(
        "kproxy_accept_pauses_total",
        Kind.COUNTER,
        (),
        "Times that new clients waited in the kernel, since limits.connections_per_second was reached.",
        series.of_accepting("accept_pauses"),
    ),
    Family(
        "kproxy_tls_handshakes_waiting",
        Kind.GAUGE,
        (),
        "TLS handshakes with clients that wait for their turn: limits.handshakes_per_second, limits.max_handshakes.",
        series.of_accepting("handshakes_waiting"),
    ),
    Family(
        "kproxy_tls_handshakes_active",
        Kind.GAUGE,
        (),
        "TLS handshakes with clients that are under way, at most limits.max_handshakes.",
        series.of_accepting("handshakes_active"),
    ),
    Family(
        "kproxy_tls_handshake_seconds",
        Kind.HISTOGRAM,
        (),
        "How long clients' TLS handshakes took that succeeded, from the whole hello on, with the wait for their turn.",
        series.handshake_seconds,
    ),
)
