# This module is pure (no I/O, no clock).
"""How much the clients of the admin port may use: connections, bytes of a request, pages at a time, and seconds.

`serve_admin` takes one `Limits`; the defaults are those of every kproxy.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one admin port. Sizes are in bytes."""

    connections: int = 128
    """Further ones take the place of those that wait longest. Each is a descriptor. More than `pages` and
    `commands` together."""
    grace_seconds: float = 0.025
    """How long a new connection keeps its place before its first bytes are here."""
    answer_grace: float = 0.5
    """How long a new connection whose request is whole keeps its place, although such requests have most places.

    `/metrics` of many series takes 100 ms and more; the kubelet, for whom there may be no room meanwhile, waits 1 s.
    """
    handshake_seconds: float = 10
    """For a whole TLS handshake, from the moment at which the connection was accepted."""
    handshake_pace: float = 0.004
    """Seconds between two parts of handshakes: a signature takes a millisecond, in which the relay does nothing."""
    handshake_grace: float = 0.2
    """How long a connection in its handshake keeps its place for its next part. At that pace 50 may do so at a time."""
    handshake_queue: int = 8
    """Parts that wait for their turn; while there are so many, no connection is accepted."""
    pages: int = 8
    """Pages of /api/v1 and /metrics/clients that are made or sent at a time."""
    commands: int = 8
    """Requests that change something, at a time: a failover may take a minute."""
    queue: int = 16
    """Further pages, and as many commands, that wait for one to end; others are answered 503."""
    queue_seconds: float = 2
    """How long one waits before it is answered 503."""
    header_bytes: int = 16 * 1024
    header_lines: int = 100
    """h11 takes microseconds for each line, all in one go."""
    body_bytes: int = 64 * 1024
    held_bytes: int = 64 * 1024 * 1024
    """Of whole pages that clients have not taken yet; one page may be larger."""
    idle_seconds: float = 120
    """Between two requests; above a minute, so that Prometheus keeps its connection between scrapes."""
    request_seconds: float = 10
    """For a whole request, however its bytes come."""
    response_seconds: float = 30
    stall_seconds: float = 0.5
    """How long a client may take nothing of a page while others wait to have theirs made."""
    linger_seconds: float = 1
