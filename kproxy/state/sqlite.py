"""The persistent store: an SQLite file with one writer thread; calls that wait at the same time share a commit.

`Process` opens one when kproxy starts with `state.path` set, and closes it when kproxy ends.
"""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Self, TypeVar

import trio

from kproxy.state.database import connect
from kproxy.state.store import StateError, StateLockedError, check_text
from kproxy.state.writer import Call, Writer, WriterCounters

T = TypeVar("T")

MAX_CALLS: Final = 1024
LOCK_SECONDS: Final = 5.0
CLOSE_SECONDS: Final = 10.0


class SqliteStore:
    """A `Store` in a file that belongs to this process until `close`. Use it from the Trio thread that opened it.

    At most `max_calls` calls wait for the disk. Further calls wait for room; cancelled there, they have no effect.
    No call has a deadline of its own: the caller must set one against a disk that hangs.
    """

    def __init__(self, connection: sqlite3.Connection, path: str, *, max_calls: int, close_seconds: float) -> None:
        """Use `open`."""
        self._path = path
        self._close_seconds = close_seconds
        self._room = trio.Semaphore(max_calls)
        self._waiting: dict[Call, trio.Event] = {}
        self._closing = False
        self._closed = trio.Event()
        self._trio = trio.lowlevel.current_trio_token()
        self._writer = Writer(connection, path, self._report)
        self._writer.start()

    @classmethod
    async def open(
        cls,
        path: str | os.PathLike[str],
        *,
        max_calls: int = MAX_CALLS,
        lock_seconds: float = LOCK_SECONDS,
        close_seconds: float = CLOSE_SECONDS,
    ) -> Self:
        """Open or create the file in an existing directory; wait up to `lock_seconds` for another process's lock.

        Raises StateError when the file is locked, damaged, another program's, a newer kproxy's, or cannot be written.
        """
        path = os.fspath(path)
        deadline = trio.current_time() + lock_seconds
        while True:
            try:
                connection = await trio.to_thread.run_sync(connect, path)
            except StateLockedError:
                if trio.current_time() >= deadline:
                    raise
                # A random delay: two processes that start together lock each other out until one of them lets go.
                await trio.sleep(random.uniform(0.02, 0.1))
            else:
                return cls(connection, path, max_calls=max_calls, close_seconds=close_seconds)

    @property
    def counters(self) -> WriterCounters:
        """The writer's counters."""
        return self._writer.counters

    @property
    def waiting(self) -> int:
        """The number of calls that were accepted and are not done yet."""
        return len(self._waiting)

    async def get(self, table: str, key: str) -> bytes | None:
        """Return the value, or None."""
        check_text(table, key)
        return await self._done(partial(_get, table, key))

    async def put(self, table: str, key: str, value: bytes) -> None:
        """Add or replace a value; it is on the disk on return."""
        check_text(table, key)
        await self._done(partial(_put, table, key, bytes(value)))

    async def delete(self, table: str, key: str) -> None:
        """Remove the key if it exists; the removal is on the disk on return."""
        check_text(table, key)
        await self._done(partial(_delete, table, key))

    async def items(self, table: str) -> Sequence[tuple[str, bytes]]:
        """Return all keys and values of a table, in the order of the keys."""
        check_text(table)
        return await self._done(partial(_items, table))

    async def close(self) -> None:
        """Finish the accepted calls and close the file, even when cancelled; StateError when that takes too long."""
        if not self._closing:
            self._closing = True
            self._writer.stop()
        # Shielded, because callers close in the `finally` of a cancelled scope; the timeout bounds the wait.
        with trio.move_on_after(self._close_seconds, shield=True):
            await self._closed.wait()
        if not self._closed.is_set():
            raise StateError(
                f"{self._path} was not closed within {self._close_seconds:g} s; check the disk: it may hang"
            )

    async def _done(self, work: Callable[[sqlite3.Connection], T]) -> T:
        await self._room.acquire()
        if self._closing:
            self._room.release()
            raise StateError(f"{self._path} is closed")
        call = Call(work)
        self._waiting[call] = done = trio.Event()
        self._writer.submit(call)
        await done.wait()
        if call.error is not None:
            raise call.error
        result: T = call.result
        return result

    def _report(self, batch: Sequence[Call]) -> None:
        try:
            self._trio.run_sync_soon(self._settled, batch)
        except trio.RunFinishedError:
            pass  # no caller waits any more

    def _settled(self, batch: Sequence[Call]) -> None:
        for call in batch:
            self._waiting.pop(call).set()
            self._room.release()
        if not batch:
            self._closed.set()


# A value or a key that kproxy did not write may have any of SQLite's types.


def _get(table: str, key: str, connection: sqlite3.Connection) -> bytes | None:
    query = "SELECT CAST(value AS BLOB) FROM entries WHERE collection = ? AND key = ?"
    found = connection.execute(query, (table, key)).fetchone()
    return None if found is None else found[0]


def _put(table: str, key: str, value: bytes, connection: sqlite3.Connection) -> None:
    connection.execute(
        "INSERT INTO entries (collection, key, value) VALUES (?, ?, ?)"
        " ON CONFLICT (collection, key) DO UPDATE SET value = excluded.value",
        (table, key, value),
    )


def _delete(table: str, key: str, connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM entries WHERE collection = ? AND key = ?", (table, key))


def _items(table: str, connection: sqlite3.Connection) -> Sequence[tuple[str, bytes]]:
    query = "SELECT CAST(key AS TEXT), CAST(value AS BLOB) FROM entries WHERE collection = ? ORDER BY key"
    return connection.execute(query, (table,)).fetchall()
