"""Opening a connection, and why one could not be opened."""

from __future__ import annotations

import errno
import socket
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from kproxy.upstream import names as resolver
from kproxy.upstream.dial import open_tcp, reason
from kproxy.upstream.names import PATIENCE
from tests.unit.relay.sockets import black_hole, descriptors


async def test_an_open_stream_keeps_alive() -> None:
    """A broker that vanishes is noticed: the socket has SO_KEEPALIVE."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener, await open_tcp("127.0.0.1", listener.socket.getsockname()[1]) as stream:
        assert isinstance(stream, trio.SocketStream)
        assert stream.socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Names and their addresses for this process; every other name is looked up as usual; "asked" are all lookups."""
    known: dict[str, list[str]] = {"asked": []}
    real = socket.getaddrinfo

    def look_up(host: Any, *args: Any, **more: Any) -> Any:
        if host in known and more.get("flags"):
            raise socket.gaierror(socket.EAI_NONAME, "not numeric")
        known["asked"].append(host)
        return [found for each in known.get(host, [host]) for found in real(each, *args, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


async def test_one_address_or_several(names: dict[str, list[str]]) -> None:
    """A literal address, a name with one, and a name with two, only the second of which answers, whatever its form."""
    names |= {"one.test": ["127.0.0.1"], "two_of.test": ["127.0.0.2", "127.0.0.1"]}
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        port = listener.socket.getsockname()[1]
        for host in ("127.0.0.1", "one.test", "two_of.test"):
            async with await open_tcp(host, port) as stream:
                assert isinstance(stream, trio.SocketStream)
                assert stream.socket.getpeername() == ("127.0.0.1", port)


async def test_the_family_that_answers(names: dict[str, list[str]]) -> None:
    """A name whose addresses of one family lead nowhere: the first of the other one is dialled second."""
    async with black_hole() as (_, port):
        names["both.test"] = [*["127.0.0.1"] * 20, "::1"]
        (listener,) = await trio.open_tcp_listeners(port, host="::1")
        async with listener, await open_tcp("both.test", port) as stream:
            assert isinstance(stream, trio.SocketStream)
            assert stream.socket.getpeername()[0] == "::1"


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


@pytest.mark.parametrize(
    ("number", "why"),
    [(socket.EAI_NONAME, "the name has no address"), (socket.EAI_AGAIN, "no name server answers")],
)
async def test_a_name_that_leads_nowhere(number: int, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is distinguished from a broker that is down; and who says so from nobody."""

    def look_up(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(number, "in words of the C library")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with pytest.raises(OSError, match=r".") as caught:
        await open_tcp("kafka.example", 9092)
    assert reason(caught.value) == why


@pytest.mark.parametrize("several", [False, True])
async def test_where_nothing_answers(several: bool, names: dict[str, list[str]], mock_clock: MockClock) -> None:
    """The name may have moved: who has waited for long has the next dial ask again, who soon leaves has not."""
    mock_clock.rate = 1.0
    async with black_hole() as (host, port):
        mock_clock.rate = 0.0
        names["kafka.example"] = [host, host] if several else [host]
        for seconds, asked in ((0.5, 1), (0.5, 1), (PATIENCE, 1), (0.5, 2)):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(open_tcp, "kafka.example", port)
                await wait_all_tasks_blocked()
                while resolver._names().of("kafka.example").under_way:
                    await trio.to_thread.run_sync(int)
                await wait_all_tasks_blocked()
                mock_clock.jump(seconds)
                nursery.cancel_scope.cancel()
            assert names["asked"].count("kafka.example") == asked


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
