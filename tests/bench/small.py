"""One-record Produce requests in closed loops: many connections for the cost of a request, one for its latency."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Final

from .frames import OneRecordProduce, connect, receive
from .process import BenchError

CONNECTIONS: Final = 16
_BLOCK: Final = 100  # requests to one target before the next target has its turn


def closed_loop(address: tuple[str, int], produce: OneRecordProduce, requests: int) -> None:
    """Keep one request in flight on each of several connections until all are answered without an error."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(connect(address)) for _ in range(CONNECTIONS)]
        epoll = stack.enter_context(select.epoll())
        by_descriptor = {connection.fileno(): connection for connection in sockets}
        for connection in sockets:
            epoll.register(connection.fileno(), select.EPOLLIN)
            connection.sendall(produce.request)
        sent = len(sockets)
        answered = 0
        while answered < requests:
            ready = epoll.poll(30)
            if not ready:
                raise BenchError(f"{address}: no response for 30 s after {answered} requests")
            for descriptor, _ in ready:
                connection = by_descriptor[descriptor]
                produce.check(receive(connection))
                answered += 1
                if sent < requests:
                    connection.sendall(produce.request)
                    sent += 1


def _block(connection: socket.socket, produce: OneRecordProduce, count: int) -> list[float]:
    latencies = []
    for _ in range(count):
        start = time.perf_counter()
        connection.sendall(produce.request)
        response = receive(connection)
        latencies.append(time.perf_counter() - start)
        produce.check(response)
    return latencies


def requests_during(connection: socket.socket, produce: OneRecordProduce, seconds: float) -> list[float]:
    """Return the seconds from send to the whole response of each request, one after the other for so long."""
    samples: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        samples += _block(connection, produce, _BLOCK)
    return samples


def latencies(
    addresses: Mapping[str, tuple[str, int]], produce: OneRecordProduce, requests: int
) -> dict[str, list[float]]:
    """Return the seconds from send to the whole response, by target; blocks alternate, so that drift hits all alike."""
    samples: dict[str, list[float]] = {name: [] for name in addresses}
    with ExitStack() as stack:
        connections = {name: stack.enter_context(connect(address)) for name, address in addresses.items()}
        for connection in connections.values():
            _block(connection, produce, _BLOCK)
        for _ in range(0, requests, _BLOCK):
            for name, connection in connections.items():
                samples[name] += _block(connection, produce, _BLOCK)
    return samples
