"""Opens connections to brokers; TLS will wrap the stream here, so that nothing above notices the difference.

The acceptor dials a broker for each client that it admits, `open_session` for kproxy's own connections. The `otlp`
receiver dials its server.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Awaitable, Callable

import trio

Dial = Callable[[str, int], Awaitable[trio.abc.Stream]]


async def open_tcp(host: str, port: int) -> trio.abc.Stream:
    """Open a plaintext stream, to any address of `host`. Raises OSError; the caller sets the deadline."""
    addresses = await trio.socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    if len(addresses) == 1:
        stream = await _connect(*addresses[0])
    else:  # a race between them (happy eyeballs): for a single one it would be a third of what a client costs
        stream = await trio.open_tcp_stream(host, port)
    # A broker that vanished silently is noticed even while no request is sent to it.
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return stream


async def _connect(family: int, kind: int, protocol: int, _: str, address: tuple[object, ...]) -> trio.SocketStream:
    sock = trio.socket.socket(family, kind, protocol)
    try:
        await sock.connect(address)
    except BaseException:
        sock.close()
        raise
    return trio.SocketStream(sock)


def reason(error: OSError) -> str:
    """Return why a dial failed, in one line: Trio hides the addresses' own errors in the cause."""
    cause = error.__cause__
    errors = cause.exceptions if isinstance(cause, ExceptionGroup) else [error]
    return ", ".join(dict.fromkeys(_text(each) for each in errors))


def _text(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "the name has no address"
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno).lower()
    return str(error)
