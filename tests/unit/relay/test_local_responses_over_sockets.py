"""Answers that come later, or after asking the broker, over real sockets: at any pace, until any end."""

from __future__ import annotations

from functools import partial

import pytest
import structlog
import trio

from kproxy.observe.reasons import Reason
from kproxy.relay.in_flight import MAX_IN_FLIGHT
from tests.unit.relay.own import (
    AT_ONCE,
    ENDS_PARKED,
    Room,
    asked_broker,
    dialogue,
    park,
    parked_response,
    step_request,
    step_response,
    talking,
)
from tests.unit.relay.sockets import (
    KIB,
    MIB,
    Relayed,
    Stage,
    eventually,
    noise,
    request,
    response,
    stays,
)

SMALL = 32 * KIB
HELD = 600 * KIB
"""As for any connection: a read of the scratch buffer and some."""


async def parked(relayed: Relayed, room: Room, number: int = 5) -> None:
    """Park an answer; the broker sends nothing."""
    await relayed.client.send(park(number))
    await eventually(lambda: number in room.parked, "a parked answer")


async def waiting(running: Stage, room: Room, behind: bytes) -> Relayed:
    """Park an answer, and let the broker's response to the request behind it wait."""
    relayed = running.relay()
    await parked(relayed, room)
    await relayed.client.send(request(1))
    await relayed.broker.receive(len(request(1)))
    await relayed.broker.send(behind)
    await eventually(lambda: relayed.connection.responses.waiting, "a response that waits")
    return relayed


async def asking_broker(relayed: Relayed, number: int = 5, steps: int = 2) -> None:
    """Begin a dialogue, up to its first question to the broker."""
    await relayed.client.send(dialogue(number, steps))
    assert await relayed.broker.receive(len(step_request(number, 0))) == step_request(number, 0)


async def test_a_dialogue_and_what_is_pipelined_behind_it() -> None:
    """Each step takes its own round trip; then what waited goes on, in order."""
    async with talking() as (running, room):
        relayed = running.relay()
        await relayed.client.send(request(1) + dialogue(5, 2) + request(2) + dialogue(6, 1))
        assert await relayed.broker.receive(len(request(1))) == request(1)
        for step in range(2):
            asked = step_request(5, step)
            assert await relayed.broker.receive(len(asked)) == asked
            await relayed.broker.send((response(1) if step == 0 else b"") + step_response(5, step))
        assert await relayed.broker.receive(len(request(2))) == request(2)
        assert await relayed.broker.receive(len(step_request(6, 0))) == step_request(6, 0)
        await relayed.broker.send(response(2) + step_response(6, 0))
        expected = response(1) + asked_broker(5, 2) + response(2) + asked_broker(6, 1)
        assert await relayed.client.receive(len(expected)) == expected
        assert room.over == [5, 6]
        await relayed.exchange(7)
        assert relayed.connection.paused == ()
        assert (relayed.connection.requests.count, relayed.connection.answered) == (5, 5)


@pytest.mark.parametrize("steps", [0, 2])
async def test_a_dialogue_whose_answer_comes_later(steps: int) -> None:
    """The client is read again once the broker was asked everything; the broker's responses wait for the answer."""
    async with talking() as (running, room):
        relayed = running.relay()
        await relayed.client.send(dialogue(5, steps + ENDS_PARKED) + request(2))
        for step in range(steps):
            assert await relayed.broker.receive(len(step_request(5, step))) == step_request(5, step)
            await relayed.broker.send(step_response(5, step))
        assert await relayed.broker.receive(len(request(2))) == request(2)
        await relayed.broker.send(response(2))
        await eventually(lambda: relayed.connection.responses.waiting, "bytes behind a parked answer")
        assert room.over == [5]
        room.parked[5].resolve(parked_response(5))
        expected = parked_response(5) + response(2)
        assert await relayed.client.receive(len(expected)) == expected
        await relayed.exchange(7)
        assert relayed.connection.paused == ()


