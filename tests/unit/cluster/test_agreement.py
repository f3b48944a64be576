"""Orders between replicas, over places that are in memory, cut off, or full: who gets which, and what is said."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio
import trio.testing

from kproxy.agreement.failover_record import FailoverRecord
from kproxy.agreement.order import Order
from kproxy.cluster.agreement import LEARN_SECONDS, ORDERS, Agreement
from kproxy.errors import ConflictError, UpstreamError
from kproxy.observe.troubles import Troubles
from kproxy.state.store import MemoryStore
from tests.unit.state.keeping import kept_in

STAY = FailoverRecord(1, "id")


@dataclass
class Log:
    """A place that is a list; `away` and `full` say why it cannot be reached or written; one that `hangs` is silent."""

    orders: list[Order] = field(default_factory=list)
    away: str | None = None
    full: str | None = None
    hangs: bool = False
    news: trio.Event = field(default_factory=trio.Event)

    def tell(self) -> None:
        self.news.set()
        self.news = trio.Event()

    async def follow(self, take: Callable[[Order], None], read: Callable[[], None]) -> None:
        await self._reach()
        at = 0
        while True:
            for order in self.orders[at:]:
                take(order)
            at = len(self.orders)
            read()
            await self.news.wait()
            await self._reach()

    async def write(self, order: Order) -> None:
        await self._reach()
        if self.full:
            raise UpstreamError(self.full)
        self.orders.append(order)
        self.tell()

    async def _reach(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.hangs:
            await trio.sleep_forever()
        if self.away:
            raise UpstreamError(self.away)


@pytest.fixture
def logs() -> dict[str, Log]:
    """Two places, each of which is an upstream's."""
    return {"east": Log(), "west": Log()}


@asynccontextmanager
async def replicas(logs: dict[str, Log], count: int = 2) -> AsyncIterator[list[Agreement]]:
    """Replicas that have learned what there is."""
    made = [Agreement("c", logs, Troubles()) for _ in range(count)]
    async with trio.open_nursery() as nursery:
        for one in made:
            await one.learn(MemoryStore(), kept_in(MemoryStore(), nursery), nursery)
        yield made
        nursery.cancel_scope.cancel()


async def test_an_order(logs: dict[str, Log], autojump_clock: trio.testing.MockClock) -> None:
    """It is written at its upstream, read by the other replica, and copied to the other place."""
    async with replicas(logs) as (one, other):
        order = await one.give("west", STAY, "operator", force=False)
        await one.follow(order)
        assert one.pending is None
        assert await other.order_pending() == order
        assert list(other.problems()) == [f"order 1 of replica {one.replica}, to be at west, is not in force here yet"]
        await other.follow(order)
        assert (other.pending, list(other.problems())) == (None, [])
        await trio.sleep(2)
        assert [set(log.orders) for log in logs.values()] == [{order}, {order}]
        assert (await other.give("east", STAY, "operator", force=False)).number == 2


async def test_learning(logs: dict[str, Log], autojump_clock: trio.testing.MockClock) -> None:
    """One that starts has the newest order of all places, in no time where all of them answer."""
    for name, number in (("east", 1), ("west", 2)):
        logs[name].orders.append(Order("c", number, name, STAY, "r", "operator", 0.0))
    store = MemoryStore()
    async with trio.open_nursery() as nursery:
        one = Agreement("c", logs, Troubles())
        assert await one.learn(store, kept_in(store, nursery), nursery) == logs["west"].orders[0]
        assert trio.current_time() < 1
        await one.follow(logs["west"].orders[0])
        nursery.cancel_scope.cancel()
    logs["east"].away = logs["west"].away = "cut off"
    async with trio.open_nursery() as nursery:
        again = Agreement("c", logs, Troubles())
        assert await again.learn(store, kept_in(store, nursery), nursery) == logs["west"].orders[0], "from the state"
        assert list(again.problems()) == [
            "order 2 of replica r, to be at west, is not in force here yet",
            "no order can be read, so the others may be elsewhere: east: cut off; west: cut off",
        ]
        nursery.cancel_scope.cancel()


async def test_a_place_that_hangs(logs: dict[str, Log], autojump_clock: trio.testing.MockClock) -> None:
    """It does not keep kproxy from starting for longer than a few seconds; and is warned of."""
    logs["east"].hangs = True
    async with replicas(logs, 1) as (one,):
        assert trio.current_time() == pytest.approx(LEARN_SECONDS, abs=0.1)
        assert list(one.problems()) == []
        assert list(one.warnings()) == ["orders cannot be read at east: not read yet"]


async def test_a_place_that_comes_back(logs: dict[str, Log], autojump_clock: trio.testing.MockClock) -> None:
    """It gets the orders that it missed."""
    logs["east"].away = "cut off"
    async with replicas(logs) as (one, _):
        order = await one.give("west", STAY, "operator", force=False)
        await trio.sleep(5)
        assert logs["east"].orders == []
        logs["east"].away = None
        await trio.sleep(5)
        assert set(logs["east"].orders) == {order}
        assert list(one.warnings()) == []


