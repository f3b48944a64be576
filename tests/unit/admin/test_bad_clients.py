"""The admin port and clients that are wrong, slow, or many: each harms itself only."""

from __future__ import annotations

import contextlib
import socket
import struct

import pytest
import trio

from kproxy.admin.limits import Limits
from tests.support.bounds import Bounds
from tests.unit.admin.conftest import Start
from tests.unit.admin.raw import everything_from, exchange, fetch, replies

TLS_HELLO = bytes.fromhex("16030100c8010000c40303") + bytes(200)
KAFKA_API_VERSIONS = bytes.fromhex("00000015001200030000000100046b696f00000461626301310000")

MALFORMED = {
    "a TLS hello": (TLS_HELLO, 400),
    "a Kafka request": (KAFKA_API_VERSIONS + b"\r\n\r\n", 400),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two hosts": (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    "no version": (b"GET /\r\n\r\n", 400),
    "a space in a name": (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
    "a NUL in a value": (b"GET / HTTP/1.1\r\nHost: x\x00y\r\n\r\n", 400),
    "a folded first header": (b"GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400),
    "a target that is none": (b"GET //[ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "a negative length": (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
    "two lengths": (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    "an unknown coding": (b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
    "a wrong chunk": (b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    "an endless line": (b"GET /" + b"a" * 100_000, 431),
    "endless headers": (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 20_000 + b"\r\n", 431),
    "a body announced too large": (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n" + bytes(99_999), 413),
    "two ends of a body": (
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    "chunks in HTTP/1.0": (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "many header lines": (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 2000 + b"\r\n", 431),
    "a body announced and not sent": (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n", 413),
    "chunks of extensions": (
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        + (b"1;" + b"e" * 10_000 + b"\r\na\r\n") * 60,
        413,
    ),
    "a tunnel": (b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nConnection: close\r\n\r\n", 404),
    "an upgrade": (
        b"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: upgrade, close\r\nUpgrade: h2c\r\n\r\n",
        404,
    ),
}


async def served(port: int) -> None:
    """Return when a request of ours is served, not refused for want of room."""
    for _ in range(1000):
        if (await fetch(port, "/livez")).status == 200:
            return
        await trio.sleep(0.01)
    pytest.fail("never served")


@pytest.mark.parametrize("name", MALFORMED)
async def test_malformed_requests_get_an_error(port: int, name: str) -> None:
    """One answer with the right status, whole although bytes were left unread; then the end; others are served."""
    sent, status = MALFORMED[name]
    [reply] = replies(await exchange(port, sent))
    assert reply.status == status
    assert reply.json()["error"]
    assert reply.headers["connection"] == "close"
    assert (await fetch(port, "/livez")).status == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"HEAD / HTTP/2.1\r\nHost: x\r\n\r\n", 505),
        (b"HEAD / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n", 413),
        (b"HEAD / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    ],
)
async def test_a_malformed_head_gets_an_error_without_a_body(port: int, sent: bytes, status: int) -> None:
    """HTTP has no body for a HEAD, so h11 takes none; no answer at all came, and a fault was counted."""
    [reply] = replies(await exchange(port, sent), "HEAD")
    assert (reply.status, reply.body) == (status, b"")
    assert reply.headers["connection"] == "close"


_REFUSED = b"HTTP/1.1 400 "


@pytest.mark.parametrize(
    ("sent", "begins"),
    [
        (b"", b""),
        (b"\r\n", _REFUSED),
        (b"GET / HT", _REFUSED),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc", _REFUSED),
    ],
)
async def test_a_client_that_leaves_in_the_middle(port: int, sent: bytes, begins: bytes) -> None:
    """A half request and the end: at most an error comes back, and the server goes on."""
    received = await exchange(port, sent, close_our_side=True)
    assert received[: len(_REFUSED)] == begins
    assert (await fetch(port, "/livez")).status == 200


async def test_a_client_that_resets(port: int) -> None:
    """A reset in the middle of a request and of a response ends only that connection."""
    for sent in (b"GET / HT", b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50):
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        await stream.send_all(sent)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await stream.aclose()
        assert (await fetch(port, "/livez")).status == 200


async def test_slow_headers_end_at_the_deadline(start: Start) -> None:
    """A client that sends a header byte now and then gets a 408, although it never stops sending."""
    port = await start(Limits(request_seconds=1))
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream, trio.open_nursery() as nursery:

        async def drip() -> None:
            with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await stream.send_all(b"GET / HTTP/1.1\r\nX: ")
                while True:
                    await stream.send_all(b"a")
                    await trio.sleep(0.02)

        nursery.start_soon(drip)
        received = await everything_from(stream)
        nursery.cancel_scope.cancel()
    assert replies(received)[0].status == 408


async def test_a_slow_body_ends_at_the_deadline(start: Start) -> None:
    """A body that does not come is a 408 too."""
    port = await start(Limits(request_seconds=1))
    received = await exchange(port, b"POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc")
    assert replies(received)[0].status == 408


async def test_silence_ends_without_a_word(start: Start, bounds: Bounds) -> None:
    """A new connection that says nothing is closed after the request's deadline, an idle one after its own."""
    port = await start(Limits(request_seconds=0.2))
    started = trio.current_time()
    assert await exchange(port, b"") == b""
    took = trio.current_time() - started
    assert took >= 0.2
    bounds.below(took, 5, "seconds until a silent connection is closed")
    port = await start(Limits(idle_seconds=0.4))
    started = trio.current_time()
    received = await exchange(port, b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
    assert [reply.status for reply in replies(received)] == [200]
    took = trio.current_time() - started
    assert took >= 0.4
    bounds.below(took, 5, "seconds until an idle connection is closed")


async def test_a_client_that_does_not_read(start: Start) -> None:
    """Its responses stay in its way, until the deadline ends the connection; the next client is served."""
    port = await start(Limits(response_seconds=0.3, connections=1))
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        with trio.move_on_after(1.0), contextlib.suppress(trio.BrokenResourceError):
            while True:  # as many requests as the socket buffers take, none of the answers read
                await stream.send_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 1000)
        with trio.fail_after(40):
            await served(port)


async def test_idle_clients_do_not_keep_probes_out(start: Start) -> None:
    """With every slot held by idle connections a new one is served, in place of the oldest."""
    port = await start(Limits(connections=3))
    held = [await trio.open_tcp_stream("127.0.0.1", port) for _ in range(3)]
    for stream in held:
        await stream.send_all(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in await stream.receive_some()
    assert (await fetch(port, "/livez")).status == 200
    assert await everything_from(held[0]) == b""
    for stream in held[1:]:
        await stream.send_all(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in await stream.receive_some()
    for stream in held:
        await stream.aclose()
