"""Attacks on the admin port, and by clients whose names it shows."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from tests.bench.frames import api_versions as greeting

from . import otlp, pushes
from .attack import Attack, Steps, Target, converse, numbered, pause

SLOW_HEADS: Final = 64
_HOSTILE: Final = '\x01"\\<>&' * 5_000
_HEAD: Final = b"GET /livez HTTP/1.1\r\nHost: kproxy\r\nX-Slow: "


def slow_heads(target: Target) -> Steps:
    """64 request heads that grow by a byte every half second; a new one for each that is closed."""
    yield
    slow: list[socket.socket] = []
    for _ in target.lasting():
        slow = [connection for connection in slow if _grows(connection)]
        for connection in target.connect_some(SLOW_HEADS - len(slow), target.admin_port):
            with suppress(OSError):
                connection.sendall(_HEAD)
                slow.append(connection)
        pause(0.5)


def _grows(connection: socket.socket) -> bool:
    """Send another byte; return whether the connection is still open."""
    try:
        connection.send(b"x")
        connection.setblocking(False)
        return bool(connection.recv(1024))
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        connection.setblocking(True)


def _get(target: Target, path: str) -> bytes:
    """Return the answer to one request; what there is of it, when the connection breaks."""
    received = bytearray()
    connection = target.connect(target.admin_port)
    with connection, suppress(OSError):
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: kproxy\r\nConnection: close\r\n\r\n".encode())
        while part := connection.recv(1 << 20):
            received += part
    return bytes(received)


def hostile_names(target: Target) -> Steps:
    """500 connections with names of 30,000 characters that JSON escapes, and their page asked for again and again."""
    data = greeting(_HOSTILE, b"name", b"1")
    for connection in target.connect_some(500):
        with suppress(OSError):
            connection.sendall(data)
    pause(1)
    yield
    largest = 0
    for _ in target.lasting():
        largest = max(largest, len(_get(target, "/api/v1/connections?limit=1000")))
    target.facts["page"] = f"{largest >> 10:,} KiB"


def large_pages(target: Target) -> Steps:
    """All series, and then the pages of metrics asked for again and again."""
    for _ in pushes.all_series(target):
        pass
    pause(2)
    yield
    largest = 0
    for _ in target.lasting():
        largest = max(largest, len(_get(target, "/metrics/clients")), len(_get(target, "/metrics")))
    target.facts["page"] = f"{largest >> 10:,} KiB"


def unread_pages(target: Target) -> Steps:
    """All series, and then 64 connections that ask for their page and read nothing."""
    for _ in pushes.all_series(target):
        pass
    pause(2)
    yield
    for _ in range(SLOW_HEADS):
        with suppress(OSError):
            connection = target.connect(target.admin_port, receive_buffer=4096)
            connection.sendall(b"GET /metrics/clients HTTP/1.1\r\nHost: kproxy\r\n\r\n")
    for left in target.lasting():
        pause(left)


def pipelined_heads(target: Target) -> Steps:
    """10,000 requests on one connection to the admin port, again and again."""
    asked = b"GET /livez HTTP/1.1\r\nHost: kproxy\r\n\r\n" * 10_000
    yield
    for left in target.lasting():
        converse(target.connect(target.admin_port), asked, 1 << 30, min(left, 1))


HTTP_JUNK: Sequence[bytes] = (
    b"POST /api/v1/reload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 10_000,
    b"POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxx",
    b"GET / HTTP/1.1\r\n" + b"X-Many: header\r\n" * 20_000,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\n",
)
"""Requests that are none, or too much of one."""


def http_junk(target: Target) -> Steps:
    """Connections to the admin port one after the other that send no good request."""
    yield
    for turn, _ in enumerate(target.lasting()):
        connection = target.connect(target.admin_port)
        converse(connection, HTTP_JUNK[turn % len(HTTP_JUNK)], 1 << 30, 0.05)
        connection.close()


def many_gets(target: Target) -> Steps:
    """10,000 telemetry instances with different names, and their page asked for again and again."""
    connection = target.connect()
    asked = [greeting("i", b"name", b"1")]
    asked += [otlp.get(number.to_bytes(16, "big"), f"{number}" * 50) for number in range(2, 10_002)]
    converse(connection, numbered(asked), len(asked), 20)
    yield
    for _ in target.lasting():
        _get(target, "/api/v1/clients?limit=10000")


ATTACKS: Final = (
    Attack("slow-heads", 12, "64 slow request heads, refilled", slow_heads, 8),
    Attack("hostile-names", 12, "/api/v1/connections with 500 hostile names", hostile_names),
    Attack("large-pages", 12, "scrapes of 500,000 series", large_pages, 10),
    Attack("unread-pages", 12, "64 clients that do not read a page of all series", unread_pages),
    Attack("pipelined-heads", None, "10,000 requests pipelined on the admin port", pipelined_heads),
    Attack("http-junk", None, "no good requests on the admin port", http_junk),
    Attack("many-instances", None, "/api/v1/clients of 10,000 instances", many_gets),
)
