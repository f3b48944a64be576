"""Reads and writes of so many bytes and no more, on a socket that the pump will get.

Before a client is relayed, `Unauthenticated` talks with it, and `BrokerLogin` with its broker.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import trio

from kproxy.upstream.tls import said

_READS: Final = 64
"""Reads after which others have their turn."""
Awaits = Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]
"""Awaits what it is given, which waits for the peer."""


async def _awaits(peer: Callable[[], Awaitable[None]]) -> None:
    await peer()


class ExactSocket:
    """A non-blocking socket, plain or TLS; all waits for its peer go through `awaits`."""

    def __init__(self, sock: socket.socket, awaits: Awaits = _awaits) -> None:
        self._sock = sock
        self.awaits = awaits

    async def receive(self, count: int) -> bytes | None:
        """Return so many bytes, None where the peer has ended before; raises OSError."""
        found = bytearray()
        reads = 0
        while len(found) < count:
            reads += 1
            if not reads % _READS:  # a peer may send each byte by itself, and never let one wait
                await trio.lowlevel.checkpoint()
            data: bytes | None = None
            try:
                data = self._sock.recv(count - len(found))
            except (BlockingIOError, ssl.SSLWantReadError):
                pass
            except ssl.SSLEOFError as error:
                if not _is_end(error):
                    raise
                return None
            if data is None:  # here and not above, where the error would be kept as long as the peer waits
                await self.awaits(partial(trio.lowlevel.wait_readable, self._sock))
                continue
            if not data:
                return None
            found += data
        return bytes(found)

    async def send(self, data: bytes) -> None:
        """Send all of it; raises OSError."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._sock.send(rest) :]
            except (BlockingIOError, ssl.SSLWantWriteError):
                await self.awaits(partial(trio.lowlevel.wait_writable, self._sock))


def _is_end(error: ssl.SSLEOFError) -> bool:
    """Return True for a FIN without close_notify; of a reset the module ssl forgets the reason."""
    return getattr(error, "reason", None) is not None


def words(error: OSError) -> str:
    """Return what an error of such a socket says, for people."""
    return said(error) if isinstance(error, ssl.SSLError) else error.strerror or type(error).__name__
