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
