"""The boundaries that a fault in kproxy does not cross: `boundary` for a block, `guarded` and `supervised` for a task.

Each is noted once: counted by its place, logged with its traceback (not again and again), shown by /readyz. Rooms put a
boundary around whatever concerns more than one connection.
"""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final, ParamSpec

import structlog
import trio

from kproxy.observe.troubles import SHORTAGES, Troubles, Where, restart_delay

P = ParamSpec("P")

_WELL_SECONDS: Final = 60.0
"""Seconds of work after which a failure counts as the first one again."""

log = structlog.get_logger("kproxy.faults")


def note(troubles: Troubles, where: Where, error: BaseException, **about: object) -> None:
    """Count and log a fault in kproxy; `about` are fields of the log line. Never raises."""
    left_out = troubles.fault(where, time.monotonic())
    if left_out is not None:
        _log("a fault in kproxy: please report it", where=where.value, left_out=left_out, **about, exc_info=error)


def _log(line: str, **fields: object) -> None:
    try:
        log.error(line, **fields)
    except Exception:  # what cannot be logged is counted
        pass


def shortage_in(error: BaseException | None) -> int | None:
    """Return the errno by which the system refused kproxy itself a resource, if it did; also in a race of addresses."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for each in error.exceptions if (found := shortage_in(each))), None)
    if not isinstance(error, OSError):
        return None
    return error.errno if error.errno in SHORTAGES else shortage_in(error.__cause__)


def note_shortage(troubles: Troubles, number: int, what: str) -> None:
    """Count and log that the system refused kproxy something, by its errno; `what` then could not be done."""
    left_out = troubles.short(number, time.monotonic())
    if left_out is not None:
        name, hint = SHORTAGES[number]
        _log("the system refuses kproxy a resource", error=name, what=what, hint=hint, left_out=left_out)


class boundary:
    """A block whose faults end with it. Cancellation passes, also when it comes in a group together with a fault."""

    __slots__ = ("_troubles", "_where")

    def __init__(self, troubles: Troubles, where: Where) -> None:
        self._troubles = troubles
        self._where = where

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """Note what the block raised."""
        if isinstance(error, Exception):
            note(self._troubles, self._where, error)
            return True
        if isinstance(error, BaseExceptionGroup):
            faults, others = error.split(Exception)
            if faults is not None and others is not None:
                note(self._troubles, self._where, faults)
                raise others
        return False


async def guarded(
    troubles: Troubles, where: Where, work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs
) -> None:
    """Run `work` once, as a task: a fault ends it only."""
    with boundary(troubles, where):
        await work(*args, **kwargs)


async def supervised(
    troubles: Troubles, where: Where, work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs
) -> None:
    """Run `work` until it returns or is cancelled: after a fault it is started again, later each time."""
    failures = 0
    while True:
        began = trio.current_time()
        with boundary(troubles, where):
            await work(*args, **kwargs)
            return
        failures = 1 if trio.current_time() - began > _WELL_SECONDS else failures + 1
        await trio.sleep(restart_delay(failures, random.random()))
