"""A switch while a thousand idle clients are connected."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.support import proc
from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, api_versions
from tests.support.wait import until

COUNT = 1000
AT_ONCE = 30  # Kafka's listen backlog is 50
WITHIN = 2.0
CPU_SECONDS = 1.5
MEMORY = 8 << 20
FIGURES = Path(__file__).parents[2] / "build" / "failover-idle.txt"


def connected(ports: Sequence[int], stack: ExitStack) -> list[socket.socket]:
    """Open connections, evenly spread over the ports, each after one round trip."""
    sockets = []
    for begin in range(0, COUNT, AT_ONCE):
        group = [
            stack.enter_context(RawClient(ports[number % len(ports)], timeout=30))
            for number in range(begin, min(begin + AT_ONCE, COUNT))
        ]
        for client in group:
            client.send(api_versions(1))
        for client in group:
            client.receive()
        sockets += [client.socket for client in group]
    return sockets


def seconds_until_closed(sockets: Sequence[socket.socket], begun: float, timeout: float) -> list[float]:
    """Return the seconds from `begun` to each socket's end, of those that ended in time."""
    watched = {one.fileno(): one for one in sockets}
    ends = []
    with select.epoll() as poll:
        for number in watched:
            poll.register(number, select.EPOLLIN | select.EPOLLRDHUP)
        while watched and time.monotonic() - begun < timeout:
            for number, _ in poll.poll(0.05):
                if not received(watched[number]):
                    poll.unregister(number)
                    del watched[number]
                    ends.append(time.monotonic() - begun)
    return ends


def received(connection: socket.socket) -> bytes:
    """Return what arrived; nothing at the connection's end, graceful or not."""
    try:
        return connection.recv(1 << 16)
    except ConnectionError:
        return b""


def test_thousand_idle_connections(kafka: Backend, newest_kafka: Backend, tmp_path: Path, bounds: Bounds) -> None:
    """All connections are closed within 2 s, and kproxy's CPU time and memory stay bounded."""
    servers = {"first": kafka.cluster.bootstrap, "second": newest_kafka.cluster.bootstrap}
    with Proxy(tmp_path, {"kafka": servers}) as proxy, ExitStack() as stack:
        ports = [proxy.port(), *proxy.node_ports().values()]
        sockets = connected(ports, stack)
        until(lambda: proxy.metric("kproxy_connections_active") == COUNT, "all connections")
        cpu, rss = proc.cpu_seconds(proxy.pid), proxy.rss
        begun = time.monotonic()
        said = proxy.fail_over("kafka", "second")
        answered = time.monotonic() - begun
        ends = seconds_until_closed(sockets, begun, 30 * WITHIN)
        spent, grown = proc.cpu_seconds(proxy.pid) - cpu, proc.peak_rss_bytes(proxy.pid) - rss
        figures = (
            f"{COUNT} idle connections, {time.strftime('%Y-%m-%d')}: answered after {answered:.2f} s, the first was "
            f"closed after {min(ends, default=-1):.2f} s, the last after {max(ends, default=-1):.2f} s; "
            f"kproxy spent {spent:.2f} s of CPU; RSS {rss / 2**20:.1f} MiB before, "
            f"{grown / 2**20:+.1f} MiB at its peak\n"
        )
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(figures)
        print(figures)
        assert said["connections"] == COUNT
        assert len(ends) == COUNT, f"{COUNT - len(ends)} connections are still open"
        bounds.below(max(ends), WITHIN, "seconds until the last was closed")
        bounds.below(spent, CPU_SECONDS, "seconds of CPU")
        bounds.below(grown, MEMORY, "bytes that memory grew by")