@pytest.mark.parametrize("steps", [0, 1])
async def test_a_dialogue_that_ends_with_an_answer_that_is_there(steps: int) -> None:
    """It is sent like any other answer."""
    async with talking() as (running, _):
        relayed = running.relay()
        await relayed.client.send(dialogue(5, steps + ENDS_PARKED + AT_ONCE) + request(2))
        for step in range(steps):
            assert await relayed.broker.receive(len(step_request(5, step))) == step_request(5, step)
            await relayed.broker.send(step_response(5, step))
        assert await relayed.broker.receive(len(request(2))) == request(2)
        await relayed.broker.send(response(2))
        expected = asked_broker(5, steps) + response(2)
        assert await relayed.client.receive(len(expected)) == expected


async def test_the_client_goes_before_the_answer_of_a_dialogue() -> None:
    """The room that parked the answer is notified."""
    async with talking() as (running, room):
        relayed = running.relay()
        await relayed.client.send(dialogue(5, ENDS_PARKED))
        await eventually(lambda: 5 in room.parked, "a parked answer")
        await relayed.client.close()
        await relayed.broker.close()
        await eventually(lambda: room.abandoned == [5], "the end")


async def test_the_client_is_not_read_while_the_proxy_converses() -> None:
    """Bytes behind a dialogue stay in the socket; that is no backpressure, and is not counted as such."""
    async with talking() as (running, _):
        relayed, beside = running.relay(buffer=SMALL), running.relay()
        await asking_broker(relayed)
        big = request(1, noise(4 * MIB))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send, big)
            await stays(lambda: relayed.connection.held_bytes < HELD, "bytes pile up", 0.3)
            assert not relayed.connection.client.reading
            assert (relayed.connection.paused, running.backend.counters.pauses["upstream"]) == ((), 0)
            assert running.quiet()
            await beside.exchange(1)
            await relayed.broker.send(step_response(5, 0))
            await relayed.broker.receive(len(step_request(5, 1)))
            await relayed.broker.send(step_response(5, 1))
            assert await relayed.broker.receive(len(big)) == big
        assert await relayed.client.receive(len(asked_broker(5, 2))) == asked_broker(5, 2)
        assert relayed.connection.held_bytes == 0


@pytest.mark.parametrize("size", [500, 12 * KIB, 2 * MIB], ids=["small", "copied", "spliced"])
async def test_the_broker_is_not_read_behind_a_parked_answer(size: int) -> None:
    """What waits behind it waits in the sockets; the client is read as far as any. In the end all arrives."""
    async with talking() as (running, room):
        relayed, beside = running.relay(buffer=SMALL), running.relay()
        count = min(8 * MIB // size, MAX_IN_FLIGHT - 1)
        numbers = range(10, 10 + count)
        answered = [response(number, noise(size, number)) for number in numbers]
        await parked(relayed, room)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send, *map(request, numbers))
            await relayed.broker.receive(count * len(request(1)))
            nursery.start_soon(relayed.broker.send, *answered)
            await eventually(lambda: relayed.connection.responses.waiting, "bytes behind a parked answer")
            await stays(lambda: relayed.connection.held_bytes < HELD, "bytes pile up", 0.3)
            assert (relayed.connection.paused, running.quiet()) == (("downstream",), True)
            await beside.exchange(1)
            room.parked[5].resolve(parked_response(5))
            expected = parked_response(5) + b"".join(answered)
            assert await relayed.client.receive(len(expected)) == expected
        assert (relayed.connection.paused, relayed.connection.held_bytes) == ((), 0)


async def test_a_large_parked_answer_to_a_slow_client() -> None:
    """It waits for the client as any response does, and the broker is not read meanwhile."""
    async with talking() as (running, room):
        relayed = running.relay(buffer=SMALL)
        await parked(relayed, room)
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        await relayed.broker.send(response(1))
        answer = parked_response(5, 2 * MIB)
        room.parked[5].resolve(answer)
        assert relayed.connection.client.blocked
        assert await relayed.client.receive(len(answer) + len(response(1))) == answer + response(1)
        await relayed.exchange(2)


async def test_too_many_requests_behind_a_parked_answer() -> None:
    """As for any response that does not come: the client is read no further than that many."""
    async with talking() as (running, room):
        relayed = running.relay()
        count = 8 * MAX_IN_FLIGHT
        await parked(relayed, room)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send, *(request(number, b"-" * 100) for number in range(10, 10 + count)))
            nursery.start_soon(relayed.broker.receive, count * len(request(10, b"-" * 100)))
            await eventually(lambda: relayed.connection.paused == ("upstream",), "a pause")
            assert len(relayed.connection.in_flight) < 3 * MAX_IN_FLIGHT
            nursery.cancel_scope.cancel()


