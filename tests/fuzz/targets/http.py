"""Bytes of a client of the admin port, in the pieces in which they arrive, to a real server of it over sockets.

The oracle: what comes back is HTTP that h11 reads as a client, no answer says "a fault in kproxy", nothing is logged as
one, and each connection ends. The facts behind the server are plain fields (`MemoryView`); the target `process` asks a
living process.
"""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import threading
from functools import partial
from typing import Final

import h11
import trio
import trio.testing

from kproxy.admin.routes import ROUTES
from kproxy.admin.server import serve_admin
from tests.fuzz.script import Script, decode
from tests.fuzz.targets.target import ViolationError
from tests.unit.admin.memory_view import MemoryView

_HOST: Final = "127.0.0.1"
_PATIENCE: Final = 5.0
_HOSTS: Final = "Host: 127.0.0.1:9190\r\n"


class Http:
    """The target; each step is sent in one go."""

    kinds = 1
    most = 1 << 13

    def __init__(self) -> None:
        self.seeds = _seeds()
        self._server = _Server()

    def run(self, data: bytes) -> None:
        """Send these bytes on a connection; raise for what must not be."""
        pieces = [step.data for step in decode(data).steps if step.data]
        _check(self._server.answer(pieces))

    def close(self) -> None:
        """As `Target`."""
        self._server.close()


class _Server:
    """The admin port, in a thread."""

    def __init__(self) -> None:
        self._started: queue.Queue[tuple[int, trio.lowlevel.TrioToken, trio.CancelScope]] = queue.Queue()
        self._thread = threading.Thread(target=trio.run, args=[self._serve], daemon=True)
        self._thread.start()
        self._port, self._token, self._scope = self._started.get(timeout=30)

    async def _serve(self) -> None:
        async with trio.open_nursery() as nursery:
            _, port = await nursery.start(partial(serve_admin, MemoryView(), _HOST, 0))
            self._started.put((port, trio.lowlevel.current_trio_token(), nursery.cancel_scope))

    def answer(self, pieces: list[bytes]) -> bytes:
        """Return all that comes back. ViolationError where the connection does not end."""
        received = bytearray()
        with socket.create_connection((_HOST, self._port), _PATIENCE) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with contextlib.suppress(OSError):  # of shutdown too, when the server has reset the connection
                for piece in pieces:
                    client.sendall(piece)
                client.shutdown(socket.SHUT_WR)
            try:
                while part := client.recv(1 << 16):
                    received += part
            except ConnectionError:
                return b""  # what had been answered may be lost with a reset
            except TimeoutError as error:
                raise ViolationError("the admin port neither answers nor closes") from error
            finally:
                self._rest()
        return bytes(received)

    def _rest(self) -> None:
        """Wait until the server is at rest: it closes a connection before it logs the connection's fault."""
        trio.from_thread.run(trio.testing.wait_all_tasks_blocked, trio_token=self._token)

    def close(self) -> None:
        """End it."""
        self._token.run_sync_soon(self._scope.cancel)
        self._thread.join(10)


def _check(sent: bytes) -> None:
    """Read all responses one after the other, as a client does."""
    if b"a fault in kproxy" in sent:
        raise ViolationError("the admin port answers that kproxy has a fault")
    while sent:
        sent = _after_one(sent)


def _after_one(sent: bytes) -> bytes:
    """Return what comes behind the first response; raises where it has no end."""
    head, _, behind = sent.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100 ") or not behind or behind.startswith(b"HTTP/1.1 "):
        return behind  # an answer to Expect, or to a HEAD: without a body
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
    client.send(h11.EndOfMessage())
    client.receive_data(sent)
    client.receive_data(b"")
    while not isinstance(event := client.next_event(), h11.EndOfMessage):
        if event in (h11.NEED_DATA, h11.PAUSED):
            raise ViolationError("the admin port's answer has no end")
    return client.trailing_data[0]


def _seeds() -> list[bytes]:
    gets = [f"GET {path} HTTP/1.1\r\n{_HOSTS}\r\n".encode() for path in _paths()]
    posts = [
        _post(path, body)
        for path in _paths()
        for body in ({}, {"to": "west", "force": True}, {"metrics": ["a"], "interval_ms": 100, "match": {"a": "b"}})
    ]
    others = [
        f"HEAD /livez HTTP/1.1\r\n{_HOSTS}Connection: close\r\n\r\n".encode(),
        b"GET /livez HTTP/1.0\r\n\r\n",
        f"POST /api/v1/clusters/main/failover HTTP/1.1\r\n{_HOSTS}Content-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n3\r\n{} \r\n0\r\n\r\n".encode(),
        f"GET /metrics HTTP/1.1\r\n{_HOSTS}Accept: application/openmetrics-text;q=0.5\r\n"
        "Accept-Encoding: gzip;q=1\r\n\r\n".encode(),
        b"PROXY TCP4 192.0.2.1 192.0.2.2 40000 9190\r\n",
        b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c",
    ]
    whole = [Script.of([(0, each)]).encode() for each in [*gets, *posts, *others]]
    return [*whole, Script.of([(0, each) for each in gets[:3]]).encode(), Script.of([(0, b"".join(gets[:3]))]).encode()]


def _paths() -> list[str]:
    """Return a path of each route of the admin port, and some with a query."""
    found = {route.path for route in ROUTES}
    plain = [path.replace("{cluster}", "main").replace("{name}", "all") for path in sorted(found)]
    queries = ["?after=x&limit=5", "?force", "?verbose=true&cluster=main&format=%zz"]
    return [path + query for path in plain for query in ("", *queries)]


def _post(path: str, body: object) -> bytes:
    encoded = json.dumps(body)
    head = f"POST {path} HTTP/1.1\r\n{_HOSTS}Content-Type: application/json\r\nContent-Length: {len(encoded)}\r\n\r\n"
    return (head + encoded).encode()


def make() -> Http:
    """Return the target."""
    return Http()
