"""One relayed connection over real sockets: any bytes, in any pieces, at any pace, until any end."""

from __future__ import annotations

import select
from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.lowlevel
from structlog.testing import capture_logs

from kproxy.config import Limits
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.rebootstrap.actions import Action
from kproxy.relay.connection import Connection
from kproxy.relay.endpoint import Endpoint
from kproxy.relay.in_flight import MAX_IN_FLIGHT
from kproxy.relay.lifecycle import Event
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.primitives import frame
from tests.unit.relay import frames
from tests.unit.relay.own import asked_broker, dialogue, step_request, step_response, talking
from tests.unit.relay.sockets import (
    KIB,
    MIB,
    PASSING,
    Peer,
    Relayed,
    Stage,
    eventually,
    no_descriptors,
    noise,
    request,
    response,
    stage,
    stays,
)

IN, OUT, ERR, HUP = select.EPOLLIN, select.EPOLLOUT, select.EPOLLERR, select.EPOLLHUP
SMALL = 32 * KIB
SMALL_REQUESTS = b"".join(request(number, noise(5 * KIB)) for number in range(600))
LARGE_REQUEST = request(1, noise(8 * MIB))
HELD = 600 * KIB
"""The most that the process may hold for one connection: a scratch buffer and some, never what waits behind it."""


