"""Opening a connection, and why one could not be opened."""

from __future__ import annotations

import errno
import socket

import pytest
import trio

from kproxy.upstream.dial import open_tcp, reason


async def test_an_open_stream_keeps_alive() -> None:
    """A broker that vanishes is noticed: the socket has SO_KEEPALIVE."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener, await open_tcp("127.0.0.1", listener.socket.getsockname()[1]) as stream:
        assert isinstance(stream, trio.SocketStream)
        assert stream.socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


async def test_a_refused_connection_says_so() -> None:
    """The addresses' own error is found behind Trio's summary."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(OSError, match="failed") as caught:
            await open_tcp("127.0.0.1", unused.getsockname()[1])
    assert reason(caught.value) == "connection refused"


async def test_an_unknown_name_says_so() -> None:
    """A name that has no address is told from a broker that is down."""
    with pytest.raises(OSError, match=r".") as caught:
        await open_tcp("no-such-host.invalid", 9092)
    assert reason(caught.value) == "the name has no address"


def test_each_reason_once() -> None:
    """Several addresses that fail alike give one reason; other errors speak for themselves."""
    error = OSError("all attempts failed")
    refused = OSError(errno.ECONNREFUSED, "refused")
    error.__cause__ = ExceptionGroup("", [refused, refused, OSError("odd")])
    assert reason(error) == "connection refused, odd"
