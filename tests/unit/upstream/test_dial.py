"""Opening a connection, and why one could not be opened."""

from __future__ import annotations

import errno
import socket
from typing import Any

import pytest
import trio

from kproxy.upstream.dial import open_tcp, reason
from tests.unit.relay.sockets import black_hole, descriptors


async def test_an_open_stream_keeps_alive() -> None:
    """A broker that vanishes is noticed: the socket has SO_KEEPALIVE."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener, await open_tcp("127.0.0.1", listener.socket.getsockname()[1]) as stream:
        assert isinstance(stream, trio.SocketStream)
        assert stream.socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Names and their addresses for this process; every other name is looked up as usual."""
    known: dict[str, list[str]] = {}
    real = socket.getaddrinfo

    def look_up(host: Any, *args: Any, **more: Any) -> Any:
        return [found for each in known.get(host, [host]) for found in real(each, *args, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


async def test_one_address_or_several(names: dict[str, list[str]]) -> None:
    """A literal address, a name with one, and a name with two, only the second of which answers."""
    names |= {"one.test": ["127.0.0.1"], "two.test": ["127.0.0.2", "127.0.0.1"]}
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        port = listener.socket.getsockname()[1]
        for host in ("127.0.0.1", "one.test", "two.test"):
            async with await open_tcp(host, port) as stream:
                assert isinstance(stream, trio.SocketStream)
                assert stream.socket.getpeername() == ("127.0.0.1", port)


async def test_over_ipv6() -> None:
    """A literal address too."""
    (listener,) = await trio.open_tcp_listeners(0, host="::1")
    async with listener, await open_tcp("::1", listener.socket.getsockname()[1]) as stream:
        assert isinstance(stream, trio.SocketStream)
        assert stream.socket.getpeername()[0] == "::1"


@pytest.mark.parametrize(("addresses", "said"), [(["127.0.0.1"], "refused"), (["127.0.0.1", "127.0.0.2"], "failed")])
async def test_a_refused_connection_says_so(names: dict[str, list[str]], addresses: list[str], said: str) -> None:
    """An address' own error is found, also inside Trio's summary; nothing is left open."""
    names["down.test"] = addresses
    before = descriptors()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(OSError, match=said) as caught:
            await open_tcp("down.test", unused.getsockname()[1])
    assert reason(caught.value) == "connection refused"
    assert not descriptors() - before


async def test_cancelled_it_leaves_nothing_open() -> None:
    """The caller sets the deadline, which ends the wait for a broker that does not answer."""
    async with black_hole() as (host, port):
        before = descriptors()
        with trio.move_on_after(0.05) as scope:
            await open_tcp(host, port)
        assert scope.cancelled_caught
        assert not descriptors() - before


async def test_an_unknown_name_says_so() -> None:
    """A name without an address is distinguished from a broker that is down."""
    with pytest.raises(OSError, match=r".") as caught:
        await open_tcp("no-such-host.invalid", 9092)
    assert reason(caught.value) == "the name has no address"


def test_each_reason_once() -> None:
    """Several addresses that fail alike give one reason; other errors explain themselves."""
    error = OSError("all attempts failed")
    refused = OSError(errno.ECONNREFUSED, "refused")
    error.__cause__ = ExceptionGroup("", [refused, refused, OSError("odd")])
    assert reason(error) == "connection refused, odd"


@pytest.mark.parametrize("host", ["broker..internal", "b" * 64 + ".internal"])
async def test_what_is_no_name_of_dns_has_no_address(host: str) -> None:
    """Whatever a broker advertises: it is no fault of kproxy's own."""
    with pytest.raises(socket.gaierror) as refused:
        await open_tcp(host, 9092)
    assert reason(refused.value) == "the name has no address"
