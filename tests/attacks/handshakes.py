"""Attacks by TLS handshakes, from an address of their own: many that stop at each point, and many that do not.

kproxy speaks TLS, a real Kafka is behind it, and the healthy client has another address.
"""

from __future__ import annotations

import select
import socket
import ssl
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Final

from tests.support.raw import api_versions

from .attack import Attack, Steps, Target, pause

ELSEWHERE: Final = "127.0.0.2"
"""The attacker's address. The healthy client's is 127.0.0.1."""
_MANY: Final = 2_000
_A_SECOND: Final = 500
_TICK: Final = 0.02
_JUNK: Final = b"\x16\x03\x03\x40\x00" + bytes(range(256)) * 8


def _context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def hello() -> bytes:
    """Return what a client of TLS sends first."""
    out = ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        _context().wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost").do_handshake()
    return out.read()


def _connected(target: Target, count: int) -> Iterator[socket.socket]:
    """Open so many connections from `ELSEWHERE`, or fewer where kproxy takes no more."""
    with suppress(OSError):
        for _ in range(count):
            yield target.connect(source=ELSEWHERE)


def _wait(target: Target) -> None:
    for left in target.lasting():
        pause(left)


def that_stop(sent: bytes, target: Target) -> Steps:
    """Connections that send the bytes and nothing more."""
    yield
    for connection in _connected(target, _MANY):
        with suppress(OSError):
            connection.sendall(sent)
    _wait(target)


def byte_by_byte(target: Target) -> Steps:
    """Hellos of which a byte comes five times a second."""
    data = hello()
    yield
    connections = list(_connected(target, _MANY))
    for turn, _ in enumerate(target.lasting()):
        for connection in connections:
            with suppress(OSError):
                connection.send(data[turn : turn + 1])
        pause(0.2)


def over_and_over(sent: bytes, target: Target) -> Steps:
    """Connections that send the bytes, 500 a second; they are closed a second later."""
    yield
    opened: list[socket.socket] = []
    for _ in _paced(target):
        for connection in _connected(target, round(_A_SECOND * _TICK)):
            with suppress(OSError):
                connection.sendall(sent)
            opened.append(connection)
        while len(opened) > _A_SECOND:
            opened.pop(0).close()


def _paced(target: Target) -> Iterator[None]:
    """Yield every `_TICK`, without making up for a tick that took longer."""
    for _ in target.lasting():
        began = time.monotonic()
        yield
        pause(max(0.0, _TICK - (time.monotonic() - began)))


class _Client:
    """Whole handshakes without end: connections begin at a pace, and are closed when their handshakes are over."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._context = _context()
        self._epoll = select.epoll()
        self._under_way: dict[int, ssl.SSLSocket] = {}
        self.ends: Counter[str] = Counter()

    def begin(self) -> None:
        for connection in _connected(self._target, round(_A_SECOND * _TICK)):
            connection.setblocking(False)
            secured = self._context.wrap_socket(connection, do_handshake_on_connect=False)
            self._under_way[secured.fileno()] = secured
            self._epoll.register(secured.fileno(), select.EPOLLIN)
            self._go_on(secured)

    def go_on(self) -> None:
        for descriptor, _ in self._epoll.poll(0):
            self._go_on(self._under_way[descriptor])

    def _go_on(self, secured: ssl.SSLSocket) -> None:
        try:
            secured.do_handshake()
        except ssl.SSLWantReadError:
            return
        except OSError:
            self._end(secured, "refused")
        else:
            self._end(secured, "completed")

    def _end(self, secured: ssl.SSLSocket, how: str) -> None:
        self.ends[how] += 1
        del self._under_way[secured.fileno()]
        secured.close()

    def close(self) -> None:
        for secured in self._under_way.values():
            secured.close()
        self._epoll.close()


def whole_handshakes(target: Target) -> Steps:
    """500 connections a second, each with a whole handshake."""
    client = _Client(target)
    yield
    for _ in _paced(target):
        client.begin()
        client.go_on()
    client.close()
    target.facts["handshakes"] = ", ".join(f"{count:,} {how}" for how, count in sorted(client.ends.items()))


_AT_A_TLS_PORT: Final = {
    "junk-after-hello": ("TLS hellos with junk behind, 500 a second", hello() + _JUNK),
    "second-hello": ("two TLS hellos each (renegotiation), 500 a second", hello() * 2),
    "plaintext-on-tls": ("plaintext at a TLS port, 500 a second", api_versions(1)),
}

ATTACKS: Final = (
    Attack(
        "hello-and-nothing",
        None,
        "2,000 TLS hellos, and nothing more",
        partial(that_stop, hello()),
        15,
        tls=True,
        reserve=16,  # 26 are kept of 1,000 handshakes at once
    ),
    Attack(
        "no-hello", None, "2,000 connections at a TLS port, and nothing more", partial(that_stop, b""), 10, tls=True
    ),
    Attack("hello-by-bytes", None, "2,000 TLS hellos, five bytes a second each", byte_by_byte, 15, tls=True),
    Attack("whole-handshakes", None, "500 whole TLS handshakes a second", whole_handshakes, 15, tls=True),
    *(
        Attack(name, None, does, partial(over_and_over, sent), 10, tls=True)
        for name, (does, sent) in _AT_A_TLS_PORT.items()
    ),
)
