"""What every store does: the same tests for each."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
import trio.testing

from kproxy.state.memory import MemoryStore
from kproxy.state.sqlite import SqliteStore
from kproxy.state.store import Store


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, nursery: trio.Nursery, tmp_path: Path) -> Store:
    """One of each kind, empty."""
    if request.param == "memory":
        return MemoryStore()
    store = SqliteStore(tmp_path / "state.db")
    await nursery.start(store.run)
    return store


async def test_kept_replaced_and_forgotten(store: Store) -> None:
    """A value is what was put last; what was deleted, or never put, is None."""
    assert await store.get("t", "k") is None
    await store.put("t", "k", b"\x00one")
    await store.put("t", "k", b"")
    assert await store.get("t", "k") == b""
    await store.delete("t", "k")
    await store.delete("t", "k")
    assert await store.get("t", "k") is None
    assert await store.items("t") == []


async def test_tables_are_apart(store: Store) -> None:
    """The same key in two of them; keys of any text, in their order."""
    for key in ("b", "", "a", "é", "'; DROP TABLE entries; --", "😀", "\ue000"):
        await store.put("t", key, key.encode())
    await store.put("u", "a", b"other")
    found = await store.items("t")
    assert found == sorted((key, key.encode()) for key, _ in found)
    assert len(found) == 7
    assert await store.items("u") == [("a", b"other")]


async def test_nobody_s_buffer_is_kept(store: Store) -> None:
    """Who puts a bytearray may change it afterwards."""
    buffer = bytearray(b"one")
    await store.put("t", "k", buffer)
    buffer[:] = b"two"
    assert await store.get("t", "k") == b"one"


async def test_calls_at_the_same_time(store: Store) -> None:
    """A thousand writers, and nothing is lost."""
    async with trio.open_nursery() as nursery:
        for number in range(1000):
            nursery.start_soon(store.put, "t", f"{number:04}", b"%d" % number)
    assert await store.items("t") == [(f"{number:04}", b"%d" % number) for number in range(1000)]


async def test_order_of_calls(store: Store) -> None:
    """Of calls that are made one after the other without waiting, the last one counts."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(store.put, "t", "k", b"1")
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(store.put, "t", "k", b"2")
    assert await store.get("t", "k") == b"2"
