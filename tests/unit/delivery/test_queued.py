"""kproxy.delivery.queued: bounds, counts and waiting."""

from __future__ import annotations

from itertools import pairwise

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from kproxy.delivery.queued import Queued
from tests.unit.delivery.items import Number

ITEM = Number(1)
SIZE = len(ITEM.payload)


def test_bounded_by_items() -> None:
    """An item without room is dropped and counted, and `offer` returns False."""
    queue = Queued[Number]("q", max_items=2)
    assert [queue.offer(ITEM) for _ in range(3)] == [True, True, False]
    counters = queue.counters
    assert (counters.offered, counters.queued, counters.queued_bytes, counters.dropped) == (3, 2, 2 * SIZE, {"full": 1})


def test_bounded_by_bytes() -> None:
    """Payloads are bounded; an item larger than the bound is accepted when the queue is empty."""
    queue = Queued[Number]("q", max_bytes=2 * SIZE)
    assert [queue.offer(ITEM) for _ in range(3)] == [True, True, False]
    queue = Queued[Number]("q", max_bytes=SIZE - 1)
    assert [queue.offer(ITEM) for _ in range(2)] == [True, False]


async def test_what_is_under_way_counts() -> None:
    """Items that were taken but not settled count towards the bound; settling them makes room."""
    queue = Queued[Number]("q", max_items=1)
    queue.offer(ITEM)
    taken = await queue.take()
    assert not queue.offer(ITEM)
    queue.delivered(*taken)
    assert queue.offer(ITEM)
    queue.dropped("refused", *await queue.take())
    counters = queue.counters
    assert (counters.delivered, counters.delivered_bytes, counters.dropped) == (1, SIZE, {"full": 1, "refused": 1})
    assert (counters.queued, counters.queued_bytes) == (0, 0)


async def test_taken_in_batches() -> None:
    """A batch has the oldest items up to a number and a size, but at least one."""
    queue = Queued[Number]("q")
    items = [Number(each) for each in range(6)]
    for each in items:
        queue.offer(each)
    assert await queue.take(max_items=2) == items[:2]
    assert await queue.take(max_items=10, max_bytes=2 * SIZE) == items[2:4]
    assert await queue.take(max_items=10, max_bytes=1) == items[4:5]
    assert await queue.take(max_items=10) == items[5:]


async def test_given_back() -> None:
    """Items under way come first again, in order."""
    queue = Queued[Number]("q")
    items = [Number(each) for each in range(4)]
    for each in items:
        queue.offer(each)
    await queue.take(max_items=3)
    queue.delivered(items[1])
    queue.give_back()
    assert await queue.take(max_items=4) == [items[0], items[2], items[3]]
    assert queue.counters.queued == 3


async def test_lingering(autojump_clock: trio.testing.MockClock) -> None:
    """An item waits for others, unless the queue fills a batch; an item that comes too late waits on."""
    queue = Queued[Number]("q")
    batches = []

    async def taking() -> None:
        while True:
            taken = await queue.take(max_items=10, max_bytes=3 * SIZE, linger=1.0)
            batches.append((len(taken), trio.current_time() - started))
            queue.delivered(*taken)

    started = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(taking)
        nursery.start_soon(taking)
        await trio.testing.wait_all_tasks_blocked()
        queue.offer(ITEM)
        await trio.sleep(0.5)
        queue.offer(ITEM)
        await trio.sleep(1.5)
        for _ in range(3):
            queue.offer(ITEM)
        await queue.flush()
        nursery.cancel_scope.cancel()
    assert batches == [(2, 1.0), (3, 2.0)]


@pytest.mark.parametrize(("every", "size", "apart"), [(0.1001, 10, 1.0), (0.01001, 25, 0.15)])
async def test_items_that_come_meanwhile_wait_for_others_too(
    every: float, size: int, apart: float, autojump_clock: trio.testing.MockClock
) -> None:
    """Even when deliveries take time, a batch has the items of `linger`, or is full."""
    queue = Queued[Number]("q")
    batches = []

    async def taking() -> None:
        while True:
            taken = await queue.take(max_items=25, linger=1.0)
            batches.append((len(taken), trio.current_time()))
            await trio.sleep(0.15)
            queue.delivered(*taken)

    async def offering() -> None:
        while True:
            queue.offer(ITEM)
            await trio.sleep(every)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(taking)
        nursery.start_soon(offering)
        await trio.sleep(6.5)
        nursery.cancel_scope.cancel()
    steady = batches[2:5]
    assert [count for count, _ in steady] == [size] * 3
    assert [later - earlier for (_, earlier), (_, later) in pairwise(steady)] == pytest.approx([apart] * 2)


async def test_nothing_lingers_while_it_is_flushed(autojump_clock: trio.testing.MockClock) -> None:
    """The end of a process has no time to wait for more."""
    queue = Queued[Number]("q")

    async def taking() -> None:
        while True:
            queue.delivered(*await queue.take(linger=60.0))

    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(taking)
        for moment in (0.0, 61.0):
            queue.offer(ITEM)
            await trio.testing.wait_all_tasks_blocked()
            await queue.flush()
            assert trio.current_time() - began == moment
            queue.offer(ITEM)
            await trio.sleep(61.0)
            assert queue.counters.queued == 0
        nursery.cancel_scope.cancel()


def test_failures_in_a_row() -> None:
    """The log has the first failure and the recovery, not every failure."""
    queue = Queued[Number]("q")
    with capture_logs() as lines:
        queue.recovered()
        for error in ("one", "two"):
            queue.failed(error)
        queue.recovered()
        queue.failed("three")
    assert queue.counters.last_error == "three"
    assert [line.get("error", line["event"]) for line in lines] == ["one", "delivers again", "three"]


async def test_waiting(autojump_clock: trio.testing.MockClock) -> None:
    """`take` waits for an item, `flush` until everything is settled."""
    queue = Queued[Number]("q")
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
        queue.offer(ITEM)
        queue.offer(ITEM)
        await queue.flush()
        order.append("flushed")
    assert order == ["delivered", "delivered", "flushed"]
