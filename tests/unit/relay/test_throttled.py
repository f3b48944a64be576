"""kproxy.relay.throttled, and throttled clients in a pump: they are read later, between two requests, and in order."""

from __future__ import annotations

import time

import trio
import trio.testing

from kproxy.observe.reasons import Reason
from kproxy.relay.throttled import ThrottledClients
from tests.support.bounds import Bounds
from tests.unit.relay.sockets import KIB, MIB, eventually, noise, request, response, stage, stays

PAUSE = 0.3


async def test_each_is_resumed_in_its_time() -> None:
    """Sooner ones first, whenever they came; none before its time."""
    throttled, resumed, begun = ThrottledClients(), list[tuple[int, float]](), time.monotonic()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(throttled.run, lambda number: resumed.append((number, time.monotonic() - begun)))
        await trio.testing.wait_all_tasks_blocked()
        for number, after in ((1, 0.2), (2, 0.1), (3, 0.3)):
            throttled.add(number, begun + after)
        with trio.fail_after(40):
            await eventually(lambda: len(resumed) == 3, "all are resumed")
        nursery.cancel_scope.cancel()
    assert [number for number, _ in resumed] == [2, 1, 3]
    assert all(at >= after for (_, at), after in zip(resumed, (0.1, 0.2, 0.3), strict=True))


async def test_what_comes_behind_is_read_later(bounds: Bounds) -> None:
    """The present request goes on to its end; those behind it, sent at once, wait, and keep their order."""
    async with stage() as running:
        relayed = running.relay()
        large, behind = request(1, noise(3 * MIB)), [request(number, noise(KIB, number)) for number in range(2, 9)]
        throttled = trio.Event()

        async def send() -> None:
            await relayed.client.send(large[:MIB])
            await throttled.wait()
            await relayed.client.send(large[MIB:], *behind)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(send)
            assert await relayed.broker.receive(MIB - 64 * KIB) == large[: MIB - 64 * KIB]
            begun = time.monotonic()
            relayed.connection.throttle(PAUSE)
            throttled.set()
            assert await relayed.broker.receive(len(large) - MIB + 64 * KIB) == large[MIB - 64 * KIB :]
            bounds.below(time.monotonic() - begun, PAUSE, "seconds until the present request was through")
            assert await relayed.broker.receive(len(behind[0])) == behind[0]
            assert time.monotonic() - begun >= PAUSE
            assert await relayed.broker.receive(sum(map(len, behind[1:]))) == b"".join(behind[1:])
        assert "upstream" not in relayed.connection.paused


async def test_responses_come_meanwhile() -> None:
    """Who is throttled is still answered; its connection is not shown as held by the broker."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.client.send(there := request(1))
        assert await relayed.broker.receive(len(there)) == there
        relayed.connection.throttle(60)
        await relayed.broker.send(back := response(1, b"x"))
        assert await relayed.client.receive(len(back)) == back
        await relayed.client.send(request(2))
        await stays(lambda: not relayed.connection.client.reading, "the client is not read", PAUSE)
        assert relayed.connection.paused == ()
        assert running.backend.counters.pauses["upstream"] == 0


async def test_a_drain_does_not_wait_for_it() -> None:
    """A throttled client that is owed nothing is drained at once."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        relayed.connection.throttle(60)
        running.pump.drain()
        await relayed.ended(Reason.DRAINED)


async def test_one_that_has_ended_is_not_resumed() -> None:
    """Its time comes all the same."""
    async with stage() as running:
        gone, other = running.relay(), running.relay()
        gone.connection.throttle(0.05)
        other.connection.throttle(PAUSE)
        gone.connection.close(Reason.SHUTDOWN)
        await eventually(lambda: other.connection.client.reading, "the other is read again")
        await other.exchange(1)


async def test_the_longest_time_counts() -> None:
    """Who is throttled again meanwhile waits until both times are over."""
    async with stage() as running:
        relayed, begun = running.relay(), time.monotonic()
        relayed.connection.throttle(PAUSE)
        relayed.connection.throttle(0.05)
        relayed.connection.throttle(2 * PAUSE)
        await relayed.exchange(1)  # the side is read until something has come
        await relayed.exchange(2)
        assert time.monotonic() - begun >= 2 * PAUSE


async def test_what_was_held_may_be_malformed() -> None:
    """That ends its own connection only, and when its time has come."""
    async with stage() as running:
        relayed, other = running.relay(), running.relay()
        await relayed.exchange(1)
        there, begun = request(2, b"xx"), time.monotonic()
        await relayed.client.send(there[:-1])
        await relayed.broker.receive(len(there) - 1)
        relayed.connection.throttle(PAUSE)
        await relayed.client.send(there[-1:], request(3), bytes(16))
        assert await relayed.broker.receive(1 + len(request(3))) == there[-1:] + request(3)
        await eventually(lambda: relayed.connection.ending, "the end of its time")
        assert time.monotonic() - begun >= PAUSE
        await relayed.broker.send(response(2), response(3))
        assert await relayed.client.receive_all() == response(2) + response(3)
        await relayed.ended(Reason.INVALID_FRAME_SIZE)
        await other.exchange(1)