async def test_a_request_and_its_response_pass_unchanged() -> None:
    """Both arrive as they were sent, and are counted with their sizes."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        api = running.backend.counters.apis[1, 4]
        assert (api.requests, api.responses) == (1, 1)
        assert (api.request_bytes, api.response_bytes) == (len(request(1, b"asked")), len(response(1, b"answered")))
        assert relayed.connection.received == len(request(1, b"asked"))
        assert relayed.connection.client.sent == len(response(1, b"answered"))
        assert api.proxy.counts != [0] * len(api.proxy.counts)


async def test_pipelined_requests_are_answered_in_order() -> None:
    """Five hundred requests in a row, in any pieces, and responses in other pieces: every byte is in its place."""
    async with stage() as running:
        relayed = running.relay()
        asked = b"".join(request(number, noise(number % 37, number)) for number in range(500))
        answered = b"".join(response(number, noise(number % 211, number)) for number in range(500))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send_cut, asked)
            assert await relayed.broker.receive(len(asked)) == asked
            assert len(relayed.connection.in_flight) == 500
            nursery.start_soon(relayed.broker.send_cut, answered, 2)
            assert await relayed.client.receive(len(answered)) == answered
        assert not relayed.connection.in_flight
        assert (relayed.connection.requests.count, relayed.connection.responses.count) == (500, 500)


BODIES = {
    "produce": lambda number: (
        frames.produce(9, number, records=noise(3 * MIB, number)),
        frames.produced(9, number),
    ),
    "fetch that passes": lambda number: (request(number), response(number, noise(3 * MIB, number))),
    "fetch that streams": lambda number: (
        request(number, version=16),
        frames.fetched(16, number, [(0, noise(2 * MIB, number)), (0, noise(MIB + 13, -number))]),
    ),
}


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("seed", range(3))
async def test_large_bodies_are_spliced(kind: str, seed: int) -> None:
    """Megabytes in pieces of any size arrive byte by byte as sent, and most of them never enter the process."""
    async with stage() as running:
        relayed = running.relay()
        pairs = [BODIES[kind](number) for number in range(1, 4)]
        asked, answered = (b"".join(side) for side in zip(*pairs, strict=True))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send_cut, asked, seed)
            assert await relayed.broker.receive(len(asked)) == asked
            nursery.start_soon(relayed.broker.send_cut, answered, seed)
            assert await relayed.client.receive(len(answered)) == answered
        assert running.backend.counters.spliced_bytes > len(asked + answered) // 2
        assert relayed.connection.received == len(asked)
        assert relayed.connection.client.sent == len(answered)
        assert not relayed.connection.requests.under_way
        assert not relayed.connection.responses.under_way


async def test_without_a_pipe_bodies_are_copied() -> None:
    """When no descriptor is left for a pipe, the same bytes arrive, copied."""
    async with stage() as running:
        relayed = running.relay()
        asked, answered = frames.produce(9, 1, records=noise(3 * MIB)), frames.produced(9, 1)
        with no_descriptors():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(relayed.client.send_cut, asked)
                assert await relayed.broker.receive(len(asked)) == asked
            await relayed.broker.send(answered)
            assert await relayed.client.receive(len(answered)) == answered
        assert running.backend.counters.spliced_bytes == 0


async def test_both_directions_at_once() -> None:
    """Large requests and large responses cross on one connection with small buffers."""
    async with stage() as running:
        relayed = running.relay(buffer=SMALL)
        asked = [request(number, noise(MIB, number)) for number in range(1, 7)]
        answered = [response(number, noise(MIB, -number)) for number in range(1, 7)]

        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send_cut, b"".join(asked))
            nursery.start_soon(_answer_all, relayed.broker, asked, answered)
            assert await relayed.client.receive(sum(map(len, answered))) == b"".join(answered)


async def _answer_all(broker: Peer, asked: list[bytes], answered: list[bytes]) -> None:
    """Take each request while the response to the one before is on its way."""
    send, receive = trio.open_memory_channel[bytes](len(asked))

    async def answer() -> None:
        async for back in receive:
            await broker.send_cut(back, 3)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)
        async with send:
            for there, back in zip(asked, answered, strict=True):
                assert await broker.receive(len(there)) == there
                await send.send(back)


@pytest.mark.parametrize("size", [500, 12 * KIB, 2 * MIB], ids=["small", "copied", "spliced"])
async def test_slow_client_pauses_the_broker(size: int) -> None:
    """While the client does not read, the broker is not read either and nothing piles up; in the end all arrives."""
    async with stage() as running:
        relayed, beside = running.relay(buffer=SMALL), running.relay()
        count = 16 * MIB // size
        answered = [response(number, noise(size, number)) for number in range(count)]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_ask_and_answer, relayed, answered)
            await eventually(lambda: relayed.connection.paused == ("upstream", "downstream"), "a pause", 20)
            assert running.backend.counters.pauses["downstream"] >= 1
            await _holds_still(running, relayed, relayed.connection.client)
            await beside.exchange(1)
            assert await relayed.client.receive(sum(map(len, answered))) == b"".join(answered)
        assert relayed.connection.paused == ()
        assert relayed.connection.held_bytes == 0


async def _holds_still(running: Stage, relayed: Relayed, full: Endpoint) -> None:
    """Nobody reads behind `full`. Its kernel may still take some after the first pause: then kproxy reads on, too."""
    paused, taken = dict(running.backend.counters.pauses), full.sent
    await stays(lambda: relayed.connection.held_bytes < HELD, "bytes pile up", 0.3)
    await eventually(running.quiet, "a quiet epoll")
    assert running.backend.counters.pauses == paused or full.sent > taken, "read again although nothing was taken"


async def _ask_and_answer(relayed: Relayed, answers: list[bytes]) -> None:
    """Five hundred requests, then their answers, and so on."""
    for start in range(0, len(answers), 500):
        numbers = range(start, min(start + 500, len(answers)))
        await relayed.client.send(*map(request, numbers))
        await relayed.broker.receive(len(numbers) * len(request(0)))
        await relayed.broker.send(*(answers[number] for number in numbers))


@pytest.mark.parametrize("size", [500, 12 * KIB, 2 * MIB], ids=["small", "copied", "spliced"])
async def test_slow_broker_pauses_the_client(size: int) -> None:
    """While the broker does not read, the client has to wait and nothing piles up; in the end all arrives in order."""
    async with stage() as running:
        relayed, beside = running.relay(buffer=SMALL), running.relay()
        count = min(16 * MIB // size, MAX_IN_FLIGHT - 1)
        asked = b"".join(request(number, noise(size, number)) for number in range(count))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send, asked)
            await eventually(lambda: relayed.connection.paused == ("upstream",), "a pause")
            held = relayed.connection.requests.held_bytes + relayed.connection.broker.pending_bytes
            assert relayed.connection.held_bytes == held
            paused = running.backend.counters.pauses
            assert paused["upstream"] >= 1 > paused["downstream"]
            await _holds_still(running, relayed, relayed.connection.broker)
            await beside.exchange(1)
            assert await relayed.broker.receive(len(asked)) == asked
        assert relayed.connection.paused == ()
        assert relayed.connection.held_bytes == 0


async def test_responses_pass_while_the_broker_takes_no_requests() -> None:
    """A broker that answers and does not read is still read: otherwise both would wait for ever."""
    async with stage() as running:
        relayed = running.relay(buffer=SMALL)
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        big = request(2, noise(4 * MIB))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send, big)
            await eventually(lambda: relayed.connection.broker.blocked, "a blocked broker")
            nursery.start_soon(relayed.broker.send, response(1, noise(2 * MIB)))
            assert await relayed.client.receive(8 + 2 * MIB) == response(1, noise(2 * MIB))
            assert await relayed.broker.receive(len(big)) == big


async def test_too_many_requests_in_flight_pause_the_client() -> None:
    """A client that never waits is read no further than MAX_IN_FLIGHT and a buffer; answers let it go on."""
    async with stage() as running:
        relayed = running.relay()
        count = 20 * MAX_IN_FLIGHT
        asked = b"".join(request(number, b"-" * 100) for number in range(count))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send, asked)
            nursery.start_soon(relayed.broker.receive, len(asked))
            await eventually(lambda: relayed.connection.paused == ("upstream",), "a pause")
            assert len(relayed.connection.in_flight) < 3 * MAX_IN_FLIGHT
            answered = b"".join(response(number) for number in range(count))
            nursery.start_soon(_answer_as_asked, relayed, count)
            assert await relayed.client.receive(len(answered)) == answered


async def _answer_as_asked(relayed: Relayed, count: int) -> None:
    done = 0
    while done < count:
        there = relayed.connection.requests.count
        await relayed.broker.send(*(response(number) for number in range(done, there)))
        done = there
        await trio.lowlevel.checkpoint()


async def test_too_many_large_requests_in_flight_pause_the_client() -> None:
    """The same for requests whose bodies are spliced."""
    async with stage() as running:
        relayed = running.relay()
        asked = b"".join(request(number, bytes(40 * KIB)) for number in range(3 * MAX_IN_FLIGHT))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send, asked)
            nursery.start_soon(relayed.broker.receive, len(asked))
            await eventually(lambda: not relayed.connection.client.reading, "a pause", 20)
            await stays(lambda: len(relayed.connection.in_flight) < 2 * MAX_IN_FLIGHT, "too many in flight", 0.5)
            nursery.cancel_scope.cancel()
        assert running.backend.counters.spliced_bytes


async def test_a_socket_paused_in_the_same_round_was_not_reset() -> None:
    """An event is stale if an earlier event of the same round has paused its socket; it is no sign of a reset."""
    async with stage() as running:
        relayed = running.relay(buffer=SMALL)
        connection = relayed.connection
        await in_flight(relayed)
        await _fill(relayed.broker, response(1, noise(8 * MIB)))
        assert connection.paused == ("upstream", "downstream")
        for endpoint in (connection.client, connection.broker):
            connection.event(endpoint, select.EPOLLIN, 0.0)
        assert not connection.closed
        running.quiet()


def _blocked(running: Stage, size: int) -> tuple[Relayed, Connection]:
    """A client that has not taken all of `size` bytes yet, and has sent a request."""
    relayed = running.relay(buffer=SMALL)
    relayed.connection.client.send(noise(size))
    assert relayed.connection.client.blocked
    relayed.client.sock.send(request(1))
    return relayed, relayed.connection


def _effects(connection: Connection, mask: int) -> list[str]:
    """What an event of the client's causes."""
    sent = connection.client.sent
    found = []
    try:
        connection.event(connection.client, mask, 1.0)
    except Fault:
        found.append("broken")
    if connection.client.gone == "reset while paused":
        found.append("hung up")
    if connection.received:
        found.insert(0, "read")
    if connection.client.sent > sent:
        found.insert(0, "written")
    return found


