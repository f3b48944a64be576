"""Connection on streams in memory, which show what a socket's buffers would hide."""

from __future__ import annotations

import contextlib
import socket
import struct

import pytest
import trio
import trio.testing

from kproxy.errors import UpstreamError
from kproxy.upstream.connection import MAX_IN_FLIGHT, Connection
from kproxy.upstream.dial import open_tcp
from kproxy.upstream.frames import FrameSplitter
from kproxy.wire.header import decode_request_header, encode_response_header
from kproxy.wire.primitives import frame

METADATA = 3


def pair() -> tuple[Connection, trio.abc.Stream]:
    """A connection and the broker's end; neither buffers a byte."""
    ours, theirs = trio.testing.lockstep_stream_pair()
    return Connection(ours, "broker:9092", client_id="kproxy", max_response=1000), theirs


async def test_answers_ahead_of_the_requests_do_not_fill_the_queue(nursery: trio.Nursery) -> None:
    """A peer that answers what it never read is cut off when the queue of unsent requests is full."""
    connection, theirs = pair()
    nursery.start_soon(connection.run)

    async def answer(number: int) -> None:
        await trio.testing.wait_all_tasks_blocked()
        with contextlib.suppress(trio.BrokenResourceError):
            await theirs.send_all(frame(encode_response_header(number, METADATA, 0)))

    # One more than the queue holds is with the writer.
    for number in range(MAX_IN_FLIGHT + 1):
        nursery.start_soon(answer, number)
        await connection.exchange(METADATA, 0, b"", 5)
    with pytest.raises(UpstreamError, match="broker:9092: the broker answers what it was not asked"):
        await connection.exchange(METADATA, 0, b"", 5)


async def test_a_cancelled_request_cuts_no_frame(nursery: trio.Nursery) -> None:
    """A frame once begun is sent whole: the next frame follows that of a request cancelled while its bytes wait."""
    connection, theirs = pair()
    nursery.start_soon(connection.run)
    for limit in (0.01, 0.01):
        with trio.move_on_after(limit):
            await connection.exchange(METADATA, 0, b"body", 5)
    received: list[bytes] = []
    splitter = FrameSplitter(1000)
    while len(received) < 2:
        received += splitter.feed(await theirs.receive_some(3))
    assert [decode_request_header(data, 0, len(data))[0].correlation_id for data in received] == [0, 1]
    assert [data[-4:] for data in received] == [b"body", b"body"]


async def test_a_peer_that_does_not_read_is_given_up(nursery: trio.Nursery) -> None:
    """The request's own limit bounds sending."""
    connection, _theirs = pair()
    nursery.start_soon(connection.run)
    with pytest.raises(UpstreamError, match=r"no answer to Metadata v0 within 0\.05 s"):
        await connection.exchange(METADATA, 0, b"", 0.05)
    with pytest.raises(UpstreamError, match="no answer to Metadata v0"):
        await connection.exchange(METADATA, 0, b"", 5)


async def test_a_response_header_that_is_malformed(nursery: trio.Nursery) -> None:
    """Tagged fields that run over the frame's end fail the request and the connection."""
    connection, theirs = pair()
    nursery.start_soon(connection.run)
    nursery.start_soon(theirs.receive_some)

    async def answer() -> None:
        await trio.testing.wait_all_tasks_blocked()
        await theirs.send_all(frame((0).to_bytes(4, "big"), b"\xff"))

    nursery.start_soon(answer)
    with pytest.raises(UpstreamError, match="response header"):
        await connection.exchange(METADATA, 12, b"", 5)


async def test_an_idle_connection_that_the_broker_closes(nursery: trio.Nursery) -> None:
    """It is known to be over before any request is sent."""
    connection, theirs = pair()
    nursery.start_soon(connection.run)
    await theirs.aclose()
    await trio.testing.wait_all_tasks_blocked()
    assert "closed the idle connection" in str(connection.error)


async def test_all_that_wait_for_a_place_fail_with_the_connection(nursery: trio.Nursery) -> None:
    """Requests beyond those in flight do not keep waiting when the connection has ended."""
    connection, _theirs = pair()
    nursery.start_soon(connection.run)
    failed = []

    async def ask(limit: float) -> None:
        with pytest.raises(UpstreamError, match=r"within 0\.1 s"):
            await connection.exchange(METADATA, 0, b"", limit)
        failed.append(limit)

    with trio.fail_after(20):
        async with trio.open_nursery() as asking:
            asking.start_soon(ask, 0.1)
            for _ in range(3 * MAX_IN_FLIGHT):
                asking.start_soon(ask, 60)
    assert len(failed) == 3 * MAX_IN_FLIGHT + 1


async def test_a_reset(nursery: trio.Nursery) -> None:
    """A broker whose socket is reset: the request fails with the system's own reason."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        connection = Connection(
            await open_tcp("127.0.0.1", listener.socket.getsockname()[1]),
            "broker:9092",
            client_id="k",
            max_response=1000,
        )
        nursery.start_soon(connection.run)
        theirs = await listener.accept()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await theirs.aclose()
    with pytest.raises(UpstreamError, match=r"broker:9092: (reading|sending) failed \(connection reset by peer\)"):
        await connection.exchange(METADATA, 0, b"", 5)


async def test_sending_to_a_peer_that_is_gone(nursery: trio.Nursery) -> None:
    """A request that cannot be sent fails at once."""
    ours, theirs = trio.testing.lockstep_stream_pair()
    connection = Connection(trio.StapledStream(ours, Deaf()), "broker:9092", client_id="kproxy", max_response=1000)
    nursery.start_soon(connection.run)
    await theirs.aclose()
    with trio.fail_after(20), pytest.raises(UpstreamError, match=r"sending failed \(connection closed\)"):
        await connection.exchange(METADATA, 0, b"", 60)


class Deaf(trio.abc.ReceiveStream):
    """Does not notice the other end's close, as behind a network that drops packets."""

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Receive nothing, for ever."""
        await trio.sleep_forever()
        raise AssertionError

    async def aclose(self) -> None:
        """Close nothing."""
