"""kproxy.state.kept: values that the store does not take are written again, and somebody is told meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
from structlog.testing import capture_logs
from trio.testing import MockClock, wait_all_tasks_blocked

from kproxy.state.kept import Kept
from kproxy.state.store import MemoryStore, StateError


class Disk(MemoryStore):
    """Takes nothing while it is `full`, and does not answer while it `hangs`."""

    def __init__(self) -> None:
        super().__init__()
        self.full: set[str] = set()
        """The tables that have no room."""
        self.hangs = False
        self.written: list[tuple[str, bytes]] = []

    async def put(self, table: str, key: str, value: bytes) -> None:
        if self.hangs:
            await trio.sleep(60)
        if table in self.full:
            raise StateError("state.db: the disk is full")
        self.written.append((table, value))
        await super().put(table, key, value)


@asynccontextmanager
async def running() -> AsyncIterator[tuple[Disk, Kept]]:
    """A disk, and who writes to it."""
    disk = Disk()
    kept = Kept(disk)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(kept.run)
        yield disk, kept
        nursery.cancel_scope.cancel()


async def test_values_are_written(autojump_clock: MockClock) -> None:
    """Of several for one key that wait the newest alone."""
    async with running() as (disk, kept):
        for table, value in (("a", b"1"), ("b", b"2"), ("a", b"3")):
            tried = kept.put(table, "k", value)
        await tried.wait()
        await wait_all_tasks_blocked()
        assert sorted(disk.written) == [("a", b"3"), ("b", b"2")]
        assert kept.problem() is None


async def test_a_full_disk(autojump_clock: MockClock) -> None:
    """It is told once, tried again every few seconds, and other tables are written meanwhile."""
    async with running() as (disk, kept):
        disk.full = {"a"}
        with capture_logs() as lines:
            tried = [kept.put("a", "k", b"1"), kept.put("b", "k", b"2")]
            for each in tried:
                await each.wait()
            await trio.sleep(60)
            assert disk.written == [("b", b"2")]
            assert kept.problem() == "state.db: the disk is full"
            disk.full = set()
            await trio.sleep(6)
        assert [(line["log_level"], line["event"]) for line in lines] == [
            ("error", "not kept: a restart would not know of it"),
            ("info", "kept after all"),
        ]
        assert lines[0]["tables"] == "a"
        assert (disk.written[1:], kept.problem()) == ([("a", b"1")], None)


async def test_a_later_value_is_tried_at_once(autojump_clock: MockClock) -> None:
    """It takes the place of the one that was not written, for which nobody waits any more."""
    async with running() as (disk, kept):
        disk.full = {"a"}
        await kept.put("a", "k", b"1").wait()
        disk.full = set()
        before = trio.current_time()
        await kept.put("a", "k", b"2").wait()
        assert trio.current_time() == before
        await trio.sleep(60)
        assert disk.written == [("a", b"2")]


async def test_a_disk_that_hangs(autojump_clock: MockClock) -> None:
    """It is a problem after ten seconds; a value that comes meanwhile is written when it answers."""
    async with running() as (disk, kept):
        disk.hangs = True
        first = kept.put("a", "k", b"1")
        await trio.sleep(5)
        second = kept.put("a", "k", b"2")
        assert first.is_set(), "it is of no use any more"
        assert kept.problem() is None
        await trio.sleep(11)
        assert kept.problem() == "the disk does not answer"
        disk.hangs = False
        await second.wait()
        await wait_all_tasks_blocked()
        assert disk.written == [("a", b"1"), ("a", b"2")]
        assert kept.problem() is None


async def test_an_end_that_waits(autojump_clock: MockClock) -> None:
    """Until all is written, or has failed to be; a disk that hangs holds nobody up for long."""
    async with running() as (disk, kept):
        disk.full = {"a"}
        kept.put("a", "k", b"1")
        kept.put("b", "k", b"2")
        before = trio.current_time()
        assert await kept.settle(5) == "state.db: the disk is full"
        assert (disk.written, trio.current_time()) == ([("b", b"2")], before)
        disk.hangs = True
        kept.put("c", "k", b"3")
        assert await kept.settle(5) == "the disk does not answer"
        assert trio.current_time() == before + 5
        disk.hangs, disk.full = False, set()
        await trio.sleep(120)
        assert await kept.settle(5) is None
