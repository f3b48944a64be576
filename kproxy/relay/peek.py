"""Looks at what a client has sent, and leaves it to whoever reads it: OpenSSL, or the pump.

The acceptor does so before it knows which of them that is.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault

SNIFFED_BYTES: Final = 16
_ESTABLISHED: Final = 1
"""TCP_ESTABLISHED of Linux's tcp_states.h; once the peer has sent its FIN or a reset the state is another."""
_PAUSE_SECONDS: Final = 0.05


def peek(client: socket.socket, most: int = SNIFFED_BYTES) -> bytes | None:
    """Return the first bytes without taking them, empty at the end; None when there are none yet.

    Raises `Fault` for a reset.
    """
    try:
        return socket.socket.recv(client, most, socket.MSG_PEEK)  # of the wire, also where that is TLS
    except BlockingIOError:
        return None
    except OSError as error:
        raise Fault(Reason.CLIENT_RESET, error.strerror or "") from error


def has_ended(client: socket.socket) -> bool:
    """Return True when the client has sent its FIN or a reset, whatever bytes came before and are not read."""
    return client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != _ESTABLISHED


async def peek_whole(client: socket.socket, size: int, readable: Callable[[], Awaitable[None]]) -> bytes:
    """Wait for `size` bytes, and return them without taking them; `readable` waits until the socket can be read.

    Returns fewer when the client has ended before. Raises `Fault` for a reset, and what `readable` raises.
    """
    while len(found := peek(client, size) or b"") < size and not has_ended(client):
        # Bytes that stay where they are keep a socket readable: epoll reports it only when there are as many.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
        try:
            await readable()
        finally:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
        if len(peek(client, size) or b"") == len(found):  # the kernel reports it at once when it is short of memory
            await trio.sleep(_PAUSE_SECONDS)
    return found
