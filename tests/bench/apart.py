"""Reserve a processor for the relay while it is measured, as on a machine of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final

from tests.support.proc import family, thread_name, threads

_BACKGROUND: Final = ("C1 Compiler", "C2 Compiler", "G1 Conc", "G1 Main", "G1 Refine", "G1 Service")
"""How the names of a JVM's compiler threads begin, and those of its collector's threads that do not stop the others."""


@contextmanager
def apart(relay: int, spare: Collection[int] = ()) -> Iterator[bool]:
    """Keep process `relay` on the first processor, and this process and its other descendants off it; free all after.

    The `spare` ones have the relay's processor as long as it does not want it, and JVMs' background threads have the
    other processors in the same way: brokers have processors for these threads, and here a compilation of half a second
    would delay everything else. All these stay in the scheduler's idle class, which not every process may leave.

    Yield whether it could: a machine with one processor is not divided.
    """
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < 2:
        yield False
        return
    others = family(os.getpid()) - {relay, *spare}
    try:
        _each(_threads([relay, *spare]), partial(_confine, processors[:1]))
        _each(_threads(others), partial(_confine, processors[1:]))
        _each(_threads(spare), _idle)
        # Threads that they start, as a compiler starts another, inherit the class.
        _each((thread for thread in _threads(others) if thread_name(thread).startswith(_BACKGROUND)), _idle)
        yield True
    finally:
        _each(_threads({relay, *spare, *others}), partial(_confine, processors))


def _threads(pids: Collection[int]) -> Iterator[int]:
    return (thread for pid in pids for thread in threads(pid))


def _each(chosen: Iterable[int], do: Callable[[int], None]) -> None:
    for thread in chosen:
        with suppress(ProcessLookupError):  # it ended meanwhile
            do(thread)


def _confine(processors: Collection[int], thread: int) -> None:
    os.sched_setaffinity(thread, processors)


def _idle(thread: int) -> None:
    os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
