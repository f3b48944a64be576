"""Answers in steps, over real sockets: relayed bytes go between the steps, and every answer is finished."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import structlog
import trio

from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from tests.unit.relay.own import (
    ENDS_IN_STEPS,
    asked_broker,
    dialogue,
    park,
    parked_response,
    step_request,
    step_response,
    talking,
    work,
)
from tests.unit.relay.sockets import Relayed, eventually, request, response


def heard(relayed: Relayed) -> bytes:
    """What its broker has received since the last call."""
    try:
        return relayed.broker.sock.recv(1 << 16)
    except BlockingIOError:
        return b""


async def answered(relayed: Relayed, number: int) -> None:
    """Wait until the client has the answer of a request that was answered in steps."""
    assert await relayed.client.receive(len(parked_response(number))) == parked_response(number)


async def test_what_is_relayed_goes_between_two_steps() -> None:
    """A request that arrives during a step reaches its broker before the next step."""
    async with talking() as (running, room):
        slow, other = running.relay(), running.relay()
        found: list[bytes] = []

        def within(number: int) -> None:
            found.append(heard(other))
            other.client.sock.send(request(number + len(found)))

        room.within = within
        await slow.client.send(work(5, 6))
        await answered(slow, 5)
        assert found == [b"", *(request(5 + step) for step in range(1, 6))]
        assert heard(other) == request(5 + 6)  # and this was before the answer


async def test_each_to_its_end_the_oldest_first() -> None:
    """They take effect in the order of arrival; the clients behind are read meanwhile."""
    async with talking() as (running, room):
        relayed = [running.relay() for _ in range(4)]
        room.within = lambda number: running.pump.drain_one(relayed[3].connection) if len(room.steps) == 1 else None
        for number, one in enumerate(relayed[:3]):
            await one.client.send(work(number, 3))
        for number, one in enumerate(relayed[:3]):
            await answered(one, number)
        assert room.steps == [(number, step) for number in range(3) for step in range(3)]
        await relayed[3].ended(Reason.DRAINED)


async def test_a_client_has_one_waiting_at_most() -> None:
    """Of many in one piece, each is finished before the next is looked at; their answers are in order among others."""
    async with talking() as (running, room):
        relayed = running.relay()
        ahead: list[int] = []
        room.within = lambda number: ahead.append(max(room.parked) - number)
        await relayed.client.send(*(work(number, 2) for number in range(1, 50)), request(50), park(51, at_once=True))
        assert await relayed.broker.receive(len(request(50))) == request(50)
        await relayed.broker.send(response(50))
        expected = b"".join([parked_response(number) for number in range(1, 50)])
        expected += response(50) + parked_response(51)
        assert await relayed.client.receive(len(expected)) == expected
        assert room.steps == [(number, step) for number in range(1, 50) for step in range(2)]
        assert max(ahead) == 0
        await relayed.exchange(60)


async def test_others_go_between_many_of_one_client() -> None:
    """However many a client sends in one piece, what others sent is relayed before each of them."""
    async with talking() as (running, room):
        asking, other = running.relay(), running.relay()
        heard_before: list[bool] = []

        def within(number: int) -> None:
            heard_before.append(bool(heard(other)))
            other.client.sock.send(request(number))

        room.within = within
        await asking.client.send(*(work(number, 1) for number in range(1, 101)))
        for number in range(1, 101):
            await answered(asking, number)
        assert heard_before == [False, *[True] * 99]


async def test_a_dialogue_behind_an_answer_in_steps() -> None:
    """The client's next requests are held until the answer is there, although an earlier response is not."""
    async with talking() as (running, room):
        relayed = running.relay()
        await relayed.client.send(request(1) + work(2, 9) + dialogue(3, 1) + work(4, 2))
        assert await relayed.broker.receive(len(request(1))) == request(1)
        assert await relayed.broker.receive(len(step_request(3, 0))) == step_request(3, 0)
        assert [number for number, _ in room.steps] == [2] * 9
        await relayed.broker.send(response(1) + step_response(3, 0))
        expected = response(1) + parked_response(2) + asked_broker(3, 1) + parked_response(4)
        assert await relayed.client.receive(len(expected)) == expected
        assert not running.pump.deferred_work.waiting


async def test_a_dialogue_that_ends_in_steps() -> None:
    """What comes behind it is held until its answer is there, and goes on then."""
    async with talking() as (running, room):
        relayed = running.relay()
        await relayed.client.send(dialogue(3, 1 | ENDS_IN_STEPS) + work(4, 2) + request(5))
        assert await relayed.broker.receive(len(step_request(3, 0))) == step_request(3, 0)
        assert room.steps == []
        await relayed.broker.send(step_response(3, 0))
        expected = parked_response(3) + parked_response(4)
        assert await relayed.client.receive(len(expected)) == expected
        assert [number for number, _ in room.steps] == [3, 3, 3, 4, 4]
        assert await relayed.broker.receive(len(request(5))) == request(5)
        await relayed.broker.send(response(5))
        assert await relayed.client.receive(len(response(5))) == response(5)
        assert not running.pump.deferred_work.waiting


