"""Opens connections to brokers, in plaintext; `kproxy.upstream.tls` adds TLS.

The acceptor dials a broker for each client that it admits, `open_session` for kproxy's own connections. The `otlp`
receiver dials its server.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from kproxy.observe.faults import shortage_in
from kproxy.upstream.names import addresses

_RESOLVER_DESCRIPTORS: Final = 4
"""A file and a socket for each of two name servers."""

Dial = Callable[[str, int], Awaitable[trio.abc.Stream]]


async def open_tcp(host: str, port: int) -> trio.abc.Stream:
    """Open a plaintext stream, to any address of `host`. Raises OSError; the caller sets the deadline."""
    found = await addresses(host, port)
    if len(found) == 1:
        stream = await _connect(*found[0])
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


def shortage_of(error: OSError) -> int | None:
    """Return the errno by which the system refused kproxy itself what a dial needs; None if it says something else.

    Without descriptors no name has an address: the resolver opens files and sockets, and does not say that it could
    not.
    """
    if isinstance(error, socket.gaierror):
        return _refused()
    return shortage_in(error)


def _refused() -> int | None:
    """Return the errno with which the system refuses as many descriptors as the resolver needs; None if it does not."""
    held: list[int] = []
    try:
        while len(held) < _RESOLVER_DESCRIPTORS:
            held.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        return shortage_in(error)
    finally:
        for descriptor in held:
            os.close(descriptor)
    return None


def reason(error: OSError) -> str:
    """Return why a dial failed, in one line: Trio hides the addresses' own errors in the cause."""
    cause = error.__cause__
    errors = cause.exceptions if isinstance(cause, ExceptionGroup) else [error]
    return ", ".join(dict.fromkeys(_text(each) for each in errors))


def _text(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "the name has no address"
    if isinstance(error, ssl.SSLError):
        return str(error.args[-1])
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno).lower()
    return str(error)
