"""A TCP server in place of a broker that answers wrongly or incompletely."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from tests.support.raw import HOST, frame

Behaviour = Callable[[socket.socket, int], None]
"""What the broker does for a request, with the connection and the request's correlation id."""


class FakeBroker:
    """Reads whole requests and does `behaviour` for each; a connection ends when `behaviour` raises OSError."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._listener = socket.create_server((HOST, 0))
        self._connections: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def address(self) -> str:
        """`host:port` where it listens."""
        return f"{HOST}:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        self._thread.join()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError), connection.makefile("rb") as stream:
            while len(size := stream.read(4)) == 4:
                request = stream.read(struct.unpack(">i", size)[0])
                self._behaviour(connection, struct.unpack_from(">i", request, 4)[0])


def _hang_up(connection: socket.socket) -> None:
    connection.shutdown(socket.SHUT_RDWR)
    raise ConnectionAbortedError


def garbage(connection: socket.socket, correlation_id: int) -> None:
    """Bytes that are neither a size nor a correlation id."""
    connection.sendall(b"\xde\xad\xbe\xef" * 64)


def negative_size(connection: socket.socket, correlation_id: int) -> None:
    """The right correlation id in a frame of a negative size."""
    connection.sendall(struct.pack(">ii", -1, correlation_id) + bytes(250))


def dies_in_mid_frame(connection: socket.socket, correlation_id: int) -> None:
    """A quarter of the response, then FIN."""
    connection.sendall(struct.pack(">ii", 1000, correlation_id) + bytes(250))
    _hang_up(connection)


def stalls_in_mid_frame(connection: socket.socket, correlation_id: int) -> None:
    """A quarter of the response, and never the rest."""
    connection.sendall(struct.pack(">ii", 1000, correlation_id) + bytes(250))


def wrong_correlation_id(connection: socket.socket, correlation_id: int) -> None:
    """The response to a request that was never sent."""
    connection.sendall(frame(struct.pack(">i", correlation_id + 1) + bytes(50)))


def too_large(connection: socket.socket, correlation_id: int) -> None:
    """A response larger than any limit."""
    connection.sendall(struct.pack(">ii", 2**31 - 1, correlation_id) + bytes(250))


def not_the_message(connection: socket.socket, correlation_id: int) -> None:
    """A whole frame with the right id, whose body is not the expected message."""
    connection.sendall(frame(struct.pack(">i", correlation_id) + b"\x7f" * 60))