async def test_a_request_of_another_client_brings_the_answer() -> None:
    """One connection's turn may resolve another's answer; it is out before anything else happens."""
    async with talking() as (running, room):
        waits, brings = running.relay(), running.relay()
        await parked(waits, room)
        room.within = lambda number: room.parked[5].resolve(parked_response(5))
        await parked(brings, room, 6)
        assert await waits.client.receive(len(parked_response(5))) == parked_response(5)


async def test_a_later_request_of_the_client_brings_the_answer() -> None:
    """Also where that request ends the connection: the answer that is due goes out before."""
    async with talking() as (running, room):
        relayed = running.relay()
        await parked(relayed, room)
        room.within = lambda number: room.parked[5].resolve(parked_response(5))
        await relayed.client.send(park(6, at_once=True))
        both = parked_response(5) + parked_response(6)
        assert await relayed.client.receive(len(both)) == both
        assert (relayed.connection.answered, relayed.connection.responses.count) == (2, 0)
        await parked(relayed, room, 7)
        room.within = lambda number: room.parked[7].resolve(parked_response(7))
        await relayed.client.send(park(8, at_once=True))
        relayed.client.half_close()
        assert await relayed.client.receive_all() == parked_response(7) + parked_response(8)
        await relayed.ended(Reason.CLIENT_CLOSED)


async def test_a_later_request_brings_the_answer_while_the_connection_drains() -> None:
    """The later request's answer is owed, too, though nothing else is in flight when the first one is out."""
    async with talking() as (running, room):
        relayed = running.relay()
        await parked(relayed, room)
        room.within = lambda number: room.parked[5].resolve(parked_response(5))
        relayed.client.sock.send(dialogue(6, 1))
        running.pump.drain_one(relayed.connection)
        assert await relayed.broker.receive(len(step_request(6, 0))) == step_request(6, 0)
        await relayed.broker.send(step_response(6, 0))
        assert await relayed.client.receive_all() == parked_response(5) + asked_broker(6, 1)
        await relayed.ended(Reason.DRAINED)


async def test_what_waited_behind_a_parked_answer_is_counted_when_it_is_out() -> None:
    """It is not counted with the next traffic, of which there may be none."""
    async with talking() as (running, room):
        await waiting(running, room, response(1))
        counted = running.backend.counters.apis[1, 4]
        assert (counted.responses, sum(counted.proxy.counts)) == (0, 0)
        room.parked[5].resolve(parked_response(5))
        assert (counted.responses, sum(counted.proxy.counts), sum(counted.upstream.counts)) == (1, 1, 1)


def over(relayed: Relayed) -> bool:
    """Whether its connection has ended."""
    return relayed.connection.closed


@pytest.mark.parametrize("reset", [False, True])
async def test_the_broker_dies(reset: bool) -> None:
    """The connection closes as any: dialogues end, rooms with parked answers are notified; late ones go nowhere."""
    async with talking() as (running, room):
        talks, waits = running.relay(), running.relay()
        await asking_broker(talks)
        await parked(waits, room, 6)
        for relayed in (talks, waits):
            await (relayed.broker.reset() if reset else relayed.broker.close())
            await eventually(partial(over, relayed), "the end")
        assert (room.over, room.abandoned) == ([5], [6])
        room.parked[6].resolve(parked_response(6))
        assert running.backend.ended == {Reason.BROKER_RESET if reset else Reason.BROKER_CLOSED: 2}
        assert not talks.connection.in_flight


async def test_the_broker_dies_in_mid_answer() -> None:
    """A dialogue's response that is cut short has its own reason, as any."""
    async with talking() as (running, room):
        relayed = running.relay()
        await asking_broker(relayed)
        await relayed.broker.send(step_response(5, 0)[:-1])
        await eventually(lambda: relayed.connection.responses.under_way, "half a response")
        await relayed.broker.close()
        await relayed.ended(Reason.TRUNCATED_RESPONSE)
        assert room.over == [5]


