# This module is pure (no I/O, no clock).
"""The reasons for ended connections, refused requests and wrong bytes: one enum for logs, metrics and docs.

Code names a `Reason` wherever it ends a connection, refuses a request or finds wrong bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Reason(StrEnum):
    """A reason: the value of the label `reason` and of the log field `reason`."""

    CLIENT_CLOSED = "client_closed"
    CLIENT_RESET = "client_reset"
    BROKER_CLOSED = "broker_closed"
    BROKER_RESET = "broker_reset"
    CONNECT_FAILED = "connect_failed"
    CONNECT_TIMEOUT = "connect_timeout"
    RESOLVE_FAILED = "resolve_failed"
    MALFORMED_REQUEST = "malformed_request"
    MALFORMED_RESPONSE = "malformed_response"
    INVALID_FRAME_SIZE = "invalid_frame_size"
    FRAME_TOO_LARGE = "frame_too_large"
    TRUNCATED_REQUEST = "truncated_request"
    TRUNCATED_RESPONSE = "truncated_response"
    STALLED_FRAME = "stalled_frame"
    IDLE_TIMEOUT = "idle_timeout"
    UNREAD_RESPONSE = "unread_response"
    UNANSWERED_REQUEST = "unanswered_request"
    TLS_ON_PLAINTEXT = "tls_on_plaintext"
    PLAINTEXT_ON_TLS = "plaintext_on_tls"
    TLS_FAILED = "tls_failed"
    TLS_TIMEOUT = "tls_timeout"
    UNKNOWN_SERVER_NAME = "unknown_server_name"
    UPSTREAM_TLS_FAILED = "upstream_tls_failed"
    AUTHENTICATION_FAILED = "authentication_failed"
    AUTHENTICATION_TIMEOUT = "authentication_timeout"
    AUTHENTICATION_UNAVAILABLE = "authentication_unavailable"
    AUTHENTICATION_LIMIT = "authentication_limit"
    UNAUTHENTICATED_REQUEST = "unauthenticated_request"
    SESSION_EXPIRED = "session_expired"
    UPSTREAM_AUTHENTICATION_FAILED = "upstream_authentication_failed"
    UPSTREAM_SESSION_EXPIRED = "upstream_session_expired"
    HTTP_ON_KAFKA_PORT = "http_on_kafka_port"
    PROXY_HEADER = "proxy_header"
    UNEXPECTED_PROXY_HEADER = "unexpected_proxy_header"
    UNKNOWN_API = "unknown_api"
    UNSUPPORTED_VERSION = "unsupported_version"
    REFUSED_API = "refused_api"
    CORRELATION_MISMATCH = "correlation_mismatch"
    UNMAPPED_NODE = "unmapped_node"
    NO_FREE_PORT = "no_free_port"
    CLIENT_LIMIT = "client_limit"
    CLUSTER_LIMIT = "cluster_limit"
    PRINCIPAL_LIMIT = "principal_limit"
    ADDRESS_LIMIT = "address_limit"
    ADDRESS_RATE = "address_rate"
    HANDSHAKE_LIMIT = "handshake_limit"
    MEMORY_LIMIT = "memory_limit"
    OUT_OF_DESCRIPTORS = "out_of_descriptors"
    REBOOTSTRAP = "rebootstrap"
    RETIRED_NODE = "retired_node"
    DRAINED = "drained"
    DRAIN_DEADLINE = "drain_deadline"
    SHUTDOWN = "shutdown"
    FAULT_INJECTED = "fault_injected"
    INTERNAL_ERROR = "internal_error"


OF_BROKERS: Final = frozenset(
    {
        Reason.CONNECT_FAILED,
        Reason.CONNECT_TIMEOUT,
        Reason.RESOLVE_FAILED,
        Reason.UPSTREAM_TLS_FAILED,
        Reason.UPSTREAM_AUTHENTICATION_FAILED,
        Reason.UNMAPPED_NODE,
        Reason.NO_FREE_PORT,
    }
)
"""Faults of a broker, or of the way to it: all clients that come have the same one."""

EXPLAINED: Final[Mapping[Reason, str]] = MappingProxyType(
    {
        Reason.CLIENT_CLOSED: "the client closed the connection, nothing was lost",
        Reason.CLIENT_RESET: "the client's socket failed or was reset: look at the client or the network before kproxy",
        Reason.BROKER_CLOSED: "the broker closed the connection, between two frames, or it refused a client of "
        "SaslHandshake v0",
        Reason.BROKER_RESET: "the broker's socket failed or was reset: look at the broker or the network behind kproxy",
        Reason.CONNECT_FAILED: "the broker refused the connection or has no route: check that it runs and listens",
        Reason.CONNECT_TIMEOUT: "the broker did not accept the connection in time: check firewall and load",
        Reason.RESOLVE_FAILED: "the broker's host name has no address: check DNS and bootstrap_servers",
        Reason.MALFORMED_REQUEST: "the client sent bytes that are not a Kafka request",
        Reason.MALFORMED_RESPONSE: "the broker sent bytes that are not the Kafka response that was due",
        Reason.INVALID_FRAME_SIZE: "a frame announced a size below its header's: whoever sent it does not speak Kafka",
        Reason.FRAME_TOO_LARGE: "a frame announced more bytes than the limit: raise the limit if the client is right",
        Reason.TRUNCATED_REQUEST: "the client closed the connection inside a frame",
        Reason.TRUNCATED_RESPONSE: "the broker closed the connection inside a frame",
        Reason.STALLED_FRAME: "a frame began and its rest did not come in time: timeouts.stalled_frame, whole_request",
        Reason.IDLE_TIMEOUT: "a client sent nothing for longer than timeouts.first_request or, later, timeouts.idle",
        Reason.UNREAD_RESPONSE: "the client took nothing of its responses for longer than timeouts.unread_response",
        Reason.UNANSWERED_REQUEST: "the broker did not answer a request within timeouts.unanswered_request",
        Reason.TLS_ON_PLAINTEXT: "a TLS hello came on a plaintext port: set security.protocol to PLAINTEXT",
        Reason.PLAINTEXT_ON_TLS: "a client spoke plaintext on a TLS port: set security.protocol to SSL or SASL_SSL",
        Reason.TLS_FAILED: "the TLS handshake with a client failed; the detail says why",
        Reason.TLS_TIMEOUT: "the TLS handshake with a client was not done within timeouts.tls_handshake",
        Reason.UNKNOWN_SERVER_NAME: "a client asked for a name (SNI) that nobody at the port has, for none, or for a "
        "node that is not there; the detail has the name",
        Reason.UPSTREAM_TLS_FAILED: "the TLS handshake with a broker failed: see upstream_tls, and the detail",
        Reason.AUTHENTICATION_FAILED: "a client could not authenticate to kproxy; the detail says why, the client is "
        "not told",
        Reason.AUTHENTICATION_TIMEOUT: "a client did not authenticate within timeouts.first_request",
        Reason.AUTHENTICATION_UNAVAILABLE: "kproxy cannot check clients' tokens, for it has no keys of their issuer: "
        "see authentication.oauthbearer, and the log",
        Reason.AUTHENTICATION_LIMIT: "a client let its login wait while others waited for their turn: "
        "limits.max_unauthenticated; or many waited at its address, which sends wrong passwords",
        Reason.UNAUTHENTICATED_REQUEST: "a client sent another request before it was authenticated: set its "
        "security.protocol to SASL_SSL or SASL_PLAINTEXT",
        Reason.SESSION_EXPIRED: "a client did not authenticate again within authentication.session_lifetime, or "
        "before its token ended",
        Reason.UPSTREAM_AUTHENTICATION_FAILED: "a broker did not accept kproxy's `identity` for a client's connection; "
        "the detail says why",
        Reason.UPSTREAM_SESSION_EXPIRED: "the session of kproxy's `identity` at the broker ends "
        "(connections.max.reauth.ms), and kproxy could not authenticate again: the client is to connect again",
        Reason.HTTP_ON_KAFKA_PORT: "an HTTP request came on a Kafka port: the admin port is the one for HTTP",
        Reason.PROXY_HEADER: "a connection from proxy_protocol.networks does not begin with a PROXY header: have the "
        "load balancer send one, or take it out of the networks",
        Reason.UNEXPECTED_PROXY_HEADER: "a PROXY header came from an address that is not in proxy_protocol.networks",
        Reason.UNKNOWN_API: "the request's api key is unknown to kproxy",
        Reason.UNSUPPORTED_VERSION: "kproxy does not know this version of the request, or does not serve it here",
        Reason.REFUSED_API: "the request's api key is not open to clients: it is for brokers, or switched off",
        Reason.CORRELATION_MISMATCH: "a response's correlation id is not the one of the oldest request in flight",
        Reason.UNMAPPED_NODE: "a broker named a node for which the configuration has no port: see nodes.ranges",
        Reason.NO_FREE_PORT: "a node has no advertised port: the range is used up; widen it",
        Reason.CLIENT_LIMIT: "the limit of client connections is reached: limits.max_connections, or open files",
        Reason.CLUSTER_LIMIT: "the virtual cluster has as many client connections as it may: its max_connections",
        Reason.PRINCIPAL_LIMIT: "the principal has as many client connections as it may: max_connections_per_principal",
        Reason.ADDRESS_LIMIT: "the client's address has too many connections: limits.max_connections_per_address",
        Reason.ADDRESS_RATE: "the client's address connects too often: limits.connections_per_second_per_address",
        Reason.HANDSHAKE_LIMIT: "there are too many TLS handshakes of clients, and this one had no turn in time, or "
        "let others wait: limits.handshakes_per_second, limits.max_handshakes",
        Reason.MEMORY_LIMIT: "what kproxy holds in memory has reached its limit, and this connection had moved nothing "
        "for longest",
        Reason.OUT_OF_DESCRIPTORS: "no descriptor is left (raise ulimit -n), or no memory for a socket",
        Reason.REBOOTSTRAP: "the topology behind kproxy changed: the client is to bootstrap again (KIP-1102, KIP-899)",
        Reason.RETIRED_NODE: "the client came to a node that its cluster no longer has: it is to bootstrap again",
        Reason.DRAINED: "kproxy drains, and this connection had nothing left to answer",
        Reason.DRAIN_DEADLINE: "kproxy drains, and this connection's requests were not answered by the deadline",
        Reason.SHUTDOWN: "kproxy stopped at once",
        Reason.FAULT_INJECTED: "a rule of `faults` had kproxy end the connection: it is a test",
        Reason.INTERNAL_ERROR: "a fault in kproxy; the log has the traceback: please report it",
    }
)
