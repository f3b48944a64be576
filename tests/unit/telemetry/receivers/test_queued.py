"""kproxy.telemetry.receivers.queued: bounds, counts, and who waits for what."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from kproxy.telemetry.receivers.interface import OTLP, Receiver
from kproxy.telemetry.receivers.prometheus import Prometheus
from kproxy.telemetry.receivers.queued import Queued
from tests.unit.telemetry.receivers.pushes import gauge, push

PUSH = push(gauge("g", 1.0))
SIZE = len(PUSH.payload)


def test_bounded_by_pushes() -> None:
    """What finds no room is dropped and counted, and the caller is told."""
    queue = Queued("q", max_pushes=2)
    assert [queue.offer(PUSH) for _ in range(3)] == [True, True, False]
    counters = queue.counters
    assert (counters.offered, counters.queued, counters.queued_bytes, counters.dropped) == (3, 2, 2 * SIZE, {"full": 1})


def test_bounded_by_bytes() -> None:
    """By payloads; one that is larger than all room gets its chance when the queue is empty."""
    queue = Queued("q", max_bytes=2 * SIZE)
    assert [queue.offer(PUSH) for _ in range(3)] == [True, True, False]
    queue = Queued("q", max_bytes=SIZE - 1)
    assert [queue.offer(PUSH) for _ in range(2)] == [True, False]


async def test_what_is_under_way_counts() -> None:
    """Memory is bounded with what was taken and is not settled; settled, it makes room."""
    queue = Queued("q", max_pushes=1)
    queue.offer(PUSH)
    taken = await queue.take()
    assert not queue.offer(PUSH)
    queue.delivered(*taken)
    assert queue.offer(PUSH)
    queue.dropped("refused", *await queue.take())
    counters = queue.counters
    assert (counters.delivered, counters.delivered_bytes, counters.dropped) == (1, SIZE, {"full": 1, "refused": 1})
    assert (counters.queued, counters.queued_bytes) == (0, 0)


async def test_taken_in_batches() -> None:
    """As many as are there, up to a number and to a size, but one at least; the oldest first."""
    queue = Queued("q")
    pushes = [push(gauge("g", float(each))) for each in range(6)]
    for each in pushes:
        queue.offer(each)
    assert await queue.take(max_pushes=2) == pushes[:2]
    assert await queue.take(max_pushes=10, max_bytes=2 * SIZE) == pushes[2:4]
    assert await queue.take(max_pushes=10, max_bytes=1) == pushes[4:5]
    assert await queue.take(max_pushes=10) == pushes[5:]


async def test_given_back() -> None:
    """What is under way and not settled comes first again, in its order."""
    queue = Queued("q")
    pushes = [push(gauge("g", float(each))) for each in range(4)]
    for each in pushes:
        queue.offer(each)
    await queue.take(max_pushes=3)
    queue.delivered(pushes[1])
    queue.give_back()
    assert await queue.take(max_pushes=4) == [pushes[0], pushes[2], pushes[3]]
    assert queue.counters.queued == 3


async def test_lingering(autojump_clock: trio.testing.MockClock) -> None:
    """A push waits for others, unless what is there fills a batch; whoever comes too late waits on."""
    queue = Queued("q")
    batches = []

    async def taking() -> None:
        while True:
            taken = await queue.take(max_pushes=10, max_bytes=3 * SIZE, linger=1.0)
            batches.append((len(taken), trio.current_time() - started))
            queue.delivered(*taken)

    started = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(taking)
        nursery.start_soon(taking)
        await trio.testing.wait_all_tasks_blocked()
        queue.offer(PUSH)
        await trio.sleep(0.5)
        queue.offer(PUSH)
        await trio.sleep(1.5)
        for _ in range(3):
            queue.offer(PUSH)
        await queue.flush()
        nursery.cancel_scope.cancel()
    assert batches == [(2, 1.0), (3, 2.0)]


def test_failures_in_a_row(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """The log has the first of them and the recovery, not each one."""
    queue = Queued("q")
    queue.recovered()
    for error in ("one", "two"):
        queue.failed(error)
    queue.recovered()
    queue.failed("three")
    assert queue.counters.last_error == "three"
    said = capsys.readouterr().out + caplog.text
    assert [said.count(each) for each in ("one", "two", "delivers again", "three")] == [1, 0, 1, 1]


async def test_waiting(autojump_clock: trio.testing.MockClock) -> None:
    """`take` waits for a push, `flush` until everything is settled."""
    queue = Queued("q")
    order = []

    async def taking() -> None:
        for _ in range(2):
            [taken] = await queue.take()
            await trio.sleep(1)
            queue.delivered(taken)
            order.append("delivered")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(taking)
        await trio.testing.wait_all_tasks_blocked()
        queue.offer(PUSH)
        queue.offer(PUSH)
        await queue.flush()
        order.append("flushed")
    assert order == ["delivered", "delivered", "flushed"]


def test_a_receiver_is_one() -> None:
    """The shipped receivers are what a plug-in has to be; all take OTLP."""
    receiver: Receiver = Prometheus("p")
    assert (receiver.name, receiver.content_types) == ("p", {OTLP})