async def test_the_client_goes() -> None:
    """A reset ends a connection whose answers are kproxy's own. A dialogue goes on: it is what was asked for."""
    async with talking() as (running, room):
        talks, waits = running.relay(), running.relay()
        await asking_broker(talks)
        await parked(waits, room, 6)
        await waits.client.send(request(7))
        await waits.broker.receive(len(request(7)))
        await talks.client.reset()
        await waits.client.reset()
        await eventually(lambda: room.abandoned == [6], "nobody waits for the answer")
        assert not waits.connection.closed
        await waits.broker.send(response(7))
        await waits.ended(Reason.CLIENT_RESET)
        assert (talks.connection.closed, room.over) == (False, [])
        for step in range(2):
            await talks.broker.send(step_response(5, step))
        await eventually(lambda: not running.pump.connections, "the end")
        assert room.over == [5]
        assert running.backend.ended == {Reason.CLIENT_RESET: 2}
        room.parked[6].resolve(parked_response(6))


async def test_half_close_by_the_client() -> None:
    """Its earlier requests are answered, then its connection is closed."""
    async with talking() as (running, room):
        talks, waits = running.relay(), running.relay()
        await asking_broker(talks, steps=1)
        await parked(waits, room, 6)
        talks.client.half_close()
        waits.client.half_close()
        await eventually(lambda: waits.connection.life.reason is Reason.CLIENT_CLOSED, "the half-close")
        await eventually(running.quiet, "a quiet epoll")
        await talks.broker.send(step_response(5, 0))
        room.parked[6].resolve(parked_response(6))
        assert await talks.client.receive_all() == asked_broker(5, 1)
        assert await waits.client.receive_all() == parked_response(6)
        assert running.backend.ended == {Reason.CLIENT_CLOSED: 2}


async def test_a_drain_waits() -> None:
    """It waits for parked answers, for dialogues, and for what was received behind these."""
    async with talking() as (running, room):
        talks, waits = running.relay(), running.relay()
        await talks.client.send(dialogue(5, 1) + request(1))
        await talks.broker.receive(len(step_request(5, 0)))
        await parked(waits, room, 6)
        running.pump.drain()
        await stays(lambda: len(running.pump.connections) == 2, "closed too early", 0.2)
        await waits.client.send(request(3))
        await talks.broker.send(step_response(5, 0))
        assert await talks.broker.receive(len(request(1))) == request(1)
        await talks.broker.send(response(1))
        room.parked[6].resolve(parked_response(6))
        assert await talks.client.receive_all() == asked_broker(5, 1) + response(1)
        assert await waits.client.receive_all() == parked_response(6)
        assert await waits.broker.receive_all() == b""
        assert running.backend.ended == {Reason.DRAINED: 2}


async def test_a_drain_that_does_not_wait_longer() -> None:
    """At its deadline everything ends, and every room is notified."""
    async with talking() as (running, room):
        talks, waits = running.relay(), running.relay()
        await asking_broker(talks)
        await parked(waits, room, 6)
        running.pump.drain()
        running.pump.close_all(Reason.DRAIN_DEADLINE)
        assert (room.over, room.abandoned) == ([5], [6])
        room.parked[6].resolve(parked_response(6))
        assert await waits.client.receive_all() == b""


async def test_a_stalled_dialogue() -> None:
    """A broker that does not end its response is given up; one that has not begun may take its time, as always."""
    async with talking(stalled_frame=0.3) as (running, room):
        silent, stalls = running.relay(), running.relay()
        await asking_broker(silent)
        await asking_broker(stalls, 6)
        await stalls.broker.send(step_response(6, 0)[:-1])
        await stalls.ended(Reason.STALLED_FRAME)
        assert (silent.connection.closed, room.over) == (False, [6])


async def test_an_answer_that_comes_late_is_no_stall() -> None:
    """Half a response that has waited behind it has the usual time for its rest."""
    async with talking(stalled_frame=1.2) as (running, room):
        relayed = running.relay()
        await parked(relayed, room)
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        back = response(1, b"rest")
        await relayed.broker.send(back[:-1])
        await stays(lambda: not relayed.connection.closed, "closed", 2.5)
        room.parked[5].resolve(parked_response(5))
        await stays(lambda: not relayed.connection.closed, "closed", 1.05)
        await relayed.broker.send(back[-1:])
        expected = parked_response(5) + back
        assert await relayed.client.receive(len(expected)) == expected