@pytest.mark.parametrize(
    ("mask", "reading", "effects"),
    [
        (IN, True, ["read"]),
        (IN | HUP | ERR, True, ["read"]),
        (OUT, True, ["written"]),
        (OUT, False, ["written"]),
        (OUT | IN, True, ["written", "read"]),
        (OUT | HUP, False, ["written", "hung up"]),
        (HUP | ERR, False, ["hung up"]),
        (ERR, False, ["hung up"]),
        (IN, False, []),
        (OUT | IN, False, ["written"]),
    ],
)
async def test_an_event_has_the_effect_it_means(mask: int, reading: bool, effects: list[str]) -> None:
    """A stale event means nothing: a paused socket is neither read nor taken for dead."""
    async with stage() as running:
        relayed, connection = _blocked(running, 8 * MIB)
        if not reading:
            connection.client.pause()
        assert relayed.client.sock.recv(MIB)
        assert _effects(connection, mask) == effects
        connection.close(Reason.SHUTDOWN)


async def test_a_connection_that_closed_while_writing_is_not_read() -> None:
    """The first half of an event may end the connection."""
    async with stage() as running:
        relayed, connection = _blocked(running, 8 * MIB)
        connection.life.take(Event.CLIENT_ENDED, Reason.CLIENT_CLOSED)
        while not connection.closed:
            assert relayed.client.sock.recv(MIB)
            connection.event(connection.client, OUT | (IN if connection.client.pending_bytes < SMALL else 0), 1.0)
        assert not connection.received


async def test_half_close_by_the_client() -> None:
    """Requests from before its FIN are answered; only then are its connection and the broker's closed."""
    async with stage() as running:
        relayed = running.relay()
        asked = request(1) + request(2)
        await relayed.client.send(asked)
        relayed.client.half_close()
        assert await relayed.broker.receive(len(asked)) == asked
        await eventually(lambda: relayed.connection.life.reason is Reason.CLIENT_CLOSED, "the half-close")
        await eventually(running.quiet, "a quiet epoll")
        answered = response(1, noise(MIB)) + response(2)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.broker.send, answered)
            assert await relayed.client.receive_all() == answered
        assert await relayed.broker.receive_all() == b""
        await relayed.ended(Reason.CLIENT_CLOSED)


async def test_half_close_with_nothing_in_flight() -> None:
    """A client with nothing under way and nothing in flight is closed at once, and so is its broker connection."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        relayed.client.half_close()
        assert await relayed.client.receive_all() == b""
        assert await relayed.broker.receive_all() == b""
        await relayed.ended(Reason.CLIENT_CLOSED)


async def test_half_close_while_the_broker_is_slow() -> None:
    """Requests that still wait for the broker at the client's FIN reach it, and are answered."""
    async with stage() as running:
        relayed = running.relay(buffer=SMALL)
        asked = request(1, noise(2 * MIB))

        async def ask() -> None:
            await relayed.client.send(asked)
            relayed.client.half_close()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await eventually(lambda: relayed.connection.broker.blocked, "a slow broker")
            assert await relayed.broker.receive(len(asked)) == asked
        await relayed.broker.send(response(1))
        assert await relayed.client.receive_all() == response(1)
        await relayed.ended(Reason.CLIENT_CLOSED)


