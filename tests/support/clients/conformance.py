"""What the drivers of the error conformance table do, the same for all of Python's libraries; Java, Go, JS do it alike.

The command line's JSON: `bootstrap`, `deadline` (seconds for a step), `at_once` (cells), and `cells`, each with `name`
(its client.id), `work`, `topic`, `group`, `transactional_id`, `offsets` (whether a transaction commits some) and
`abortable` (whether an application aborts also where the producer could not be initialized).
One JSON line tells of each cell: `cell` and `steps`. A step has `step`, `ok`, `at` (seconds since the Unix epoch, its
end), `error` (its name) and `says` (what the library calls the error).

`work` is `transaction`: the steps are `init`, `transaction` (of the value "first"), then after an error `abort`,
`again` (a transaction of the same producer) and, if that fails, `anew` (one of a new producer with the same
transactional id). Or `work` is `group`: `read` (a record), `commit`, and after an error `again` (both, tried until the
deadline by the same consumer) and `anew` (by a new one).
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

_writing = threading.Lock()


class Transactions(Protocol):
    """A transactional producer. Each call raises the library's error."""

    def init(self) -> None:
        """Initialize transactions."""

    def transact(self, value: str) -> None:
        """Begin, send one record, commit offsets where the cell wants that, commit."""

    def abort(self) -> None:
        """Abort the transaction."""

    def close(self) -> None:
        """Close it without waiting for long."""


class Member(Protocol):
    """A consumer in a group. Each call raises the library's error."""

    def read(self, seconds: float) -> bool:
        """Return whether a record came in this time."""

    def commit(self) -> None:
        """Commit the offset behind the last record, and wait for the answer."""

    def close(self) -> None:
        """Leave the group."""


@dataclass(frozen=True)
class Cell:
    """One cell's names; `deadline` is in seconds."""

    name: str
    work: str
    topic: str
    group: str
    transactional_id: str
    offsets: bool
    abortable: bool
    bootstrap: str
    deadline: float


@dataclass(frozen=True)
class Library:
    """How a library makes its clients, and what it says of an error: its name, and what it calls it."""

    producer: Callable[[Cell], Transactions]
    consumer: Callable[[Cell], Member]
    described: Callable[[BaseException], tuple[str, str]]


@dataclass
class Steps:
    """The steps of a cell, in their order."""

    library: Library
    deadline: float
    taken: list[dict[str, Any]] = field(default_factory=list)

    def take(self, name: str, work: Callable[[], object]) -> bool:
        """Do a step in a thread of its own, so that it ends at the deadline; return whether it went well."""
        thread = ThreadPoolExecutor(1)
        error, says = "", ""
        try:
            thread.submit(work).result(self.deadline)
        except TimeoutError:
            error = "hangs"
        except BaseException as raised:
            error, says = self.library.described(raised)
        thread.shutdown(wait=False)
        self.taken.append({"step": name, "ok": not error, "at": time.time(), "error": error, "says": says})
        return not error


def transact(library: Library, cell: Cell, steps: Steps) -> None:
    """Do a cell of a producer."""
    producer = library.producer(cell)
    begun = steps.take("init", producer.init)
    if begun and steps.take("transaction", lambda: producer.transact("first")):
        producer.close()
        return
    aborted = (begun or cell.abortable) and steps.take("abort", producer.abort)
    if not steps.take("again", lambda: _transact(producer, "again", ready=begun or aborted)):
        steps.take("close", producer.close)
        another = library.producer(cell)
        steps.take("anew", lambda: _transact(another, "anew", ready=False))


def _transact(producer: Transactions, value: str, *, ready: bool) -> None:
    """Initialize the producer, unless it is ready, as it is after an abort, and transact."""
    if not ready:
        producer.init()
    producer.transact(value)


def join(library: Library, cell: Cell, steps: Steps) -> None:
    """Do a cell of a member of a group."""
    consumer = library.consumer(cell)
    has_read = steps.take("read", lambda: _read(consumer, cell.deadline))
    if has_read and steps.take("commit", consumer.commit):
        consumer.close()
        return
    if not steps.take("again", lambda: _again(consumer, cell.deadline / 2, has_read)):
        steps.take("close", consumer.close)
        another = library.consumer(cell)
        steps.take("anew", lambda: _read_anew(another, cell.deadline))


def _read(consumer: Member, seconds: float) -> None:
    """Read a record, and go on for a moment: a look-up that an error leads to may come behind the next fetch."""
    end = time.monotonic() + seconds
    while not consumer.read(0.2):
        if time.monotonic() > end:
            raise TimeoutError
    for _ in range(5):
        consumer.read(0.1)


def _read_anew(consumer: Member, seconds: float) -> None:
    _read(consumer, seconds)
    consumer.commit()


def _again(consumer: Member, seconds: float, has_read: bool) -> None:
    """Read, unless there is a record already, and commit, whatever fails meanwhile; raise the last error at the end."""
    end = time.monotonic() + seconds
    while True:
        try:
            has_read |= consumer.read(0.2)
            if has_read:
                consumer.commit()
                return
        except Exception:
            if time.monotonic() > end:
                raise
        if time.monotonic() > end:
            raise TimeoutError


def described(error: BaseException) -> tuple[str, str]:
    """Return the class of the error, and what kafka-python and aiokafka call it."""
    kinds = {"retriable": getattr(error, "retriable", False), "refresh": getattr(error, "invalid_metadata", False)}
    cause = error.__cause__ or next((one for one in error.args if isinstance(one, BaseException)), None)
    why = [f"caused by {type(cause).__name__}"] if cause else []
    return type(error).__name__, ", ".join([*(kind for kind, said in kinds.items() if said), *why])


def run(library: Library) -> None:
    """Do all cells of the command line, some at once, and end the process, whatever still hangs in it."""
    order = json.loads(sys.argv[1])
    shared: Mapping[str, Any] = {"bootstrap": order["bootstrap"], "deadline": order["deadline"]}
    with ThreadPoolExecutor(order["at_once"]) as threads:
        list(threads.map(lambda cell: _cell(library, Cell(**cell, **shared)), order["cells"]))
    sys.stdout.flush()
    os._exit(0)


def _cell(library: Library, cell: Cell) -> None:
    steps = Steps(library, cell.deadline)
    try:
        (transact if cell.work == "transaction" else join)(library, cell, steps)
    except Exception as error:  # a client that cannot even be made
        name, says = library.described(error)
        steps.taken.append({"step": "make", "ok": False, "at": time.time(), "error": name, "says": says})
    with _writing:
        sys.stdout.write(f"{json.dumps({'cell': cell.name, 'steps': steps.taken})}\n")
        sys.stdout.flush()
