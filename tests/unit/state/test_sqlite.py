"""kproxy.state.sqlite: a real file, one writer, shared commits, cancellation, closing."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from kproxy.state.sqlite import SqliteStore
from kproxy.state.store import StateError
from tests.support.wait import until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a file that does not exist yet."""
    return tmp_path / "state.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    """Yield a store with room for four calls."""
    store = await SqliteStore.open(path, max_calls=4)
    yield store
    await store.close()


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Yield an event that holds up the writer until it is set; the end of the test sets it."""
    gate = threading.Event()
    yield gate
    gate.set()


async def hold_up(store: SqliteStore, gate: threading.Event, nursery: trio.Nursery) -> None:
    """Keep the writer busy, in its own thread, until the gate is open."""
    reached = threading.Event()

    def wait(_: sqlite3.Connection) -> None:
        reached.set()
        gate.wait()

    nursery.start_soon(store._done, wait)
    with trio.fail_after(40):
        await trio.to_thread.run_sync(reached.wait, 10)


async def put_all(store: SqliteStore, keys: range) -> None:
    """Put each key in a task of its own."""
    async with trio.open_nursery() as nursery:
        for key in keys:
            nursery.start_soon(store.put, "table", f"{key:04}", str(key).encode())


def commits_on_disk(path: Path) -> int:
    """Count the commits in the WAL: frames with the size of the database after them."""
    wal = path.with_name(f"{path.name}-wal").read_bytes()
    page = int.from_bytes(wal[8:12])
    return sum(wal[frame + 4 : frame + 8] != bytes(4) for frame in range(32, len(wal), 24 + page))


async def test_what_was_put_is_there_after_reopening(path: Path) -> None:
    """Values, deletions and replacements survive closing and opening."""
    store = await SqliteStore.open(path)
    await put_all(store, range(20))
    await store.delete("table", "0003")
    await store.put("table", "0004", b"new")
    before = await store.items("table")
    await store.close()
    store = await SqliteStore.open(str(path))
    assert await store.items("table") == before
    assert len(before) == 19
    assert dict(before)["0004"] == b"new"
    await store.close()


async def test_a_commit_is_synced_to_a_wal(store: SqliteStore) -> None:
    """synchronous is FULL (2) and the journal a WAL: a put that returned survives a power failure."""
    pragmas = ("synchronous", "journal_mode", "locking_mode")

    def read(connection: sqlite3.Connection) -> list[object]:
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas]

    assert await store._done(read) == [2, "wal", "exclusive"]


async def test_what_waits_shares_one_commit(path: Path, gate: threading.Event, nursery: trio.Nursery) -> None:
    """A hundred puts that wait behind a busy writer are one transaction, in the counters and on the disk."""
    store = await SqliteStore.open(path)
    before = commits_on_disk(path)
    await hold_up(store, gate, nursery)
    nursery.start_soon(put_all, store, range(100))
    await trio.testing.wait_all_tasks_blocked()
    assert store.waiting == 101
    gate.set()
    with trio.fail_after(40):
        assert len(await store.items("table")) == 100
    assert (store.counters.commits, store.counters.changes) == (1, 100)
    assert commits_on_disk(path) == before + 1
    await store.put("table", "key", b"")
    assert commits_on_disk(path) == before + 2
    await store.close()


async def test_many_concurrent_puts_need_few_commits(store: SqliteStore) -> None:
    """500 tasks with room for four at a time: all are kept, in fewer commits than puts."""
    with trio.fail_after(30):
        await put_all(store, range(500))
    assert [key for key, _ in await store.items("table")] == [f"{key:04}" for key in range(500)]
    assert store.counters.changes == 500
    assert store.counters.commits < 500


async def test_reading_needs_no_commit(store: SqliteStore) -> None:
    """Reads, and deletions of what is not there, change nothing: no sync of the disk."""
    await store.get("table", "key")
    await store.items("table")
    await store.delete("table", "key")
    assert store.counters.commits == 0


async def test_calls_are_done_in_their_order(store: SqliteStore, gate: threading.Event, nursery: trio.Nursery) -> None:
    """A read that waits beside the put before it sees that put."""
    await hold_up(store, gate, nursery)
    nursery.start_soon(store.put, "table", "key", b"first")
    await trio.testing.wait_all_tasks_blocked()
    gate.set()
    assert await store.get("table", "key") == b"first"


async def test_trio_goes_on_while_the_disk_is_busy(
    store: SqliteStore, gate: threading.Event, nursery: trio.Nursery
) -> None:
    """A waiting put can be cancelled at any time, and still takes effect."""
    await hold_up(store, gate, nursery)
    with trio.fail_after(40), trio.move_on_after(0.01) as given_up:
        await store.put("table", "key", b"value")
    assert given_up.cancelled_caught
    gate.set()
    assert await store.get("table", "key") == b"value"
    assert store.waiting == 0