async def test_the_end_in_mid_frame() -> None:
    """A side that closes inside a frame has another reason than one that closes between two."""
    async with stage() as running:
        cut_request, cut_response, spliced = running.relay(), running.relay(), running.relay()
        await cut_request.client.send(request(1, b"rest")[:-1])
        await cut_request.client.close()
        await eventually(lambda: running.backend.ended == {Reason.TRUNCATED_REQUEST: 1}, "a truncated request")
        await in_flight(cut_response)
        await cut_response.broker.send(response(1, b"rest")[:-1])
        await cut_response.broker.close()
        await eventually(lambda: running.backend.ended.get(Reason.TRUNCATED_RESPONSE) == 1, "a truncated response")
        await spliced.client.send(request(1, noise(4 * MIB))[: 3 * MIB])
        spliced.client.half_close()
        assert len(await spliced.broker.receive_all()) == 3 * MIB
        await eventually(lambda: running.backend.ended.get(Reason.TRUNCATED_REQUEST) == 2, "a truncated body")


async def test_a_half_close_in_mid_frame() -> None:
    """The requests before that one are answered, as at any half-close."""
    async with stage() as running:
        relayed = running.relay()
        cut = request(2, b"rest")[:-1]
        await relayed.client.send(request(1), cut)
        relayed.client.half_close()
        await relayed.broker.receive(len(request(1) + cut))
        await eventually(lambda: relayed.connection.ending, "the half-close")
        await relayed.broker.send(response(1))
        assert await relayed.client.receive_all() == response(1)
        await relayed.ended(Reason.TRUNCATED_REQUEST)


@pytest.mark.parametrize("size", [200 * KIB, 4 * MIB])
async def test_the_broker_closes_while_the_client_is_slow(size: int) -> None:
    """Everything that a broker sent before it closed arrives, however late the client reads it."""
    async with stage() as running:
        relayed = running.relay(buffer=SMALL)
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        answered = response(1, noise(size))

        async def answer_and_close() -> None:
            await relayed.broker.send(answered)
            await relayed.broker.close()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(answer_and_close)
            await eventually(lambda: relayed.connection.client.blocked, "a slow client")
            await eventually(running.quiet, "a quiet epoll")
            assert await relayed.client.receive_all() == answered
        await relayed.ended(Reason.BROKER_CLOSED)


async def test_the_broker_resets_while_the_client_is_slow() -> None:
    """What a broker sent before a reset is read after it, and reaches a slow client."""
    async with stage() as running:
        relayed = running.relay(buffer=SMALL)
        await relayed.client.send(request(1) + request(2))
        await relayed.broker.receive(2 * len(request(1)))
        first, second = response(1, noise(200 * KIB)), response(2, noise(8 * KIB))
        await relayed.broker.send(first)
        await eventually(lambda: relayed.connection.client.blocked, "a slow client")
        await relayed.broker.send(second)
        await relayed.broker.reset()
        await eventually(running.quiet, "a quiet epoll")
        assert not relayed.connection.closed
        assert (await relayed.client.receive(len(first + second))) == first + second
        await relayed.ended(Reason.BROKER_RESET)


async def idle(relayed: Relayed) -> bytes:
    """An exchange, then nothing. Each state returns what the broker still owes."""
    await relayed.exchange(1)
    return b""


async def in_flight(relayed: Relayed) -> bytes:
    """A request that the broker has not answered yet."""
    await relayed.client.send(request(1))
    await relayed.broker.receive(len(request(1)))
    return response(1)


async def request_under_way(relayed: Relayed) -> bytes:
    """Half of a request."""
    await relayed.client.send(request(1, b"rest")[:-1])
    await relayed.broker.receive(len(request(1, b"rest")) - 1)
    return b""


async def response_under_way(relayed: Relayed) -> bytes:
    """All but the last byte of a response that is too large to be held."""
    await in_flight(relayed)
    await relayed.broker.send(response(1, noise(12 * KIB))[:-1])
    await relayed.client.receive(len(response(1, noise(12 * KIB))) - 1)
    return response(1, noise(12 * KIB))[-1:]


async def client_slow(relayed: Relayed) -> bytes:
    """Small responses wait in the process for the client."""
    many = 600
    await relayed.client.send(*(request(number) for number in range(many)))
    await relayed.broker.receive(many * len(request(1)))
    rest = await _fill(relayed.broker, b"".join(response(number, noise(5 * KIB)) for number in range(many)))
    await eventually(lambda: relayed.connection.client.blocked, "a slow client")
    return rest


async def client_slow_pipe(relayed: Relayed) -> bytes:
    """A part of a large response waits in a pipe for the client."""
    await in_flight(relayed)
    rest = await _fill(relayed.broker, response(1, noise(8 * MIB)))
    await eventually(lambda: relayed.connection.client._pipe is not None, "a pipe that holds bytes")
    return rest


async def broker_slow(relayed: Relayed) -> bytes:
    """Small requests wait in the process for the broker."""
    await _fill(relayed.client, SMALL_REQUESTS)
    await eventually(lambda: relayed.connection.broker.blocked, "a slow broker")
    return b""


async def broker_slow_pipe(relayed: Relayed) -> bytes:
    """A part of a large request waits in a pipe for the broker."""
    await _fill(relayed.client, LARGE_REQUEST)
    await eventually(lambda: relayed.connection.broker._pipe is not None, "a pipe that holds bytes")
    return b""


async def half_closed(relayed: Relayed) -> None:
    """The client has closed its sending side, and is owed a response."""
    await in_flight(relayed)
    relayed.client.half_close()
    await eventually(lambda: relayed.connection.ending, "the half-close")


