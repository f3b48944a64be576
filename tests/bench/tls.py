"""Measure TLS handshakes, each with a first request, and the memory of idle TLS connections."""

from __future__ import annotations

import socket
import ssl
from contextlib import ExitStack

from .frames import api_versions, connect, receive
from .process import BenchError, settled_rss_kib
from .targets import Target


def _context(target: Target) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=target.ca)
    context.options |= ssl.OP_NO_TICKET  # each handshake is a whole one
    return context


def _greeted(target: Target, context: ssl.SSLContext, number: int) -> socket.socket:
    """Return a connection after its handshake and an ApiVersions round trip."""
    host, port = target.addresses[number % len(target.addresses)]
    connection = context.wrap_socket(connect((host, port)), server_hostname=host)
    connection.sendall(api_versions())
    if receive(connection)[8:10] != b"\x00\x00":
        raise BenchError(f"{target.name}: ApiVersions was answered with an error")
    return connection


def shake_hands(target: Target, count: int) -> None:
    """Connect so many times, one after the other."""
    context = _context(target)
    for number in range(count):
        _greeted(target, context, number).close()


def kib_a_connection(target: Target, count: int) -> float:
    """Return the resident memory in KiB that the target gained for each of so many open connections."""
    assert target.pid is not None
    before, context = settled_rss_kib(target.pid), _context(target)
    with ExitStack() as stack:
        for number in range(count):
            stack.enter_context(_greeted(target, context, number))
        return (settled_rss_kib(target.pid) - before) / count
