"""The one thread that uses the connection: it does what waits in one transaction, and reports that to Trio's thread."""

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
    """Written by the writer's thread; read at a scrape."""

    commits: int = 0
    """Transactions that changed something: each is a sync of the disk."""
    changes: int = 0
    """Rows that were written or deleted."""
    failures: int = 0
    """Calls that raised."""


class Call:
    """Work for the connection, then what came of it: `result`, or `error`."""

    __slots__ = ("error", "result", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: StateError | None = None


class Writer:
    """Takes calls from any thread, without blocking it, and does them in their order."""

    def __init__(self, connection: sqlite3.Connection, path: str, report: Callable[[Sequence[Call]], None]) -> None:
        """`report` is called in the writer's thread with what is done, and at last with nothing: the file is closed."""
        self.counters = WriterCounters()
        self._connection = connection
        self._path = path
        self._report = report
        self._queue: SimpleQueue[Call | None] = SimpleQueue()
        self._stopped = False
        # A daemon: a process that ends without closing must not wait for calls that never come.
        self._thread = threading.Thread(target=self._run, name="state writer", daemon=True)

    def start(self) -> None:
        """Once."""
        self._thread.start()

    def submit(self, call: Call) -> None:
        """Its turn comes; the caller bounds how many wait."""
        self._queue.put(call)

    def stop(self) -> None:
        """No call is submitted after this one; those before it are done, then the file is closed."""
        self._queue.put(None)

    def _run(self) -> None:
        while not self._stopped:
            if batch := self._take():
                self._settle(batch)
                self._report(batch)
        self._connection.close()
        self._report(())

    def _take(self) -> list[Call]:
        """All that waits: the longer a sync takes, the more calls share the next one."""
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
        except Exception as error:  # the thread goes on whatever a call does: others wait for it
            if len(batch) == 1:
                batch[0].error = fault(self._path, error)
                self.counters.failures += 1
                return
            # A value that does not fit must not take the others with it: each on its own.
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