async def _fill(peer: Peer, data: bytes) -> bytes:
    """Send until the peer takes no more; return the rest."""
    with trio.move_on_after(0.3):
        while data:
            data = data[await peer.stream.socket.send(data) :]
    return data


STATES = (
    idle,
    in_flight,
    request_under_way,
    response_under_way,
    client_slow,
    client_slow_pipe,
    broker_slow,
    broker_slow_pipe,
)


@pytest.mark.parametrize("state", STATES[:-2], ids=lambda state: state.__name__)
async def test_a_client_that_resets(state: Callable[[Relayed], Awaitable[bytes]]) -> None:
    """In every state its connection ends once the broker owes it nothing, as a reset; others are not affected."""
    async with stage() as running:
        relayed, beside = running.relay(buffer=SMALL), running.relay()
        owed = await state(relayed)
        await relayed.client.reset()
        await eventually(running.quiet, "a quiet epoll")
        assert relayed.connection.closed == (not owed)
        await relayed.broker.send(owed)
        await relayed.ended(Reason.CLIENT_RESET)
        await eventually(running.quiet, "a quiet epoll")
        await beside.exchange(1)


@pytest.mark.parametrize("unread", [False, True])
@pytest.mark.parametrize(("state", "sent"), [(broker_slow, SMALL_REQUESTS), (broker_slow_pipe, LARGE_REQUEST)])
async def test_what_came_before_a_reset_reaches_a_slow_broker(
    state: Callable[[Relayed], Awaitable[bytes]], sent: bytes, unread: bool
) -> None:
    """All of it, to the last byte that the kernel has; answers that the client has not read are no matter."""
    async with stage() as running:
        relayed = running.relay(buffer=SMALL)
        if unread:
            await relayed.exchange(0)
            await relayed.client.send(request(0))
            await relayed.broker.receive(len(request(0)))
            await relayed.broker.send(response(0, noise(KIB)))
            await eventually(lambda: not relayed.connection.in_flight, "an answer that the client does not read")
        await state(relayed)
        await (relayed.client.close() if unread else relayed.client.reset())
        await eventually(lambda: bool(relayed.connection.client.gone), "the reset")
        await eventually(running.quiet, "a quiet epoll")
        data = bytearray()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_answer_what_is_owed, relayed)
            async for part in relayed.broker.stream:
                data += part
            nursery.cancel_scope.cancel()
        await relayed.ended(Reason.CLIENT_RESET)
        before = len(request(0, b"asked") + request(0)) if unread else 0
        assert sent.startswith(data)
        assert len(data) == relayed.connection.received - before


async def _answer_what_is_owed(relayed: Relayed) -> None:
    """Answer what is in flight once all is there that the client had sent."""
    await eventually(lambda: relayed.connection.ending, "the client's end")
    for expected in list(relayed.connection.in_flight):
        await relayed.broker.send(response(expected.correlation_id))


async def test_a_reset_that_a_response_meets_first() -> None:
    """The response goes nowhere; what the client had sent goes to the broker all the same."""
    async with stage() as running:
        relayed = running.relay()
        connection = relayed.connection
        await in_flight(relayed)
        later = frames.produce(7, 2, acks=0)
        relayed.client.sock.send(later)
        relayed.reset_client()
        relayed.broker.sock.send(response(1))
        connection.event(connection.broker, IN, 1.0)
        assert connection.client.gone
        assert await relayed.broker.receive_all() == later
        await relayed.ended(Reason.CLIENT_RESET)
        assert connection.client.sent == 0


async def test_a_reset_in_mid_request() -> None:
    """The requests before it are answered to the end; the one that was cut has no answer, and is waited for by none."""
    async with stage() as running:
        relayed = running.relay()
        cut = request(2, b"asked")[:-1]
        await relayed.client.send(request(1), cut)
        await relayed.broker.receive(len(request(1) + cut))
        await relayed.client.reset()
        await eventually(lambda: relayed.connection.ending, "the reset")
        assert [expected.correlation_id for expected in relayed.connection.in_flight] == [1]
        await relayed.broker.send(response(1))
        assert await relayed.broker.receive_all() == b""
        await relayed.ended(Reason.CLIENT_RESET)