async def test_only_so_many_calls_wait_for_the_disk(
    store: SqliteStore, gate: threading.Event, nursery: trio.Nursery
) -> None:
    """Further puts wait for room; a put that is cancelled there has no effect."""
    await hold_up(store, gate, nursery)
    nursery.start_soon(put_all, store, range(10))
    await trio.testing.wait_all_tasks_blocked()
    assert store.waiting == 4
    with trio.move_on_after(0.01) as given_up:
        await store.put("table", "late", b"")
    assert given_up.cancelled_caught
    gate.set()
    with trio.fail_after(40):
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert await store.get("table", "late") is None
        assert len(await store.items("table")) == 10


async def test_what_was_accepted_is_kept_when_closing(
    path: Path, store: SqliteStore, gate: threading.Event, nursery: trio.Nursery
) -> None:
    """A cancelled close flushes accepted puts; a put that waited for room gets the error that the store is closed."""
    await hold_up(store, gate, nursery)
    for number in range(3):
        nursery.start_soon(store.put, "table", str(number), b"")
    await trio.testing.wait_all_tasks_blocked()
    refused = []

    async def late() -> None:
        with pytest.raises(StateError, match="is closed") as caught:
            await store.put("table", "late", b"")
        refused.append(caught.value)

    nursery.start_soon(late)
    await trio.testing.wait_all_tasks_blocked()
    threading.Timer(0.1, gate.set).start()
    with trio.CancelScope() as scope:
        scope.cancel()
        await store.close()
    with trio.fail_after(40):
        await trio.testing.wait_all_tasks_blocked()
    assert len(refused) == 1
    again = await SqliteStore.open(path, lock_seconds=0)
    assert [key for key, _ in await again.items("table")] == ["0", "1", "2"]
    await again.close()


async def test_closing_leaves_one_file(path: Path) -> None:
    """Closing merges the WAL into the file: the file alone can be copied."""
    store = await SqliteStore.open(path)
    await store.put("table", "key", b"value")
    await store.close()
    assert [entry.name for entry in path.parent.iterdir()] == ["state.db"]


async def test_a_disk_that_hangs_does_not_hold_up_the_end(
    path: Path, gate: threading.Event, nursery: trio.Nursery
) -> None:
    """Closing gives up after a time and says so; the file is closed when the disk comes back."""
    store = await SqliteStore.open(path, close_seconds=0.05)
    await hold_up(store, gate, nursery)
    with trio.fail_after(40), pytest.raises(StateError, match=r"state\.db was not closed within 0\.05 s"):
        await store.close()
    gate.set()
    with trio.fail_after(40):
        await store._closed.wait()


async def test_one_bad_value_fails_alone(store: SqliteStore, gate: threading.Event, nursery: trio.Nursery) -> None:
    """In a shared transaction the others are kept, and the bad one gets the reason."""
    await store._done(lambda connection: connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 10_000))
    await hold_up(store, gate, nursery)
    nursery.start_soon(store.put, "table", "before", b"")

    async def bad() -> None:
        with pytest.raises(StateError, match=r"state\.db cannot take this: .*too big"):
            await store.put("table", "bad", bytes(10_001))

    nursery.start_soon(bad)
    nursery.start_soon(store.put, "table", "behind", b"")
    await trio.testing.wait_all_tasks_blocked()
    gate.set()
    assert [key for key, _ in await store.items("table")] == ["before", "behind"]
    assert store.counters.failures == 1


async def test_a_call_that_breaks_does_not_end_the_writer(store: SqliteStore) -> None:
    """An exception of any kind is that call's StateError; the next call is done."""

    def broken(_: sqlite3.Connection) -> None:
        raise OverflowError("too large")

    with pytest.raises(StateError, match="cannot take this: too large"):
        await store._done(broken)
    await store.put("table", "key", b"value")
    assert await store.get("table", "key") == b"value"


def test_a_run_that_ends_without_closing_breaks_nothing(path: Path, gate: threading.Event) -> None:
    """Accepted calls are done although no task waits; the thread raises nothing and does not delay the exit."""

    async def main() -> SqliteStore:
        store = await SqliteStore.open(path)
        async with trio.open_nursery() as nursery:
            await hold_up(store, gate, nursery)
            nursery.start_soon(store.put, "table", "key", b"value")
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        return store

    store = trio.run(main)
    thread = store._writer._thread
    assert thread.daemon
    gate.set()
    store._writer.stop()
    until(lambda: not thread.is_alive(), "the writer has ended")
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT collection, key, value FROM entries").fetchall()
    connection.close()
    assert found == [("table", "key", b"value")]


async def test_concurrent_opens_take_turns(path: Path) -> None:
    """Eight tasks open a new file together: each gets it, one after the other."""
    had = []

    async def turn(number: int) -> None:
        store = await SqliteStore.open(path, lock_seconds=20)
        await store.put("table", str(number), b"")
        had.append(len(await store.items("table")))
        await store.close()

    with trio.fail_after(80):
        async with trio.open_nursery() as nursery:
            for number in range(8):
                nursery.start_soon(turn, number)
    assert had == list(range(1, 9))
