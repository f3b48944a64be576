"""A processor for the relay alone, as on a machine of its own: nobody is in its way, and it is in nobody's."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from tests.support.proc import family, threads


@contextmanager
def apart(relay: int, spare: Collection[int] = ()) -> Iterator[bool]:
    """Keep a process, by its id, on the first processor, and this one and its other descendants off it; free after.

    The `spare` ones have the relay's processor as long as it does not want it, and stay in the scheduler's idle class,
    which not everybody may leave. Yields whether it could: one processor is not divided.
    """
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < 2:
        yield False
        return
    others = family(os.getpid()) - {relay, *spare}
    try:
        _each([relay, *spare], partial(_confine, processors[:1]))
        _each(spare, _idle)
        _each(others, partial(_confine, processors[1:]))
        yield True
    finally:
        _each({relay, *spare, *others}, partial(_confine, processors))


def _each(pids: Collection[int], do: Callable[[int], None]) -> None:
    """To every thread."""
    for pid in pids:
        for thread in threads(pid):
            with suppress(ProcessLookupError):  # it ended meanwhile
                do(thread)


def _confine(processors: Collection[int], thread: int) -> None:
    os.sched_setaffinity(thread, processors)


def _idle(thread: int) -> None:
    os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
