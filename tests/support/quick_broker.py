"""A process in place of a broker: it answers any request with a short response, on thousands of connections.

`quick_broker` starts it; it prints its port. Run as a program, it serves until its standard input ends.
"""

from __future__ import annotations

import select
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.raw import HOST

_BODY = bytes(16)


@contextmanager
def quick_broker() -> Iterator[tuple[str, int]]:
    """Yield the broker's `host:port` and its process id."""
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"{HOST}:{process.stdout.readline().strip()}", process.pid
        finally:
            process.stdin.close()
            process.wait(20)


class _Broker:
    """The connections, and of each what it has sent of a request."""

    def __init__(self) -> None:
        self._listener = socket.create_server((HOST, 0), backlog=4096)
        self._listener.setblocking(False)
        self._epoll = select.epoll()
        self._connections: dict[int, tuple[socket.socket, bytearray]] = {}
        for descriptor in (self._listener.fileno(), sys.stdin.fileno()):
            self._epoll.register(descriptor, select.EPOLLIN)
        print(self._listener.getsockname()[1], flush=True)

    def serve(self) -> None:
        """Serve until standard input ends."""
        while True:
            for descriptor, _ in self._epoll.poll():
                if descriptor == sys.stdin.fileno():
                    return
                if descriptor == self._listener.fileno():
                    self._accept()
                else:
                    self._read(descriptor)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                return
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connections[connection.fileno()] = connection, bytearray()
            self._epoll.register(connection.fileno(), select.EPOLLIN)

    def _read(self, descriptor: int) -> None:
        connection, held = self._connections[descriptor]
        try:
            read = connection.recv(1 << 16)
            held += read
            connection.sendall(_responses(held))
        except OSError:
            read = b""
        if not read:
            self._epoll.unregister(descriptor)
            del self._connections[descriptor]
            connection.close()


def _responses(held: bytearray) -> bytes:
    """Return the responses to the whole requests, which are taken out."""
    made = b""
    while len(held) >= 4 and len(held) >= 4 + (size := struct.unpack_from(">i", held)[0]):
        made += struct.pack(">i", 4 + len(_BODY)) + held[8:12] + _BODY
        del held[: 4 + size]
    return made


if __name__ == "__main__":
    _Broker().serve()
