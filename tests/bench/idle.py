"""Measure the memory of idle connections, each after one ApiVersions round trip, as of clients without work."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import Final

from .frames import api_versions, connect, receive
from .process import BenchError, rss_kib, settled_rss_kib, wait_until
from .targets import Target

WANTED: Final = 10_000
_SPARE_FILES: Final = 1024  # what kproxy keeps back from clients
_ONE_ADDRESS: Final = 0.9  # the part of the rest that clients of one address may take
_AT_ONCE: Final = 30  # Kafka's listen backlog is 50


def possible(file_limit: int) -> int:
    """Return how many connections the limit of open files allows: a proxy needs two descriptors for each."""
    return min(WANTED, int((file_limit - _SPARE_FILES) / 2 * _ONE_ADDRESS))


def _open(target: Target, stack: ExitStack, count: int) -> None:
    addresses = [target.addresses[number % len(target.addresses)] for number in range(count)]
    request = api_versions()
    for first in range(0, count, _AT_ONCE):
        group: list[socket.socket] = []
        for address in addresses[first : first + _AT_ONCE]:
            connection = stack.enter_context(connect(address))
            connection.sendall(request)
            group.append(connection)
        for connection in group:
            if receive(connection)[8:10] != b"\x00\x00":
                raise BenchError(f"{target.name}: ApiVersions was answered with an error")


def kib_a_connection(target: Target, count: int) -> float:
    """Return the resident memory in KiB that the target gained for each of so many open connections."""
    if target.pid is None:
        raise BenchError(f"{target.name} has no process to measure")
    pid = target.pid
    before = settled_rss_kib(pid)
    with ExitStack() as stack:
        _open(target, stack, count)
        after = settled_rss_kib(pid)
    wait_until(lambda: rss_kib(pid) > 0, f"{target.name} alive after {count} connections")
    return (after - before) / count