async def test_a_reset_of_a_client_that_is_throttled() -> None:
    """What it sent meanwhile goes to the broker when its time is over."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        relayed.connection.throttle(0.3)
        later = frames.produce(7, 2, acks=0)
        await relayed.client.send(later)
        await relayed.client.reset()
        await eventually(lambda: bool(relayed.connection.client.gone), "the reset")
        assert not relayed.connection.closed
        assert await relayed.broker.receive_all() == later
        await relayed.ended(Reason.CLIENT_RESET)


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize(
    ("version", "answered", "told"),
    [(3, False, "Fetch v3 was in flight"), (3, True, ""), (PASSING, False, "")],
    ids=["unknown", "known", "of today"],
)
async def test_a_broker_that_ends_at_an_old_request(reset: bool, version: int, answered: bool, told: str) -> None:
    """Kafka 4 closes at versions that it has removed: the log names such a request, unless brokers have answered it."""
    async with stage() as running:
        with capture_logs() as log:
            relayed = running.relay()
            if answered:
                await relayed.client.send(request(7, version=version))
                await relayed.broker.receive(len(request(7)))
                await relayed.broker.send(response(7))
                assert await relayed.client.receive(len(response(7))) == response(7)
            asked = request(1, b"asked", version=version)
            await relayed.client.send(asked)
            assert await relayed.broker.receive(len(asked)) == asked
            await (relayed.broker.reset() if reset else relayed.broker.close())
            await relayed.ended(Reason.BROKER_RESET if reset else Reason.BROKER_CLOSED)
        (ended,) = (line for line in log if line["event"] == "connection ended")
        assert told in ended.get("detail", "")
        assert ("in flight" in ended.get("detail", "")) is bool(told)
        assert bool(running.backend.counters.turned_away.brokers) is not bool(told or answered)


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("seconds", [0, 60])
async def test_a_broker_that_turns_a_client_away(reset: bool, seconds: int) -> None:
    """It ends a connection that is new; one that has lived for a while without an answer ends for another reason."""
    async with stage() as running:
        relayed = running.relay()
        relayed.connection.context.opened -= seconds
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        await (relayed.broker.reset() if reset else relayed.broker.close())
        await relayed.ended(Reason.BROKER_RESET if reset else Reason.BROKER_CLOSED)
        assert running.backend.counters.turned_away.brokers == (set() if seconds else {"broker:9092"})


@pytest.mark.parametrize("part", [2, 20])
async def test_a_broker_that_has_begun_to_answer(part: int) -> None:
    """It turns nobody away, nor does one whose client ends first."""
    async with stage() as running:
        relayed, other = running.relay(), running.relay()
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        await relayed.broker.send(response(1, noise(100))[:part])
        await eventually(lambda: relayed.connection.responses.under_way, "a part of the answer")
        await relayed.broker.reset()
        await relayed.ended(Reason.BROKER_RESET)
        other.close_client()
        await other.ended(Reason.BROKER_RESET, Reason.CLIENT_CLOSED)
        assert not running.backend.counters.turned_away.brokers


async def test_a_request_that_cannot_be_sent_is_counted() -> None:
    """It was received; the log of the connection's end says what the client waited for."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        relayed.connection.requests.feed(memoryview(request(2, b"asked")), 1.0)
        relayed.connection.close(Reason.BROKER_RESET)
        assert running.backend.counters.apis[1, 4].requests == 2


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
async def test_a_broker_that_resets(state: Callable[[Relayed], Awaitable[bytes]]) -> None:
    """In every state a broker's reset ends the connection as a reset, once the client has what it was sent."""
    async with stage() as running:
        relayed, beside = running.relay(buffer=SMALL), running.relay()
        await state(relayed)
        await relayed.broker.reset()
        await eventually(running.quiet, "a quiet epoll")
        await _drained(relayed.client)
        await relayed.ended(Reason.BROKER_RESET)
        await beside.exchange(1)


async def _drained(peer: Peer) -> None:
    try:
        await peer.receive_all()
    except trio.BrokenResourceError:
        pass


async def test_resets_after_a_half_close() -> None:
    """A half-closed client is no longer read; its reset, and its broker's, are noticed all the same."""
    async with stage() as running:
        client_gone, broker_gone = running.relay(), running.relay()
        await half_closed(client_gone)
        await half_closed(broker_gone)
        await client_gone.client.reset()
        await eventually(lambda: bool(client_gone.connection.client.gone), "the reset")
        await client_gone.broker.send(response(1))
        await client_gone.ended(Reason.CLIENT_RESET)
        await broker_gone.broker.reset()
        await broker_gone.ended(Reason.CLIENT_RESET, Reason.BROKER_RESET)
        assert running.backend.ended == {Reason.CLIENT_RESET: 1, Reason.BROKER_RESET: 1}


TOO_LARGE = Limits(max_request_bytes=MIB)
BAD: dict[str, tuple[bytes, Reason]] = {
    "garbage": (b"\xff" * 40, Reason.INVALID_FRAME_SIZE),
    "too large": (request(9, noise(2 * MIB)), Reason.FRAME_TOO_LARGE),
    "unknown": (request(9, key=9999), Reason.UNKNOWN_API),
    "malformed": (request(9, b"\0\0", key=0, version=7), Reason.MALFORMED_REQUEST),
    "in pieces": (
        request(9, b"\xff\xff\0\0\0\1\4\xff\xf0" + bytes(40 * KIB), key=32, version=1),
        Reason.MALFORMED_REQUEST,
    ),
}
"""What ends a connection at once if it comes first."""


