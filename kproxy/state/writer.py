"""The only thread that uses the connection. It runs all waiting calls in one transaction and reports them to Trio.

`SqliteStore` starts it when the SQLite file is open, and submits each call to it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from kproxy.state.database import fault
from kproxy.state.store import StateError


@dataclass(slots=True)
class WriterCounters:
    """The writer's counters: its thread writes them, a scrape reads them."""

    commits: int = 0
    """Transactions that changed something; each syncs the disk once."""
    changes: int = 0
    """Rows written or deleted."""
    failures: int = 0
    """Calls that raised."""


class Call:
    """Work for the connection; once it is done, `result` or `error` is set."""

    __slots__ = ("error", "result", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: StateError | None = None


class Writer:
    """Takes calls from any thread without blocking it, and runs them in their order."""

    def __init__(self, connection: sqlite3.Connection, path: str, report: Callable[[Sequence[Call]], None]) -> None:
        """`report` is called in the writer's thread with each batch that is done; after the close with an empty one."""
        self.counters = WriterCounters()
        self._connection = connection
        self._path = path
        self._report = report
        self._queue: SimpleQueue[Call | None] = SimpleQueue()
        self._stopped = False
        # A daemon thread: a process that ends without closing must not wait for calls that never come.
        self._thread = threading.Thread(target=self._run, name="state writer", daemon=True)

    def start(self) -> None:
        """Start the thread; call it once."""
        self._thread.start()

    def submit(self, call: Call) -> None:
        """Queue a call; the caller bounds how many wait."""
        self._queue.put(call)

    def stop(self) -> None:
        """Finish the calls that were submitted, then close the file. No call may be submitted after this."""
        self._queue.put(None)

    def _run(self) -> None:
        while not self._stopped:
            if batch := self._take():
                self._settle(batch)
                self._report(batch)
        self._connection.close()
        self._report(())

    def _take(self) -> list[Call]:
        """Return all waiting calls: the longer a sync takes, the more calls share the next one."""
        batch: list[Call] = []
        while (call := self._queue.get()) is not None:
            batch.append(call)
            if self._queue.empty():
                return batch
        self._stopped = True
        return batch

    def _settle(self, batch: Sequence[Call]) -> None:
        try:
            self._commit(batch)
        except Exception as error:  # no call may end the thread: others wait for it
            if len(batch) == 1:
                batch[0].error = fault(self._path, error)
                self.counters.failures += 1
                return
            # A value that does not fit must not fail the others: run each call on its own.
            for call in batch:
                self._settle([call])

    def _commit(self, batch: Sequence[Call]) -> None:
        before = self._connection.total_changes
        with self._connection:
            self._connection.execute("BEGIN")
            results = [call.work(self._connection) for call in batch]
        for call, result in zip(batch, results, strict=True):
            call.result = result
        if changes := self._connection.total_changes - before:
            self.counters.commits += 1
            self.counters.changes += changes
