"""Hostile clients of the admin port of a live kproxy: probes are answered, and Kafka's clients notice nothing."""

from __future__ import annotations

import contextlib
import http.client
import select
import socket
import threading
import time
from collections.abc import Iterator
from statistics import median
from types import TracebackType
from typing import Self

import pytest

from tests.support.beside import Beside
from tests.support.bounds import Bounds
from tests.support.healthy import Healthy
from tests.support.proxy import Proxy
from tests.support.raw import HOST, RawClient, request
from tests.support.wait import until

PROBES = ("/livez", "/readyz", "/metrics")
ROUNDS = 10
AT_MOST = 1.0
"""Seconds until a probe is answered, at the median: the kubelet waits for no longer. While connections storm in from
the tests' own processors, what is counted instead is how many were served before it; `get` fails after five seconds.
"""
HEAD = b"GET /livez HTTP/1.1\r\nHost: kproxy\r\n"
METRICS = b"GET /metrics HTTP/1.1\r\nHost: kproxy\r\n\r\n"
API_VERSIONS = 18
HOSTILE = "\U0001f480" * 60
"""A client id of 240 bytes; each of its characters is twelve bytes of JSON."""


class Attackers(Beside):
    """Connections on which something is sent, and a byte now and then; those that kproxy ends may be replaced."""

    def __init__(self, port: int, count: int, sent: bytes, drip: bytes = b"", *, again: bool = True) -> None:
        super().__init__(f"attackers at {port}")
        self.replaced = 0
        self._again = again
        self.ready = threading.Event()
        self._port, self._sent, self._drip = port, sent, drip
        self._open = [self._dial() for _ in range(count)]

    def _dial(self) -> socket.socket:
        dialled = socket.socket()
        dialled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # nothing is read: kproxy's buffer fills soon
        dialled.settimeout(10)
        dialled.connect((HOST, self._port))
        dialled.setblocking(False)
        with contextlib.suppress(OSError):
            dialled.send(self._sent)
        return dialled

    def _run(self) -> None:
        while not self._done.is_set():
            for place, each in enumerate(self._open):
                if self._done.is_set():
                    return
                if self._again and (_is_ended(each) or not self._drips(each)):
                    each.close()
                    self._open[place] = self._dial()
                    self.replaced += 1
            self.ready.set()
            self._done.wait(0.01)

    def _drips(self, each: socket.socket) -> bool:
        try:
            each.send(self._drip)
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True

    def __enter__(self) -> Self:
        super().__enter__()
        assert self.ready.wait(30)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        for each in self._open:
            each.close()


def _is_ended(each: socket.socket) -> bool:
    """Whether kproxy has closed the connection, as far as that shows without reading."""
    poll = select.poll()
    poll.register(each, select.POLLRDHUP)
    return bool(poll.poll(0))


def answered(proxy: Proxy, probe: str) -> float:
    """Send a probe, which must be answered 200; return the seconds that it took."""
    begun = time.monotonic()
    assert (proxy.get(probe)[0], probe) == (200, probe)
    return time.monotonic() - begun


ATTACKS = {
    "64 heads, a byte at a time": (64, HEAD, b"x", True),
    "200 heads, a byte at a time": (200, HEAD, b"x", True),
    "500 connections": (500, b"G", b"", False),
    "64 that do not read": (64, METRICS * 100, b"", True),
    "200 that do not read": (200, METRICS * 100, b"", True),
}


@pytest.mark.parametrize(("count", "sent", "drip", "again"), ATTACKS.values(), ids=ATTACKS)
def test_probes_are_answered(
    proxy: Proxy, healthy: Healthy, count: int, sent: bytes, drip: bytes, again: bool, bounds: Bounds
) -> None:
    """As long as the attack goes on, each time, and within what a probe waits for."""
    with Attackers(proxy.admin_port, count, sent, drip, again=again) as attackers:
        took = []
        for probe in PROBES * ROUNDS:
            before = attackers.replaced
            took.append(answered(proxy, probe))
            assert attackers.replaced - before <= 2 * count
        bounds.below(median(took), AT_MOST, "seconds until a probe was answered")
    bounds.below(healthy.slowest, AT_MOST, "seconds of a healthy client")


def test_a_scrape_as_a_storm_begins(proxy: Proxy, healthy: Healthy) -> None:
    """It is answered, although 200 others ask for the same page, and most places are theirs until it is made."""
    for _ in range(5):
        with Attackers(proxy.admin_port, 200, METRICS * 100):
            answered(proxy, "/metrics")


@pytest.fixture
def hostile(proxy: Proxy) -> Iterator[int]:
    """Connections of many clients that call themselves something long; their number."""
    clients = []
    for number in range(1000):
        clients.append(RawClient(proxy.port()))
        clients[-1].ask(request(API_VERSIONS, 0, 1, client_id=f"{number:04}{HOSTILE}"))
    yield len(clients)
    for client in clients:
        client.close()


@pytest.mark.parametrize("path", ["/api/v1/connections?limit=1000", "/api/v1/clients?limit=1000"])
def test_large_pages(proxy: Proxy, healthy: Healthy, hostile: int, path: str, bounds: Bounds) -> None:
    """Some whole, some never read: probes are answered beside them, and memory stays as it is."""
    proxy.get(path)
    before = proxy.rss
    asked = b"GET %b HTTP/1.1\r\nHost: kproxy\r\n\r\n" % path.encode()
    with Attackers(proxy.admin_port, 64, asked * 20):
        took = median(answered(proxy, "/livez") for _ in range(ROUNDS))
        bounds.below(took, AT_MOST, "seconds until a probe was answered")
        assert proxy.rss - before < 64 << 20
    until(lambda: proxy.get(path)[0] == 200, "the page")
    page = proxy.get_json(path)
    [rows] = [value for value in page.values() if isinstance(value, list)]
    assert len(rows) >= hostile - 1
    bounds.below(healthy.slowest, AT_MOST, "seconds of a healthy client")


def test_ten_thousand_requests_at_once(proxy: Proxy, healthy: Healthy, bounds: Bounds) -> None:
    """On one connection, which takes turns with all others; each is answered."""
    sent = HEAD + b"\r\n"
    with socket.create_connection((HOST, proxy.admin_port), timeout=30) as busy:
        sender = threading.Thread(target=busy.sendall, args=[sent * 10_000 + sent[:-2] + b"Connection: close\r\n\r\n"])
        sender.start()
        bounds.below(answered(proxy, "/livez"), AT_MOST, "seconds until a probe was answered")
        received = bytearray()
        while data := busy.recv(1 << 16):
            received += data
        sender.join()
    assert received.count(b"HTTP/1.1 200 ") == 10_001
    bounds.below(healthy.slowest, AT_MOST, "seconds of a healthy client")


def test_a_page_of_another_site(proxy: Proxy) -> None:
    """Its name was made to lead to kproxy's address (DNS rebinding): no command is carried out for it."""
    before = proxy.get_json("/api/v1/clusters")["clusters"][0]["epoch"]
    connection = http.client.HTTPConnection(HOST, proxy.admin_port, timeout=5)
    headers = {"Host": "evil.example:9190", "Origin": "http://evil.example:9190"}
    connection.request("POST", f"/api/v1/clusters/{proxy.cluster_names()[0]}/rebootstrap", headers=headers)
    answer = connection.getresponse()
    assert (answer.status, b"allowed_hosts" in answer.read()) == (403, True)
    connection.close()
    assert proxy.get_json("/api/v1/clusters")["clusters"][0]["epoch"] == before