@pytest.mark.parametrize(("bad", "reason"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("pieces", [1, 3])
async def test_requests_before_one_at_fault(bad: bytes, reason: Reason, pieces: int) -> None:
    """They reach the broker, and their answers the client; then the connection ends for that one."""
    async with stage(limits=TOO_LARGE) as running:
        relayed = running.relay()
        unanswered = frames.produce(7, 2, acks=0)
        before = request(1) + unanswered + request(3)
        sent = before + bad[: 20 * KIB]
        for piece in [sent] if pieces == 1 else [sent[:15], sent[15:40], sent[40:]]:
            await relayed.client.send(piece)
            await eventually(running.quiet, "a quiet epoll")
        assert await relayed.broker.receive(len(before)) == before
        assert not relayed.connection.closed
        await relayed.broker.send(response(1), response(3))
        assert await relayed.client.receive_all() == response(1) + response(3)
        assert await relayed.broker.receive_all() == b""
        await relayed.ended(reason)


async def test_a_request_at_fault_behind_a_dialogue() -> None:
    """What a dialogue has held back is looked at when a response has come: the fault is the client's all the same."""
    async with talking() as (running, _):
        relayed = running.relay()
        await relayed.client.send(dialogue(5, 1), request(1), b"\xff" * 40)
        await relayed.broker.receive(len(step_request(5, 0)))
        await relayed.broker.send(step_response(5, 0))
        assert await relayed.broker.receive(len(request(1))) == request(1)
        await eventually(running.quiet, "a quiet epoll")
        await relayed.broker.send(response(1))
        assert await relayed.client.receive_all() == asked_broker(5, 1) + response(1)
        await relayed.ended(Reason.INVALID_FRAME_SIZE)


async def test_drain_answers_what_was_received() -> None:
    """Requests in flight are answered, a request that has begun is completed and answered, later ones are not read."""
    async with stage() as running:
        relayed = running.relay()
        begun = request(2, noise(300 * KIB))
        await relayed.client.send(request(1) + begun[: 100 * KIB])
        await relayed.broker.receive(len(request(1)) + 100 * KIB)
        running.pump.drain()
        await relayed.client.send(begun[100 * KIB :])
        assert await relayed.broker.receive(len(begun) - 100 * KIB) == begun[100 * KIB :]
        await eventually(lambda: not relayed.connection.client.reading, "reading no more")
        await relayed.client.send(request(3))
        await relayed.broker.send(response(1) + response(2))
        assert await relayed.client.receive_all() == response(1) + response(2)
        assert await relayed.broker.receive_all() == b""
        await relayed.ended(Reason.DRAINED)


async def test_drain_closes_idle_connections_at_once() -> None:
    """A client that waits for nothing is closed, as drained."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        running.pump.drain()
        assert relayed.connection.closed
        await relayed.ended(Reason.DRAINED)
        assert await relayed.client.receive_all() == b""


@pytest.mark.parametrize("count", [1, 50])
async def test_drain_sees_what_has_just_arrived(count: int) -> None:
    """Requests that lie in the socket when the drain begins are answered, even if they exceed a short read."""
    numbers = range(2, 2 + count)
    asked = b"".join(request(number, noise(500, number)) for number in numbers)
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        relayed.client.sock.send(asked)
        running.pump.drain()
        assert await relayed.broker.receive(len(asked)) == asked
        await relayed.broker.send(*map(response, numbers))
        assert await relayed.client.receive_all() == b"".join(map(response, numbers))
        await relayed.ended(Reason.DRAINED)


async def test_drain_of_garbage_closes_that_connection_alone() -> None:
    """Any bytes may lie in a socket when the drain begins; they end their own connection for their own reason."""
    async with stage() as running:
        relayed, beside = running.relay(), running.relay()
        await in_flight(beside)
        relayed.client.sock.send(b"\xff" * 64)
        running.pump.drain()
        await relayed.ended(Reason.INVALID_FRAME_SIZE)
        await beside.broker.send(response(1))
        assert await beside.client.receive_all() == response(1)


async def test_drain_with_a_slow_client() -> None:
    """A drained connection closes when its client has everything, not before."""
    async with stage() as running:
        relayed = running.relay(buffer=SMALL)
        await in_flight(relayed)
        answered = response(1, noise(4 * MIB))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.broker.send, answered)
            await eventually(lambda: relayed.connection.client.blocked, "a slow client")
            running.pump.drain()
            assert not relayed.connection.closed
            assert await relayed.client.receive_all() == answered
        await relayed.ended(Reason.DRAINED)


async def test_own_answers_wait_their_turn() -> None:
    """The proxy's own answer goes out behind the broker's response to the request before."""
    async with stage() as running:
        relayed = running.relay()
        unknown = request(2, b"\xff\xff", key=18, version=99)
        await relayed.client.send(request(1) + unknown)
        await relayed.broker.receive(len(request(1)))
        await relayed.broker.send(response(1))
        assert await relayed.client.receive(len(response(1))) == response(1)
        own = await relayed.client.receive(4)
        body = await relayed.client.receive(int.from_bytes(own, "big"))
        assert body[:6] == b"\0\0\0\x02\0\x23"


async def test_a_response_beyond_its_limit() -> None:
    """A size above the limit is refused before the body arrives."""
    async with stage(limits=Limits(max_response_bytes=1 * MIB, max_request_bytes=1 * MIB)) as running:
        large_response, large_request = running.relay(), running.relay()
        await in_flight(large_response)
        await large_response.broker.send(response(1, noise(2 * MIB))[:100])
        await eventually(lambda: running.backend.ended == {Reason.FRAME_TOO_LARGE: 1}, "the end")
        await large_request.client.send(request(1, noise(2 * MIB))[:100])
        await eventually(lambda: running.backend.ended == {Reason.FRAME_TOO_LARGE: 2}, "the end")
        assert running.backend.counters.protocol_errors == {Reason.FRAME_TOO_LARGE: 2}


async def test_closing_twice_counts_once() -> None:
    """The second close changes nothing."""
    async with stage() as running:
        relayed = running.relay()
        relayed.connection.close(Reason.SHUTDOWN)
        relayed.connection.close(Reason.INTERNAL_ERROR)
        assert running.backend.ended == {Reason.SHUTDOWN: 1}


MISMATCH = frame(ApiVersionsRequest(client_software_name="n", client_software_version="1", node_id=8).encode(5))


def elsewhere(correlation_id: int) -> bytes:
    """ApiVersions v5 of a client that means another node, which the cluster here answers with 129."""
    return request(correlation_id, b"\xff\xff\0" + MISMATCH[4:], key=18, version=5)


def must_rebootstrap(correlation_id: int) -> bytes:
    """The proxy's answer to it."""
    return response(correlation_id, ApiVersionsResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED).encode(5))


async def test_a_last_answer_goes_out_then_the_connection_closes() -> None:
    """rebootstrap.md: "flush, then close"; with nothing in flight, at once."""
    async with stage() as running:
        running.backend.means = Action.NOTIFY
        relayed = running.relay(node_id=7)
        await relayed.client.send(elsewhere(1))
        assert await relayed.client.receive_all() == must_rebootstrap(1)
        assert await relayed.broker.receive_all() == b""
        await relayed.ended(Reason.REBOOTSTRAP)


async def test_a_last_answer_goes_out_behind_what_is_in_flight() -> None:
    """Earlier responses go first, in order; what the client sends behind its last request is not read."""
    async with stage() as running:
        running.backend.means = Action.NOTIFY
        relayed = running.relay(node_id=7)
        await relayed.client.send(request(1) + request(2) + elsewhere(3) + request(4))
        assert await relayed.broker.receive(2 * len(request(1))) == request(1) + request(2)
        await eventually(lambda: not relayed.connection.client.reading, "reading no more")
        assert relayed.connection.paused == ()
        await relayed.client.send(request(5))
        await relayed.broker.send(response(1))
        assert await relayed.client.receive(len(response(1))) == response(1)
        assert not relayed.connection.closed
        await relayed.broker.send(response(2, noise(90 * KIB)))
        assert await relayed.client.receive_all() == response(2, noise(90 * KIB)) + must_rebootstrap(3)
        assert await relayed.broker.receive_all() == b""
        await relayed.ended(Reason.REBOOTSTRAP)


async def test_a_last_answer_waits_for_a_slow_client() -> None:
    """Earlier responses are large and the client is slow: it gets all of them, and the answer behind them."""
    async with stage() as running:
        running.backend.means = Action.NOTIFY
        relayed = running.relay(node_id=7, buffer=SMALL)
        await relayed.client.send(request(1) + elsewhere(2))
        await relayed.broker.receive(len(request(1)))
        answered = response(1, noise(4 * MIB))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.broker.send, answered)
            await eventually(lambda: relayed.connection.client.blocked, "a slow client")
            assert await relayed.client.receive_all() == answered + must_rebootstrap(2)
        await relayed.ended(Reason.REBOOTSTRAP)


