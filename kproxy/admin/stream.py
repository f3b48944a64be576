"""The two transports of the admin port, plaintext and TLS: what `Connection` needs of them, and no more.

A TLS socket is used without blocking, as the relay uses it, rather than by `trio.SSLStream`: that one sends all or
breaks, and so could not tell a client that reads slowly from one that reads nothing.
"""

from __future__ import annotations

import socket
import ssl
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Self, TypeVar

import trio

from kproxy.admin.security import AdminSecurity

RECORD_BYTES: Final = 16 << 10
"""The most plaintext in one record of TLS. OpenSSL sends what it is given as a whole, so progress shows by records."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Client:
    """Who is at the other end.

    `names` are those of its verified certificate, None where it has shown none. `security` is what the certificate was
    verified by, None for plaintext.
    """

    address: str
    names: frozenset[str] | None = None
    security: AdminSecurity | None = None


class Stream(ABC):
    """The bytes of one client. As a context manager it closes the socket at the end."""

    def __init__(self, sock: socket.socket | trio.socket.SocketType, client: Client) -> None:
        self.client = client
        self._close = sock.close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @abstractmethod
    async def receive_some(self, most: int) -> bytes:
        """Return what has come, at least a byte; none at the client's end. Raises OSError."""

    @abstractmethod
    async def send_some(self, data: memoryview) -> int:
        """Send a part of the bytes; return how many. Raises OSError. After a cancellation send the same ones again."""

    @abstractmethod
    async def send_eof(self) -> None:
        """Tell the client that nothing more comes; what it still sends may be read and thrown away. Raises OSError."""


class PlainStream(Stream):
    """Plaintext."""

    def __init__(self, accepted: socket.socket) -> None:
        self._socket = trio.socket.from_stdlib_socket(accepted)
        super().__init__(self._socket, Client(accepted.getpeername()[0]))

    async def receive_some(self, most: int) -> bytes:
        return await self._socket.recv(most)

    async def send_some(self, data: memoryview) -> int:
        return await self._socket.send(data)

    async def send_eof(self) -> None:
        await trio.lowlevel.checkpoint()
        self._socket.shutdown(socket.SHUT_WR)


class TlsStream(Stream):
    """TLS, once the handshake is over."""

    def __init__(self, sock: ssl.SSLSocket, client: Client) -> None:
        super().__init__(sock, client)
        self._tls = sock

    async def receive_some(self, most: int) -> bytes:
        try:
            return await self._when_possible(lambda: self._tls.recv(most))
        except ssl.SSLEOFError:  # an end without close_notify, as many clients make it: HTTP says what is whole
            return b""

    async def send_some(self, data: memoryview) -> int:
        return await self._when_possible(lambda: self._send_records(data))

    def _send_records(self, data: memoryview) -> int:
        sent = 0
        try:
            while sent < len(data):
                sent += self._tls.send(data[sent : sent + RECORD_BYTES])
        except ssl.SSLWantWriteError:
            if not sent:
                raise
        return sent

    async def send_eof(self) -> None:
        await trio.lowlevel.checkpoint()
        with suppress(ssl.SSLError):  # of a client that has not sent its own close_notify, or of a record half sent
            self._tls.unwrap()
        socket.socket.shutdown(self._tls, socket.SHUT_WR)

    async def _when_possible(self, act: Callable[[], _T]) -> _T:
        """Act as soon as OpenSSL can; what is possible now is done before others have their turn, as in Trio."""
        await trio.lowlevel.checkpoint_if_cancelled()
        while True:
            try:
                done = act()
            except ssl.SSLWantReadError:
                await trio.lowlevel.wait_readable(self._tls)
            except ssl.SSLWantWriteError:
                await trio.lowlevel.wait_writable(self._tls)
            else:
                await trio.lowlevel.cancel_shielded_checkpoint()
                return done
