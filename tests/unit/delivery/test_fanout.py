"""kproxy.delivery.destinations: several destinations, and the effect of a fault of one."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from kproxy.delivery.destinations import Fanout
from kproxy.delivery.queued import Queued
from tests.unit.delivery.items import Number


class Good(Queued[Number]):
    """Delivers every item while it runs."""

    runs = 0

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        self.runs += 1
        while True:
            self.delivered(*await self.take())


class Faulty(Queued[Number]):
    """Raises in every method."""

    runs = 0

    def offer(self, item: Number) -> bool:
        raise RuntimeError("offer")

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        self.runs += 1
        if self.runs == 1:
            raise RuntimeError("run")
        if self.runs > 3:
            await trio.sleep_forever()

    async def flush(self) -> None:
        raise RuntimeError("flush")


async def test_faults_cost_themselves_only(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others get every item; the faulty one is started again, whether it raised or ended."""
    faulty, good = Faulty("faulty"), Good("good")
    fanout = Fanout[Number]([faulty, good], rand=lambda: 1.0)
    await nursery.start(fanout.run)
    fanout.offer(Number(1))
    await fanout.flush(10)
    assert (good.counters.delivered, faulty.counters.dropped) == (1, {"failed": 1})
    assert faulty.counters.last_error == "RuntimeError: run"
    await trio.sleep(100)
    assert faulty.runs == 4
    said = capsys.readouterr().out
    assert "a fault in kproxy: please report it" in said
    assert fanout._troubles.errors["delivery"] == 3  # one each of offer, run and flush
    assert "delivery ended; it begins again" in said


async def test_flush_has_an_end(autojump_clock: trio.testing.MockClock) -> None:
    """A destination that cannot deliver delays the end no longer than the limit."""
    fanout = Fanout([Good("stuck")])
    fanout.offer(Number(1))
    began = trio.current_time()
    await fanout.flush(3)
    assert trio.current_time() - began == 3


async def test_it_restarts_on_request(nursery: trio.Nursery, autojump_clock: trio.testing.MockClock) -> None:
    """A restart is immediate and keeps the queue; for a destination that does not run yet it does nothing."""
    one, other = Good("one"), Good("other")
    fanout = Fanout([one, other])
    fanout.again(one)
    await nursery.start(fanout.run)
    await trio.testing.wait_all_tasks_blocked()
    fanout.again(one)
    fanout.offer(Number(1))
    await fanout.flush(1)
    assert (one.runs, other.runs) == (2, 1)
    assert one.counters.delivered == other.counters.delivered == 1


class Forgetful(Queued[Number]):
    """Raises with an item in its hands, and has no code to give it back, as a plug-in has none."""

    fails = True

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        while True:
            items = await self.take()
            if self.fails:
                raise OSError("no space left")
            self.delivered(*items)


async def test_what_was_under_way_is_delivered_later(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    """An item that was taken when a destination failed is neither lost nor counted as queued for ever."""
    del autojump_clock
    forgetful = Forgetful("forgetful", max_items=3)
    fanout = Fanout[Number]([forgetful], rand=lambda: 1.0)
    await nursery.start(fanout.run)
    for number in range(3):
        fanout.offer(Number(number))
    await trio.sleep(2.5)  # it has failed twice
    forgetful.fails = False
    await fanout.flush(120)
    assert (forgetful.counters.delivered, forgetful.counters.queued, forgetful.counters.dropped) == (3, 0, {})


class Choosy(Queued[Number]):
    """Raises for one item, whenever it comes."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        while True:
            (item,) = await self.take()
            if item.number == 1:
                raise ValueError("one")
            self.delivered(item)


async def test_an_item_that_makes_it_fail(nursery: trio.Nursery, autojump_clock: trio.testing.MockClock) -> None:
    """It is tried three times, and keeps no other from being delivered for good."""
    del autojump_clock
    choosy = Choosy("choosy")
    fanout = Fanout[Number]([choosy], rand=lambda: 1.0)
    await nursery.start(fanout.run)
    for number in range(4):
        fanout.offer(Number(number))
    await fanout.flush(120)
    assert (choosy.counters.delivered, choosy.counters.dropped, choosy.counters.queued) == (3, {"failed": 1}, 0)
    assert fanout._troubles.errors["delivery"] == 3