async def test_the_broker_ends_before_a_last_answer() -> None:
    """What was in flight has no response, so the answer behind it cannot be sent: the client is closed."""
    async with stage() as running:
        running.backend.means = Action.NOTIFY
        relayed = running.relay(node_id=7)
        await relayed.client.send(request(1) + elsewhere(2))
        await relayed.broker.receive(len(request(1)))
        await relayed.broker.close()
        assert await relayed.client.receive_all() == b""
        await relayed.ended(Reason.BROKER_CLOSED)


async def test_a_last_answer_that_waits_when_the_topology_changes_again() -> None:
    """It is still sent; a connection that is sending its 129 for the present change is not closed before it is out."""
    async with stage() as running:
        running.backend.means = Action.NOTIFY
        present, drained = (running.relay(node_id=7) for _ in range(2))
        await drained.client.send(request(1) + elsewhere(2))
        await drained.broker.receive(len(request(1)))
        await in_flight(present)
        running.pump.drain_one(drained.connection)
        running.backend.epoch += 1
        await present.client.send(elsewhere(2))
        await eventually(lambda: present.connection.life.reason is Reason.REBOOTSTRAP, "the notice before the end")
        for _ in range(2):
            running.pump.drain_one(present.connection, Reason.REBOOTSTRAP)
        for relayed in (present, drained):
            await relayed.broker.send(response(1))
            assert await relayed.client.receive_all() == response(1) + must_rebootstrap(2)
        assert running.backend.ended == {Reason.REBOOTSTRAP: 2}


async def test_ending_has_a_reason() -> None:
    """The connection's end has it, and a last answer that comes in meanwhile is sent."""
    async with stage() as running:
        running.backend.means = Action.NOTIFY
        idle, asking, waits = (running.relay(node_id=7) for _ in range(3))
        await in_flight(waits)
        running.pump.drain_one(idle.connection, Reason.REBOOTSTRAP)
        assert idle.connection.closed
        begun = elsewhere(1)
        await asking.client.send(begun[:20])
        await eventually(lambda: asking.connection.requests.under_way, "half a request")
        running.pump.drain_one(asking.connection, Reason.REBOOTSTRAP)
        running.pump.drain_one(waits.connection, Reason.REBOOTSTRAP)
        await asking.client.send(begun[20:])
        assert await asking.client.receive_all() == must_rebootstrap(1)
        await waits.broker.send(response(1))
        assert await waits.client.receive_all() == response(1)
        await eventually(lambda: not running.pump.connections, "all ends")
        assert running.backend.ended == {Reason.REBOOTSTRAP: 3}
