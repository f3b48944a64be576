"""The well-behaved clients besides those of the libraries: the victim, churn, pushes of metrics, scrapes."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Generator, Iterator

from tests.bench.pushes import Client as Pushed
from tests.soak.loops import REFUSALS, Loop
from tests.soak.telemetry import pushed, subscribed
from tests.soak.wire import GOOD, connected, response
from tests.support.proxy import Proxy
from tests.support.raw import api_versions, metadata

PAGES = ("/metrics", "/metrics/clients", "/readyz", "/livez", "/api/v1/clients", "/api/v1/connections?limit=100")


class Victim:
    """Asks for metadata on one connection, again and again; `taken` returns the seconds of each request.

    A request during which its connection was closed, as by a failover, does not count: it is made again.
    """

    def __init__(self, port: int) -> None:
        self.reconnects = 0
        self._port = port
        self._socket: socket.socket | None = None
        self._numbers = itertools.count(1)
        self._taken: list[float] = []
        self._lock = threading.Lock()

    def ask(self) -> None:
        """Make one request, on a new connection if need be."""
        try:
            if self._socket is None:
                self._socket = connected(self._port, GOOD)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._exchange(api_versions(0))
            begun = time.monotonic()
            self._exchange(metadata(next(self._numbers)))
        except REFUSALS:
            self.close()
            self.reconnects += 1
            raise
        with self._lock:
            self._taken.append(time.monotonic() - begun)

    def taken(self) -> list[float]:
        """Return the seconds of the requests since the last call."""
        with self._lock:
            taken, self._taken = self._taken, []
        return taken

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _exchange(self, request: bytes) -> None:
        assert self._socket is not None
        self._socket.sendall(request)
        response(self._socket)


class Pushing:
    """A client that pushes metrics, on a connection of its own, as often as it is told."""

    def __init__(self, port: int, number: int) -> None:
        self._port = port
        self._name = f"pushing-{number}"
        self._pushes = self._endless(Pushed(number))
        self._sessions = self._session()

    @staticmethod
    def _endless(client: Pushed) -> Iterator[bytes]:
        while True:
            yield from client.pushes(20)

    def push(self) -> None:
        """Push once; at first, and after an error, ask what is to be pushed."""
        try:
            next(self._sessions)
        except REFUSALS:
            self._sessions = self._session()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._sessions.close()

    def _session(self) -> Generator[None, None, None]:
        with connected(self._port, GOOD) as sock:
            found = subscribed(sock, self._name)
            for payload in self._pushes:
                code = pushed(sock, self._name, found, payload)
                yield
                if code:
                    found = subscribed(sock, self._name, found.client_instance_id)


def churn(port: int) -> None:
    """Connect, ask for versions and nodes, close."""
    with connected(port, GOOD) as sock:
        for request in (api_versions(1), metadata(2)):
            sock.sendall(request)
            response(sock)


def scrape(proxy: Proxy) -> None:
    """Get each page of the admin port that monitoring asks for."""
    for page in PAGES:
        status, _ = proxy.get(page)
        assert status in (200, 503), f"{page} answers {status}"


def loops(proxy: Proxy, victim: Victim, pushing: int) -> list[Loop]:
    """Return all of these clients."""
    port = proxy.port()
    clients = [Pushing(port, number) for number in range(pushing)]
    return [
        Loop("victim", victim.ask, 0.02, close=victim.close),
        Loop("churn", lambda: churn(port), 0.1),
        Loop("scrapes", lambda: scrape(proxy), 1.0),
        *[Loop(f"pushes-{number}", client.push, 1.0, close=client.close) for number, client in enumerate(clients)],
    ]
