"""Connection on streams in memory: what a socket's buffers would hide."""

from __future__ import annotations

import contextlib

import pytest
import trio
import trio.testing

from kproxy.errors import UpstreamError
from kproxy.upstream.connection import MAX_IN_FLIGHT, Connection
from kproxy.upstream.frames import FrameSplitter
from kproxy.wire.frame import frame
from kproxy.wire.header import decode_request_header, encode_response_header

METADATA = 3


def pair() -> tuple[Connection, trio.StapledStream]:
    """A connection and the broker's end; neither end buffers a byte."""
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

    # One more than the queue holds is in the writer's hands.
    for number in range(MAX_IN_FLIGHT + 1):
        nursery.start_soon(answer, number)
        await connection.exchange(METADATA, 0, b"", 5)
    with pytest.raises(UpstreamError, match="broker:9092: the broker answers what it was not asked"):
        await connection.exchange(METADATA, 0, b"", 5)


async def test_a_cancelled_request_cuts_no_frame(nursery: trio.Nursery) -> None:
    """What was begun is sent whole: a request cancelled while its bytes wait is followed by the next one's frame."""
    connection, theirs = pair()
    nursery.start_soon(connection.run)
    for limit in (0.01, 0.01):
        with trio.move_on_after(limit):
            await connection.exchange(METADATA, 0, b"body", 5)
    received, splitter = [], FrameSplitter(1000)
    while len(received) < 2:
        received += splitter.feed(await theirs.receive_some(3))
    assert [decode_request_header(data, 0, len(data))[0].correlation_id for data in received] == [0, 1]
    assert [data[-4:] for data in received] == [b"body", b"body"]


async def test_a_peer_that_does_not_read_is_given_up(nursery: trio.Nursery) -> None:
    """Sending is bounded by the request's own limit."""
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
    """It is known to be over before anything is asked of it."""
    connection, theirs = pair()
    nursery.start_soon(connection.run)
    await theirs.aclose()
    await trio.testing.wait_all_tasks_blocked()
    assert "closed the idle connection" in str(connection.error)
