"""kproxy.state.restore, with real files: what cannot be read is told, kept and skipped."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from kproxy.cluster.failover_history import STAYS, FailoverHistory
from kproxy.state.restore import ASIDE, restored
from kproxy.state.sqlite import SqliteStore
from kproxy.state.store import MemoryStore, StateError, Store
from tests.unit.state.keeping import keep


def number(_key: str, value: bytes) -> int:
    return int(value)


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """Yield an empty store of each kind."""
    store: Store = MemoryStore() if request.param == "memory" else await SqliteStore.open(tmp_path / "state.db")
    yield store
    await store.close()


async def test_a_value_that_cannot_be_read_is_moved_aside(store: Store) -> None:
    """The others are there, the log names the key and the reason once, and nothing is lost."""
    for key, value in (("a", b"1"), ("b", b"{not a number"), ("c", b"3")):
        await store.put("table", key, value)
    with capture_logs() as lines:
        assert await restored(store, "table", number) == {"a": 1, "c": 3}
    (line,) = lines
    assert (line["log_level"], line["table"], line["key"], line["to"]) == ("error", "table", "b", "unreadable/table")
    assert line["error"].startswith("ValueError: invalid literal")
    assert list(await store.items(ASIDE + "table")) == [("b", b"{not a number")]
    with capture_logs() as lines:
        assert await restored(store, "table", number) == {"a": 1, "c": 3}
    assert lines == []


async def test_what_was_moved_aside_before_is_not_overwritten(store: Store) -> None:
    """A second value of the same key gets a key of its own; the same value is not kept twice."""
    for value in (b"one", b"two", b"three", b"two"):
        await store.put("table", "k", value)
        assert await restored(store, "table", number) == {}
    assert list(await store.items(ASIDE + "table")) == [("k", b"one"), ("k (2)", b"two"), ("k (3)", b"three")]


async def test_any_exception_of_a_reader_is_one_of_the_value(store: Store) -> None:
    """Nesting that exhausts the stack, and a type that a reader did not expect."""
    await store.put("table", "deep", b"[" * 100_000)
    await store.put("table", "list", b"[1]")
    assert await restored(store, "table", lambda _, value: json.loads(value).keys()) == {}
    assert [key for key, _ in await store.items(ASIDE + "table")] == ["deep", "list"]


class _Full(MemoryStore):
    """A store that takes nothing more, as on a full disk."""

    async def put(self, table: str, key: str, value: bytes) -> None:
        raise StateError("the disk is full")


async def test_a_store_that_cannot_be_written() -> None:
    """The value stays where it is; it is skipped all the same."""
    store = _Full()
    store._tables["table"]["k"] = b"bad"
    with capture_logs() as lines:
        assert await restored(store, "table", number) == {}
    assert lines[-1]["event"] == "state was not moved aside"
    assert await store.get("table", "k") == b"bad"


@pytest.mark.parametrize(
    ("row", "key"),
    [
        (("t", "k", "a text"), "k"),
        (("t", "k", 12.5), "k"),
        (("t", b"k", b"bad"), "k"),
        (("t", 7, b"bad"), "7"),
    ],
)
async def test_rows_that_kproxy_did_not_write(tmp_path: Path, row: tuple[Any, ...], key: str) -> None:
    """A value or a key of another SQLite type is read as bytes and as text."""
    path = tmp_path / "state.db"
    await (await SqliteStore.open(path)).close()
    _insert(path, row)
    store = await SqliteStore.open(path)
    ((found, value),) = await store.items("t")
    assert (found, type(value)) == (key, bytes)
    assert await restored(store, "t", number) == {}
    await store.close()


async def test_a_key_that_is_no_utf_8(tmp_path: Path) -> None:
    """It is told and skipped, and the other rows are there."""
    path = tmp_path / "state.db"
    await (await SqliteStore.open(path)).close()
    _insert(path, ("t", "a", b"1"), ("t", b"\xff\xfe", b"2"))
    store = await SqliteStore.open(path)
    with capture_logs() as lines:
        assert await restored(store, "t", number) == {"a": 1}
    assert lines[0]["event"] == "state cannot be read; it is moved aside and skipped"
    assert len(await store.items("t")) == 2
    await store.close()


def _insert(path: Path, *rows: tuple[Any, ...]) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
    connection.close()


@pytest.mark.parametrize("kept", [b"", b"\xff", b"null", b"[]", b'{"failovers": "many"}', b'{"visited": 3}', b"{}}"])
async def test_a_failover_history_that_cannot_be_read(store: Store, kept: bytes) -> None:
    """It begins anew, and what was kept is not overwritten."""
    await store.put(STAYS, "orders", kept)
    history = FailoverHistory("orders")
    with capture_logs() as lines:
        await history.remember(store)
    assert history.record.failovers == 0
    assert [line["event"] for line in lines][-1] == "failovers are counted anew"
    assert list(await store.items(ASIDE + STAYS)) == [("orders", kept)]
    with trio.fail_after(40):
        await keep(store, history.keep)
        await history.remember(store)