async def test_an_answer_brings_a_fault_to_light() -> None:
    """It ends that connection, and does not affect the room that gave the answer."""
    async with talking() as (running, room):
        relayed = await waiting(running, room, response(2))
        room.parked[5].resolve(parked_response(5))
        assert relayed.connection.closed
        assert await relayed.client.receive_all() == parked_response(5)
        assert running.backend.ended == {Reason.CORRELATION_MISMATCH: 1}


async def test_a_room_that_fails_at_the_end() -> None:
    """It is logged; the connection ends as it would, and the others in flight are notified."""
    async with talking() as (running, room):
        relayed = running.relay()
        await parked(relayed, room, 5)
        await parked(relayed, room, 6)

        def fail() -> None:
            raise RuntimeError("no such room")

        room.parked[5]._on_abandoned = fail
        with structlog.testing.capture_logs() as logs:
            await relayed.broker.close()
            await relayed.ended(Reason.BROKER_CLOSED)
        assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == [
            "a fault in kproxy: please report it"
        ]
        assert room.abandoned == [6]


async def test_an_answer_that_the_end_brings() -> None:
    """A room that is notified of one abandoned answer may give another: that one is late, too, and does no harm."""
    async with talking() as (running, room):
        relayed = running.relay()
        await parked(relayed, room, 5)
        await parked(relayed, room, 6)
        room.parked[5]._on_abandoned = lambda: room.parked[6].resolve(parked_response(6))
        with structlog.testing.capture_logs() as logs:
            running.pump.close_all(Reason.DRAIN_DEADLINE)
        assert not [entry for entry in logs if entry["log_level"] == "error"]
        assert await relayed.client.receive_all() == b""


async def test_a_dialogue_that_fails() -> None:
    """A bug in kproxy itself is logged, its connection is closed, and the others are served."""
    async with talking() as (running, room):
        relayed, beside = running.relay(), running.relay()
        await asking_broker(relayed, steps=1)
        room.fault = RuntimeError("a bug")
        with structlog.testing.capture_logs() as logs:
            await relayed.broker.send(step_response(5, 0))
            await relayed.ended(Reason.INTERNAL_ERROR)
        assert "a fault in kproxy: please report it" in [entry["event"] for entry in logs]
        await beside.exchange(1)
        assert room.over == [5]


async def test_an_end_that_comes_behind_a_response() -> None:
    """The refusal of a login that was pipelined: once it is out the connection ends, though nothing else happens."""
    async with talking() as (running, room):
        relayed = running.relay()
        await relayed.client.send(request(1) + park(5))
        await eventually(lambda: 5 in room.parked, "a parked answer")
        await relayed.broker.receive(len(request(1)))
        room.parked[5].resolve(parked_response(5), Reason.AUTHENTICATION_FAILED)
        await relayed.broker.send(response(1))
        expected = response(1) + parked_response(5)
        assert await relayed.client.receive(len(expected)) == expected
        await eventually(lambda: relayed.connection.closed, "the end")
        assert running.backend.ended == {Reason.AUTHENTICATION_FAILED: 1}


async def test_answers_that_wait_are_counted() -> None:
    """Behind a request that the broker leaves open: they are held, and many of them stop the client."""
    async with talking() as (running, room):
        relayed = running.relay()

        def is_read() -> bool:
            return relayed.connection.client.reading

        await relayed.client.send(request(1) + park(5) + park(6))
        await eventually(lambda: len(room.parked) == 2, "parked answers")
        room.parked[5].resolve(bytes(HELD))
        assert relayed.connection.held_bytes == running.pump.held_responses.total == HELD
        assert is_read()
        room.parked[6].resolve(bytes(HELD))
        assert not is_read()
        await relayed.broker.receive(len(request(1)))
        await relayed.broker.send(response(1))
        await relayed.client.receive(len(response(1)) + 2 * HELD)
        await eventually(is_read, "the client is read again")
        assert relayed.connection.held_bytes == 0
