"""State in an SQLite file: one writer, and whatever is asked while it writes goes into the next transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar, cast

import trio

from kproxy.state.database import Database
from kproxy.state.store import StateError

T = TypeVar("T")


class _Call(Generic[T]):
    """A call under way; `outcome` is set with its result or its error."""

    __slots__ = ("done", "error", "result", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], T]) -> None:
        self.work = work
        self.done = trio.Event()
        self.result: T | None = None
        self.error: str | None = None


class SqliteStore:
    """A `Store` in a file; `run` must be running. A commit costs a sync of the disk, shared by all who wait for it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._calls: list[_Call[object]] = []
        self._called = trio.Event()
        self._running = False

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Opens the file, serves until cancelled, and finishes what was asked by then. Raises StateError."""
        database = await trio.to_thread.run_sync(Database, self.path)
        self._running = True
        try:
            task_status.started()
            while True:
                await self._called.wait()
                await self._serve(database)
        finally:
            self._running = False
            with trio.CancelScope(shield=True):
                await self._serve(database)
                await trio.to_thread.run_sync(database.close)

    async def _serve(self, database: Database) -> None:
        calls, self._calls, self._called = self._calls, [], trio.Event()
        if not calls:
            return
        try:
            results = await trio.to_thread.run_sync(database.transact, [call.work for call in calls])
        except StateError as error:
            for call in calls:
                call.error = str(error)
        else:
            for call, result in zip(calls, results, strict=True):
                call.result = result
        for call in calls:
            call.done.set()

    async def _call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if not self._running:
            raise StateError(f"state file {self.path}: is not open")
        call = _Call(work)
        self._calls.append(cast(_Call[object], call))
        self._called.set()
        await call.done.wait()
        if call.error is not None:
            raise StateError(call.error)  # one object for each caller: they would mix their tracebacks
        return cast(T, call.result)

    async def get(self, table: str, key: str) -> bytes | None:
        return await self._call(partial(_get, _text(table), _text(key)))

    async def put(self, table: str, key: str, value: bytes) -> None:
        await self._call(partial(_put, _text(table), _text(key), bytes(value)))

    async def delete(self, table: str, key: str) -> None:
        await self._call(partial(_delete, _text(table), _text(key)))

    async def items(self, table: str) -> list[tuple[str, bytes]]:
        return await self._call(partial(_items, _text(table)))


def _text(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise StateError(f"{name!r} is no Unicode text, so that nothing can be kept under it") from error
    return name


def _get(table: str, key: str, connection: sqlite3.Connection) -> bytes | None:
    query = "SELECT value FROM entries WHERE table_name = ? AND key = ?"
    row = connection.execute(query, (table, key)).fetchone()
    return None if row is None else row[0]


def _put(table: str, key: str, value: bytes, connection: sqlite3.Connection) -> None:
    connection.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", (table, key, value))


def _delete(table: str, key: str, connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM entries WHERE table_name = ? AND key = ?", (table, key))


def _items(table: str, connection: sqlite3.Connection) -> list[tuple[str, bytes]]:
    return connection.execute("SELECT key, value FROM entries WHERE table_name = ? ORDER BY key", (table,)).fetchall()