async def test_one_that_fails_behind_another() -> None:
    """Its fault ends its own connection only, and the request behind it is not looked at."""
    async with talking() as (running, room):
        relayed, other = running.relay(), running.relay()

        def within(number: int) -> None:
            if number == 4:
                raise MalformedMessageError("no message")

        room.within = within
        await relayed.client.send(work(2, 9) + work(4, 2) + work(5, 2))
        await relayed.ended(Reason.MALFORMED_REQUEST)
        assert 5 not in room.parked
        await other.client.send(work(6, 2))
        await answered(other, 6)
        assert not running.pump.deferred_work.waiting


@pytest.mark.parametrize("left", [Relayed.close_client, Relayed.reset_client], ids=["closed", "reset"])
async def test_a_client_that_does_not_wait(left: Callable[[Relayed], None]) -> None:
    """Its request takes effect all the same, and `wait_empty` waits for that."""
    async with talking() as (running, room):
        relayed = running.relay()
        room.within = lambda number: left(relayed) if len(room.steps) == 1 else None
        await relayed.client.send(work(5, 20))
        await eventually(lambda: bool(room.steps), "a step")
        with trio.fail_after(20):
            await running.pump.wait_empty()
        assert room.steps == [(5, step) for step in range(20)]
        await relayed.ended(Reason.CLIENT_CLOSED, Reason.CLIENT_RESET)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MalformedMessageError("no message"), Reason.MALFORMED_REQUEST),
        (ZeroDivisionError("a bug"), Reason.INTERNAL_ERROR),
    ],
)
async def test_a_step_that_fails(error: Exception, reason: Reason) -> None:
    """It ends its connection for the fitting reason, and no other connection."""
    with structlog.testing.capture_logs():
        async with talking() as (running, room):
            failing, other = running.relay(), running.relay()
            room.fault = error
            await failing.client.send(work(5, 2))
            await failing.ended(reason)
            room.fault = None
            await other.client.send(work(6, 2))
            await answered(other, 6)
            await failing.client.close()
            assert not running.pump.deferred_work.waiting


async def test_many_that_wait() -> None:
    """They are answered beside connections that are never quiet, and these go on."""
    async with talking() as (running, room):
        busy, asking = [running.relay() for _ in range(8)], [running.relay() for _ in range(100)]
        async with trio.open_nursery() as nursery:

            async def keep_busy(relayed: Relayed) -> None:
                for turn in itertools.count():
                    await relayed.exchange(turn)

            for one in busy:
                nursery.start_soon(keep_busy, one)
            for number in range(3):
                for one in asking:
                    await one.client.send(work(number, 5))
                for one in asking:
                    await answered(one, number)
            nursery.cancel_scope.cancel()
        assert len(room.steps) == 3 * 100 * 5
        assert all(one.connection.answered > 10 for one in busy)


@pytest.mark.parametrize(("steps", "most"), [(1, 1 + 64 // 16), (20, 2)], ids=["short", "long"])
async def test_a_few_of_many_that_wait_at_a_time(steps: int, most: int) -> None:
    """One of sixteen, and one more, takes a step before what has arrived meanwhile is relayed. Of a long one, two."""
    async with talking() as (running, room):
        many, other = [running.relay() for _ in range(64)], running.relay()
        took: list[int] = []
        sent_at: int | None = None

        def within(number: int) -> None:
            nonlocal sent_at
            if heard(other) and sent_at is not None:
                took.append(len(room.steps) - sent_at)
                sent_at = None
            if sent_at is None:
                sent_at = len(room.steps)
                other.client.sock.send(request(number))

        room.within = within
        for number, one in enumerate(many):
            one.client.sock.send(work(number, steps))
        for number, one in enumerate(many):
            await answered(one, number)
        assert 1 < max(took) <= most


async def test_steps_and_tasks_of_trio() -> None:
    """Neither keeps the other waiting: a task that can always run does so between steps, and the steps are taken."""
    async with talking() as (running, room):
        relayed, turns, seen = running.relay(), 0, []
        room.within = lambda number: seen.append(turns)
        async with trio.open_nursery() as nursery:

            async def always() -> None:
                nonlocal turns
                while True:
                    await trio.lowlevel.checkpoint()
                    turns += 1

            nursery.start_soon(always)
            await relayed.client.send(work(5, 200))
            await answered(relayed, 5)
            nursery.cancel_scope.cancel()
        assert len(room.steps) == 200
        assert len(set(seen)) > 100
