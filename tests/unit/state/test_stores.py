"""kproxy.state: the common behaviour of all stores, tested with each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kproxy.state.sqlite import SqliteStore
from kproxy.state.store import MemoryStore, StateError, Store


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """Yield an empty store of each kind."""
    store: Store = MemoryStore() if request.param == "memory" else await SqliteStore.open(tmp_path / "state.db")
    yield store
    await store.close()


async def test_a_value_is_there_until_it_is_deleted(store: Store) -> None:
    """Put adds and replaces, get reads it back, delete removes it."""
    await store.put("table", "key", b"one")
    await store.put("table", "key", b"two")
    assert await store.get("table", "key") == b"two"
    await store.delete("table", "key")
    assert await store.get("table", "key") is None


async def test_what_is_not_there_is_none_and_may_be_deleted(store: Store) -> None:
    """An unknown table is empty; an unknown key is None; deleting either is no error."""
    await store.delete("table", "key")
    assert await store.get("table", "key") is None
    assert list(await store.items("table")) == []


async def test_tables_are_apart(store: Store) -> None:
    """The same key in two tables is two values."""
    await store.put("a", "key", b"of a")
    await store.put("b", "key", b"of b")
    await store.delete("a", "key")
    assert list(await store.items("a")) == []
    assert list(await store.items("b")) == [("key", b"of b")]


async def test_items_come_in_the_order_of_their_keys(store: Store) -> None:
    """Items are ordered by code point, whatever the order of writing: beyond the BMP, with NUL, with an empty key."""
    keys = ["", "\0", "'; DROP TABLE entries; --", "A", "a", "a\0b", "ab", "é", "\ufffd", "\U0001f600"]
    for key in reversed(keys):
        await store.put("table", key, key.encode())
    assert list(await store.items("table")) == [(key, key.encode()) for key in keys]


@pytest.mark.parametrize("value", [b"", b"\0", bytes(range(256)), bytes(3 * 2**20)])
async def test_any_bytes_are_a_value(store: Store, value: bytes) -> None:
    """Values are returned unchanged: empty, binary, megabytes."""
    await store.put("table", "key", value)
    assert await store.get("table", "key") == value


async def test_a_put_copies_the_buffer(store: Store) -> None:
    """A caller may change a bytearray after the put."""
    buffer = bytearray(b"one")
    await store.put("table", "key", buffer)  # type: ignore[arg-type]  # what the type forbids is safe all the same
    buffer[:] = b"two"
    assert await store.get("table", "key") == b"one"


@pytest.mark.parametrize(("table", "key"), [("table", "\ud800"), ("\ud800", "key")])
async def test_text_without_utf_8_is_refused_at_once(store: Store, table: str, key: str) -> None:
    """A lone surrogate raises an error that shows it, and the store goes on."""
    with pytest.raises(StateError, match="no UTF-8 form"):
        await store.put(table, key, b"")
    with pytest.raises(StateError, match="no UTF-8 form"):
        await store.get(table, key)
    assert await store.get("table", "key") is None


async def test_a_closed_store_says_so(store: Store) -> None:
    """Every call after closing raises an error; closing again does not."""
    await store.close()
    await store.close()
    with pytest.raises(StateError, match="closed"):
        await store.put("table", "key", b"")
    with pytest.raises(StateError, match="closed"):
        await store.get("table", "key")
    with pytest.raises(StateError, match="closed"):
        await store.delete("table", "key")
    with pytest.raises(StateError, match="closed"):
        await store.items("table")
