"""What an attack is, and what it may use: connections that are closed at its end, a time at which it stops."""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from tests.support.raw import HOST

CONNECT_SECONDS: Final = 20
_LINGER_RESET: Final = struct.pack("ii", 1, 0)
_WRITE: Final = 1 << 16
_ID_AT: Final = 4 + 2 + 2
"""Where a request has its correlation id: behind its size, API key and version."""

Steps = Iterator[None]
"""An attack's steps: it prepares its bytes, yields once, and attacks."""


class Target:
    """The kproxy under attack; `seconds` is how long the attack lasts, for those that have no end of their own.

    An attack may put into `facts` what it was answered.
    """

    def __init__(self, port: int, admin_port: int, seconds: float) -> None:
        self.port = port
        self.admin_port = admin_port
        self.seconds = seconds
        self.facts: dict[str, str] = {}
        self._open = ExitStack()

    def connect(self, port: int | None = None, *, receive_buffer: int | None = None, source: str = "") -> socket.socket:
        """Open a connection to the bootstrap port, or another one, from an address of this machine.

        It is closed when the attack ends.
        """
        connection = socket.socket()
        if source:
            connection.bind((source, 0))
        if receive_buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(CONNECT_SECONDS)
        connection.connect((HOST, port or self.port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open.callback(connection.close)
        return connection

    def connect_some(self, count: int, port: int | None = None) -> list[socket.socket]:
        """Open so many connections, or fewer when kproxy takes no more."""
        opened = []
        with suppress(OSError):
            for _ in range(count):
                opened.append(self.connect(port))
        return opened

    def lasting(self) -> Iterator[float]:
        """Yield the seconds that are left, again and again, until the attack's time is over."""
        end = time.monotonic() + self.seconds
        while (left := end - time.monotonic()) > 0:
            yield left

    def close(self) -> None:
        """Close all connections."""
        self._open.close()


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack. `row` is its row in the table of issue 18, if it has one; `seconds` is how long it lasts at most.

    `settings` replaces keys of kproxy's configuration, `cluster` keys of its virtual cluster; `files` is kproxy's limit
    of descriptors. `upstreams`: there is a second backend cluster, to which kproxy could fail over.
    `unread`: nobody reads kproxy's standard error. `tls`: kproxy and the healthy client speak TLS, before a real Kafka.
    `logins`: clients authenticate to kproxy, before a real Kafka.
    """

    name: str
    row: int | None
    does: str
    steps: Callable[[Target], Steps]
    seconds: float = 5
    settings: Mapping[str, Any] = field(default_factory=dict)
    cluster: Mapping[str, Any] = field(default_factory=dict)
    files: int | None = None
    upstreams: bool = False
    unread: bool = False
    tls: bool = False
    logins: bool = False
    kept: int = 0
    """So many of kproxy's descriptors wait for a broker that never answers, though the attackers have gone."""
    reserve: int = 0
    """MiB that the allocator does not give back, where so many connections are open at once; the next ones have it."""

    @property
    def greets(self) -> bool:
        """Whether healthy clients connect anew all the time, beside the one that is connected."""
        return self.tls or self.logins


def pause(seconds: float) -> None:
    """Wait."""
    threading.Event().wait(seconds)


def numbered(frames: Iterable[bytes], first: int = 1, step: int = 1) -> bytes:
    """Return the requests one after the other, each with a correlation id of its own."""
    out = bytearray()
    for number, one in enumerate(frames):
        out += one[:_ID_AT] + struct.pack(">i", first + number * step) + one[_ID_AT + 4 :]
    return bytes(out)


def converse(connection: socket.socket, data: bytes, count: int, seconds: float) -> list[bytes]:
    """Send the bytes; return the responses that come within the time, at most `count`, each without its size."""
    view, sent, end = memoryview(data), 0, time.monotonic() + seconds
    found: list[bytes] = []
    received = bytearray()
    connection.setblocking(False)
    poll = select.poll()
    while len(found) < count and (left := end - time.monotonic()) > 0:
        poll.register(connection, select.POLLIN | (select.POLLOUT if sent < len(view) else 0))
        events = next((events for _, events in poll.poll(left * 1000)), 0)
        try:
            if events & select.POLLOUT:
                sent += connection.send(view[sent : sent + _WRITE])
            if events & ~select.POLLOUT:
                part = connection.recv(_WRITE)
                if not part:
                    break
                received += part
        except BlockingIOError:
            continue
        except OSError:
            break
        _take(received, found)
    return found


def _take(received: bytearray, found: list[bytes]) -> None:
    """Move whole responses from `received` to `found`."""
    position = 0
    while len(received) - position >= 4:
        (size,) = struct.unpack_from(">i", received, position)
        if len(received) - position - 4 < size:
            break
        found.append(bytes(received[position + 4 : position + 4 + size]))
        position += 4 + size
    del received[:position]


def reset(connection: socket.socket) -> None:
    """Close with a reset: the peer gets no orderly end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_RESET)
    connection.close()


def flood(connections: Iterable[socket.socket], data: bytes, target: Target) -> int:
    """Send the bytes again and again on every connection, as fast as each takes them; return how many bytes.

    What comes back is read and thrown away. Connections that kproxy closes drop out.
    """
    left = {connection.fileno(): connection for connection in connections}
    places = dict.fromkeys(left, 0)
    sent = 0
    with select.epoll() as epoll:
        for descriptor, connection in left.items():
            connection.setblocking(False)
            epoll.register(descriptor, select.EPOLLIN | select.EPOLLOUT)
        for seconds in target.lasting():
            if not left:
                break
            for descriptor, events in epoll.poll(seconds):
                try:
                    if events & select.EPOLLIN and not left[descriptor].recv(_WRITE):
                        raise ConnectionAbortedError
                    if events & select.EPOLLOUT:
                        place = places[descriptor]
                        taken = left[descriptor].send(data[place : place + _WRITE])
                        places[descriptor] = (place + taken) % len(data)
                        sent += taken
                except BlockingIOError:
                    continue
                except OSError:
                    epoll.unregister(descriptor)
                    left.pop(descriptor).close()
    return sent
