"""Opens connections to brokers, in plaintext; `kproxy.upstream.tls` adds TLS.

The acceptor dials a broker for each client that it admits, `open_session` for kproxy's own connections. The `otlp`
receiver dials its server.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import trio

from kproxy.observe.faults import shortage_in
from kproxy.upstream.names import PATIENCE, Address, addresses, descriptors_lacking, doubt
from kproxy.upstream.race import NobodyError, first_of

_HAPPY_EYEBALLS: Final = 0.25
"""Seconds after which a name's next address is tried beside the one before (RFC 8305)."""

Dial = Callable[[str, int], Awaitable[trio.abc.Stream]]


async def open_tcp(host: str, port: int) -> trio.abc.Stream:
    """Open a plaintext stream, to any address of `host`. Raises OSError; the caller sets the deadline."""
    found = await addresses(host, port)
    began = trio.current_time()
    try:
        stream = await first_of(_alternating(found), _connect, _HAPPY_EYEBALLS, failure=OSError, discard=_drop)
    except NobodyError as nobody:
        doubt(host)
        if len(nobody.errors) == 1:
            raise nobody.errors[0] from None
        raise OSError(f"all attempts to connect to {host}:{port} failed") from ExceptionGroup("", nobody.errors)
    except BaseException:  # cancelled; a race of addresses makes a group of it
        if trio.current_time() - began >= PATIENCE:  # nothing there says that the broker has moved, but nothing answers
            doubt(host)
        raise
    # A broker that vanished silently is noticed even while no request is sent to it.
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return stream


def _alternating(found: Sequence[Address]) -> Sequence[Address]:
    """Put an address of the other family second: where one family leads nowhere, all addresses of it do."""
    other = next((each for each in found if each[0] != found[0][0]), None)
    return found if other is None else [found[0], other, *(each for each in found[1:] if each is not other)]


async def _connect(to: Address) -> trio.SocketStream:
    family, kind, protocol, _, address = to
    sock = trio.socket.socket(family, kind, protocol)
    try:
        await sock.connect(address)
    except BaseException:
        sock.close()
        raise
    return trio.SocketStream(sock)


def _drop(stream: trio.SocketStream) -> None:
    stream.socket.close()


def shortage_of(error: OSError) -> int | None:
    """Return the errno by which the system refused kproxy itself what a dial needs; None if it says something else."""
    lacking = descriptors_lacking() if isinstance(error, socket.gaierror) else error
    return None if lacking is None else shortage_in(lacking)


def reason(error: OSError) -> str:
    """Return why a dial failed, in one line: the addresses' own errors are in the cause."""
    cause = error.__cause__
    errors = cause.exceptions if isinstance(cause, ExceptionGroup) else [error]
    return ", ".join(dict.fromkeys(_text(each) for each in errors))


def _text(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "no name server answers" if error.errno == socket.EAI_AGAIN else "the name has no address"
    if isinstance(error, ssl.SSLError):
        return str(error.args[-1])
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno).lower() + (f" at {error.filename}" if error.filename else "")
    return str(error)
