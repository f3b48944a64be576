"""Clients that nobody wants, at a moderate rate, all the time."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from random import Random

from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.wire.primitives import frame
from tests.fuzz.mutations import mutated
from tests.fuzz.script import decode
from tests.fuzz.targets import frame_seeds, frames
from tests.soak.loops import REFUSALS, Loop
from tests.soak.telemetry import pushed, subscribed
from tests.soak.wire import HOSTILE, STORMING, connected, response
from tests.support.proxy import Proxy
from tests.support.raw import api_versions, metadata
from tests.unit.telemetry.compressed import COMPRESS

SLOW, DEAF = 8, 3
"""How many connections send a byte now and then, and how many never read."""
FLOOD, STORM = 400, 40
"""Requests in one go, and connections at once."""
ATTRIBUTES = 20_000
_HELD = 15.0


class Held:
    """Connections that are kept open; each is replaced when it was closed, or after a while."""

    def __init__(self, count: int, opened: Callable[[], socket.socket]) -> None:
        self._count, self._opened = count, opened
        self._open: deque[tuple[float, socket.socket]] = deque()

    def use(self, act: Callable[[socket.socket], None]) -> None:
        """Open what is missing, and do something with each of them."""
        while self._open and self._open[0][0] + _HELD < time.monotonic():
            self._open.popleft()[1].close()
        while len(self._open) < self._count:
            self._open.append((time.monotonic(), self._opened()))
        for entry in list(self._open):
            try:
                act(entry[1])
            except OSError:
                entry[1].close()
                self._open.remove(entry)

    def close(self) -> None:
        """Close all of them."""
        for _, sock in self._open:
            sock.close()
        self._open.clear()


class Malformed:
    """Requests of the fuzzer, changed a little, on a connection each."""

    def __init__(self, port: int) -> None:
        self._port, self._rng, self._seeds = port, Random(3), frame_seeds.seeds()

    def send(self) -> None:
        """Send one script's client bytes; do not wait for long."""
        script = decode(mutated(self._rng.choice(self._seeds), self._rng, self._seeds, frames.Frames.kinds))
        with connected(self._port, HOSTILE, timeout=0.1) as sock:
            for kind, data in script.steps:
                if kind in (frames.CLIENT, frames.REQUEST):
                    sock.sendall(data if kind == frames.CLIENT else frame(data))
            with contextlib.suppress(TimeoutError):
                sock.recv(1 << 16)


def flood(port: int) -> None:
    """Send many requests at once, and read all that comes."""
    with connected(port, HOSTILE) as sock:
        sock.sendall(b"".join(map(api_versions, range(FLOOD))))
        for _ in range(FLOOD):
            response(sock)


def storm(port: int) -> None:
    """Open many connections and close them, some of them with a reset."""
    opened = []
    try:
        opened += [connected(port, STORMING) for _ in range(STORM)]
    finally:
        for number, sock in enumerate(opened):
            if number % 2:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()


class Bombs:
    """Pushes that are small on the wire and large in memory, each from a client instance of its own."""

    def __init__(self, port: int) -> None:
        data = MetricsData()
        points = data.resource_metrics.add().scope_metrics.add().metrics.add(name="m").gauge.data_points
        point = points.add(as_double=1.0)
        for _ in range(ATTRIBUTES):
            point.attributes.add()
        empty = b"\x0a\0" * (1 << 19)
        self._payloads = [COMPRESS["zstd"][1](payload) for payload in (data.SerializeToString(), empty, bytes(1 << 24))]
        self._port, self._number = port, 0

    def push(self) -> None:
        """Push the next one; the answer is an error, or the connection ends."""
        self._number += 1
        payload = self._payloads[self._number % len(self._payloads)]
        with connected(self._port, HOSTILE) as sock:
            pushed(sock, "bomb", subscribed(sock, "bomb"), payload)


def loops(proxy: Proxy) -> list[Loop]:
    """Return all of these clients."""
    port, admin = proxy.port(), proxy.admin_port
    slow = Held(SLOW, lambda: _begun(port, metadata(1)[:8]))
    deaf = Held(DEAF, lambda: _deaf(port))
    heads = Held(SLOW, lambda: _begun(admin, b"GET /metrics HTTP/1.1\r\nX: "))
    return [
        Loop("malformed frames", Malformed(port).send, 0.2),
        Loop("slow frames", lambda: slow.use(_one_byte), 0.5, close=slow.close),
        Loop("those who never read", lambda: deaf.use(_nothing), 1.0, close=deaf.close),
        Loop("slow HTTP heads", lambda: heads.use(_one_byte), 0.5, close=heads.close),
        Loop("floods", lambda: flood(port), 1.0),
        Loop("storms of connections", lambda: storm(port), 2.0),
        Loop("bombs", Bombs(port).push, 1.0),
    ]


def _begun(port: int, data: bytes) -> socket.socket:
    sock = connected(port, HOSTILE)
    try:
        sock.sendall(data)
    except REFUSALS:
        sock.close()
        raise
    return sock


def _deaf(port: int) -> socket.socket:
    sock = connected(port, HOSTILE, receive_buffer=4096, timeout=0.2)
    with contextlib.suppress(TimeoutError):
        sock.sendall(b"".join(map(metadata, range(500))))
    return sock


def _one_byte(sock: socket.socket) -> None:
    sock.sendall(b"\0")


def _nothing(sock: socket.socket) -> None:
    """Only see whether it is open: the kernel knows of a reset."""
    error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if error:
        raise OSError(error, "the connection is gone")
