"""kproxy.admin.shared_page: many who ask at once cost as much as one or two."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from kproxy.admin.shared_page import MANY, OLD, SharedPage


class Maker:
    """Makes numbered pages, each when it is told to."""

    def __init__(self) -> None:
        self.begun = 0
        self.go_on = trio.Event()

    async def make(self) -> int:
        self.begun += 1
        number = self.begun
        await self.go_on.wait()
        return number


async def test_all_who_ask_meanwhile_share_the_next_page(nursery: trio.Nursery) -> None:
    """A page shows nothing older than the request for it: who comes during the first gets the second."""
    shared, maker, got = SharedPage[int](), Maker(), list[int]()

    async def ask() -> None:
        got.append(await shared.get("text", maker.make))

    nursery.start_soon(ask)
    await trio.testing.wait_all_tasks_blocked()
    for _ in range(100):
        nursery.start_soon(ask)
    await trio.testing.wait_all_tasks_blocked()
    maker.go_on.set()
    await trio.testing.wait_all_tasks_blocked()
    assert got == [1] + [2] * 100
    assert await shared.get("text", maker.make) == 3


async def test_a_storm_waits_for_nobody(nursery: trio.Nursery, autojump_clock: trio.testing.MockClock) -> None:
    """While many wait, and many waited for the last page, others get that one at once, unless it is old."""
    shared, maker, got = SharedPage[int](), Maker(), list[int]()

    async def ask() -> None:
        got.append(await shared.get("text", maker.make))

    async def storm(count: int) -> None:
        for _ in range(count):
            nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()

    await storm(1)
    await storm(MANY + 1)
    assert got == []
    maker.go_on.set()
    await trio.testing.wait_all_tasks_blocked()
    assert got == [1] + [2] * (MANY + 1)
    maker.go_on = trio.Event()
    await storm(1)  # the third page
    await storm(MANY)
    got.clear()
    await storm(50)
    assert got == [2] * 50
    await trio.sleep(OLD)
    await storm(1)
    assert got == [2] * 50
    maker.go_on.set()
    await trio.testing.wait_all_tasks_blocked()
    assert got == [2] * 50 + [3] + [4] * (MANY + 1)


async def test_forms_are_made_one_after_the_other(nursery: trio.Nursery) -> None:
    """Compressed and plain pages are two, but never two at a time."""
    shared, maker = SharedPage[int](), Maker()
    for form in ("plain", "gzip"):
        nursery.start_soon(shared.get, form, maker.make)
    await trio.testing.wait_all_tasks_blocked()
    assert maker.begun == 1
    maker.go_on.set()
    await trio.testing.wait_all_tasks_blocked()
    assert maker.begun == 2


@pytest.mark.parametrize("at_work", [False, True])
async def test_one_that_leaves_takes_no_page_away(nursery: trio.Nursery, at_work: bool) -> None:
    """If whoever was to make it, or makes it, is ended, another one of those who wait makes it."""
    shared, maker, got = SharedPage[int](), Maker(), list[int]()
    first = trio.CancelScope()

    async def leave() -> None:
        with first:
            await shared.get("text", maker.make)

    async def ask() -> None:
        got.append(await shared.get("text", maker.make))

    if not at_work:
        nursery.start_soon(shared.get, "another form", maker.make)
        await trio.testing.wait_all_tasks_blocked()
    nursery.start_soon(leave)
    await trio.testing.wait_all_tasks_blocked()
    for _ in range(3):
        nursery.start_soon(ask)
    await trio.testing.wait_all_tasks_blocked()
    first.cancel()
    await trio.testing.wait_all_tasks_blocked()
    maker.go_on.set()
    await trio.testing.wait_all_tasks_blocked()
    assert got == [2] * 3


async def test_a_fault_is_everyones_own() -> None:
    """It reaches who asked, and the next one who asks gets a page."""
    shared, maker = SharedPage[int](), Maker()
    maker.go_on.set()

    async def fail() -> int:
        raise RuntimeError("no page")

    with pytest.raises(RuntimeError, match="no page"):
        await shared.get("text", fail)
    assert await shared.get("text", maker.make) == 1