async def test_a_place_that_is_full(logs: dict[str, Log], autojump_clock: trio.testing.MockClock) -> None:
    """It gets the order once it takes it."""
    logs["east"].full = "no room"
    async with replicas(logs) as (one, _):
        order = await one.give("west", STAY, "operator", force=False)
        await trio.sleep(5)
        assert logs["east"].orders == []
        assert list(one.warnings()) == ["orders cannot be written at east: no room"]
        logs["east"].full = None
        await trio.sleep(5)
        assert set(logs["east"].orders) == {order}
        assert list(one.warnings()) == []


async def test_an_order_that_cannot_be_written(logs: dict[str, Log], autojump_clock: trio.testing.MockClock) -> None:
    """It is refused, and counts nowhere; forced it counts here, and at the others once the place can be written."""
    async with replicas(logs) as (one, other):
        logs["west"].away = "disk full"
        logs["east"].hangs = True
        with pytest.raises(ConflictError, match=r"could not be written, so nothing was switched: disk full; force it"):
            await one.give("west", STAY, "operator", force=False)
        assert not one.agreed.newest
        order = await one.give("west", STAY, "operator", force=True)
        assert order.number == 2
        assert one.agreed.newest == order
        assert not other.agreed.newest
        logs["west"].away = None
        logs["west"].tell()
        assert await other.order_pending() == order


async def test_an_order_before_those_at_its_place_are_known(
    logs: dict[str, Log], autojump_clock: trio.testing.MockClock
) -> None:
    """It is not given: what is there may count more, as its number shows once it is read; forced it is given."""
    logs["east"].away = logs["west"].away = "cut off"
    async with replicas(logs, 1) as (one,):
        logs["west"].orders.append(Order("c", 7, "east", STAY, "r", "operator", 0.0))
        logs["west"].hangs, logs["west"].away = True, None
        with pytest.raises(ConflictError, match=r"might not count, so none was given: orders cannot be read at west: "):
            await one.give("west", STAY, "operator", force=False)
    logs["west"].hangs, logs["west"].away = False, "cut off"
    async with replicas(logs, 1) as (one,):
        logs["west"].away = None
        with pytest.raises(ConflictError, match=r"an order of replica r became known just now: east is to be active"):
            await one.give("west", STAY, "operator", force=False)
        assert len(logs["west"].orders) == 1
        assert (await one.give("west", STAY, "operator", force=False)).number == 8
        assert (await one.give("east", STAY, "operator", force=True)).number == 9


class Cut(Log):
    """A place that can no more be read once an order was written."""

    async def write(self, order: Order) -> None:
        await super().write(order)
        self.away = "cut"


async def test_an_order_that_cannot_be_read_back(logs: dict[str, Log], autojump_clock: trio.testing.MockClock) -> None:
    """It may not count, so it is not acknowledged; a forced one is. When it is read, all follow it."""
    logs["west"] = west = Cut()
    async with replicas(logs) as (one, other):
        with pytest.raises(ConflictError, match="was written, and could not be read back in 2 s"):
            await one.give("west", STAY, "operator", force=False)
        assert one.agreed.newest is None
        assert (await one.give("west", STAY, "operator", force=True)).number == 2
        west.away = None
        assert (await other.order_pending()).upstream == "west"


async def test_two_orders_at_once(logs: dict[str, Log], autojump_clock: trio.testing.MockClock) -> None:
    """Both have the same number: one counts, at all replicas, and who gave the other one is told."""
    async with replicas(logs) as (one, other):
        logs["west"].hangs = True  # nobody reads it before both are there
        logs["west"].orders.append(Order("c", 1, "east", STAY, "z" * 12, "operator", 0.0))
        logs["west"].hangs = False
        with pytest.raises(ConflictError, match=r"another replica \(z{12}\) gave an order at the same moment: east"):
            await one.give("west", STAY, "operator", force=False)
        assert one.pending == other.pending == logs["west"].orders[0]


async def test_where_one_is_already(logs: dict[str, Log], autojump_clock: trio.testing.MockClock) -> None:
    """A replica that a reload has moved has the others follow; one that is overruled follows them."""
    async with replicas(logs) as (one, other):
        await one.declare("west", STAY, "reload")
        assert one.followed == logs["west"].orders[0]
        assert (await other.order_pending()).cause == "reload"
        logs["west"].orders.append(Order("c", 2, "east", STAY, "z" * 12, "operator", 0.0))
        await one.declare("west", STAY, "reload")
        assert one.pending == logs["west"].orders[1]
        await one.declare("west", STAY, "reload")
        assert len(logs["west"].orders) == 3, "an order that waits here is not overruled"


async def test_other_places(logs: dict[str, Log], autojump_clock: trio.testing.MockClock) -> None:
    """After a reload the newest order is copied to a place that is new, and one that is gone is left alone."""
    async with replicas(logs, 1) as (one,):
        order = await one.give("west", STAY, "operator", force=False)
        north = Log()
        one.keep_in({"west": logs["west"], "north": north})
        await trio.sleep(3)
        assert (north.orders, list(one.agreed.copies)) == ([order], ["west", "north"])


async def test_state_that_is_no_order(logs: dict[str, Log], autojump_clock: trio.testing.MockClock) -> None:
    """It is moved aside, and what the places say counts."""
    store = MemoryStore()
    await store.put(ORDERS, "c", b"{")
    async with trio.open_nursery() as nursery:
        assert await Agreement("c", logs, Troubles()).learn(store, kept_in(store, nursery), nursery) is None
        nursery.cancel_scope.cancel()
