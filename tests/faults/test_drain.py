"""SIGTERM: kproxy answers what it has received, then ends."""

from __future__ import annotations

import signal
import socket
import time

import pytest

from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.proxy import DRAIN_SECONDS, HOST, Proxy
from tests.support.raw import RawClient, api_versions, fetch
from tests.support.side import leader_port
from tests.support.wait import until


def waiting_fetch(proxy: Proxy, kafka: Backend, seconds: float) -> RawClient:
    """Return a client after its fetch of an empty partition reached the broker, which holds it for so many seconds."""
    topic = kafka.topic(1)
    client = RawClient(leader_port(proxy, kafka, topic), timeout=30)
    client.ask(api_versions(1))
    client.send(fetch(2, topic, max_wait_ms=int(1000 * seconds)))
    until(lambda: in_flight(proxy) == 1, "the fetch in flight")
    return client


def in_flight(proxy: Proxy) -> int:
    """Return how many requests wait for a broker, over all connections."""
    return sum(shown["in_flight"] for shown in proxy.get_json("/api/v1/connections")["connections"])


def test_requests_in_flight_are_answered(proxy: Proxy, kafka: Backend, bounds: Bounds) -> None:
    """Readiness falls, new clients are refused, idle connections close, the long fetch is answered, exit code 0."""
    with waiting_fetch(proxy, kafka, 4) as client, RawClient(proxy.port()) as idle:
        idle.ask(api_versions(1))
        begun = time.monotonic()
        proxy.signal()
        until(lambda: proxy.get("/readyz")[0] == 503, "not ready")
        assert proxy.get_json("/readyz")["state"] == "draining"
        assert proxy.get("/livez")[0] == 200
        for port in (proxy.port(), *proxy.node_ports().values()):
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((HOST, port), timeout=2).close()
        assert idle.wait_closed(2) == b""
        assert client.receive()[0] == 2
        assert client.wait_closed(2) == b""
        assert proxy.wait() == 0
        assert time.monotonic() - begun > 2
        bounds.below(time.monotonic() - begun, DRAIN_SECONDS, "seconds of a drain")
    assert {line["reason"] for line in proxy.logged(event="connection ended")} == {"drained"}


def test_idle_kproxy_goes_at_once(proxy: Proxy, bounds: Bounds) -> None:
    """With nothing in flight a drain takes no time."""
    with RawClient(proxy.port()) as idle:
        idle.ask(api_versions(1))
        begun = time.monotonic()
        proxy.signal()
        assert proxy.wait() == 0
        bounds.below(time.monotonic() - begun, 2, "seconds of an idle drain")


def test_second_sigterm_stops_at_once(proxy: Proxy, kafka: Backend, bounds: Bounds) -> None:
    """A second SIGTERM ends the drain at once; the exit code shows that requests were cut off."""
    with waiting_fetch(proxy, kafka, 8) as client:
        proxy.signal()
        until(lambda: proxy.get("/readyz")[0] == 503, "not ready")
        begun = time.monotonic()
        proxy.signal()
        assert proxy.wait() == 1
        bounds.below(time.monotonic() - begun, 2, "seconds until it has stopped")
        assert client.wait_closed(2) == b""


def test_deadline_ends_the_drain(proxy: Proxy, kafka: Backend) -> None:
    """A request that is not answered by the deadline is cut off and logged so."""
    with waiting_fetch(proxy, kafka, DRAIN_SECONDS + 15) as client:
        begun = time.monotonic()
        proxy.signal()
        proxy.wait(DRAIN_SECONDS + 3)
        assert time.monotonic() - begun >= DRAIN_SECONDS - 1
        assert client.wait_closed(2) == b""
    assert proxy.logged(reason="drain_deadline")


def test_sigint_drains_too(proxy: Proxy, kafka: Backend) -> None:
    """Ctrl-C in a terminal drains as SIGTERM does."""
    with waiting_fetch(proxy, kafka, 2) as client:
        proxy.signal(signal.SIGINT)
        assert client.receive()[0] == 2
        assert proxy.wait() == 0
