"""The event stream while it cannot be delivered and ten thousand connections come and go."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.footprint import nothing_kept
from tests.support.healthy import Healthy
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, api_versions
from tests.support.wait import until

CONNECTIONS = 10_000
WARM = 2_000
"""Connections until what is bounded is full: from 500 to 10,000 the memory grows by 6 MiB, from 7,000 on not at all."""
AT_A_TIME = 100
ROOM = 1000


@pytest.fixture
def nowhere() -> Iterator[str]:
    """Yield servers that take connections and never answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def test_queues_that_are_full(kafka: Backend, tmp_path: Path, nowhere: str, bounds: Bounds) -> None:
    """No connection waits, memory is bounded, and every event is counted as delivered, dropped or queued."""
    (tmp_path / "in the way").write_text("")
    destinations = [
        {"name": "topic", "type": "kafka", "topic": "t", "bootstrap_servers": nowhere, "max_events": ROOM},
        {"name": "lake", "type": "files", "directory": str(tmp_path / "in the way"), "max_bytes": "256KiB"},
    ]
    events = {"destinations": destinations, "interval": "1s"}
    with Proxy(tmp_path, {"kafka": kafka.cluster.bootstrap}, events=events) as proxy:
        come_and_go(proxy, WARM)
        until(lambda: counted(proxy, "offered", "topic") >= 2 * WARM, "the first events")
        assert counted(proxy, "queued", "topic") == ROOM
        with Healthy(proxy.port()) as healthy, nothing_kept(proxy):
            come_and_go(proxy, CONNECTIONS - WARM)
        # Nothing is ever taken from these queues, so a wait for room would not end; a busy machine's own is shorter.
        bounds.below(healthy.slowest, 5.0, "seconds of a healthy client")
        until(lambda: counted(proxy, "offered", "topic") >= 2 * CONNECTIONS, "every event")
        for name in ("topic", "lake"):
            assert counted(proxy, "delivered", name) == 0
            until(partial(all_counted, proxy, name), f"every event of {name} is queued or dropped")
        assert counted(proxy, "queued", "topic") == ROOM
        assert counted(proxy, "queued_bytes", "lake") <= 256 << 10
        assert "in the way" in "".join(line["error"] for line in proxy.logged(event="cannot deliver", to="lake"))


def all_counted(proxy: Proxy, name: str) -> bool:
    """Whether each event that a destination was offered is in its queue, or dropped."""
    dropped = proxy.metric("kproxy_events_dropped_total", destination=name, reason="full")
    return counted(proxy, "offered", name) == counted(proxy, "queued", name) + dropped


def come_and_go(proxy: Proxy, count: int) -> None:
    """Open and close connections that ask one thing each, some at a time."""
    for _ in range(count // AT_A_TIME):
        clients = [RawClient(proxy.port()) for _ in range(AT_A_TIME)]
        for client in clients:
            client.send(api_versions(1))
        for client in clients:
            assert client.receive()[0] == 1
            client.close()


def counted(proxy: Proxy, what: str, destination: str) -> float:
    """Return a destination's counter or gauge."""
    suffix = "" if what.startswith("queued") else "_total"
    return proxy.metric(f"kproxy_events_{what}{suffix}", destination=destination)
