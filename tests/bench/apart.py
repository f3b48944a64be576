"""Both sides of a machine: what would run on other machines has its last processor, everything else the others."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Set
from contextlib import contextmanager, suppress

from tests.support.proc import family, threads


@contextmanager
def apart(far: Collection[int]) -> Iterator[bool]:
    """Keep processes, by their ids, off the processors of this one and its other descendants; all are free again after.

    Yields whether it could: one processor is not divided.
    """
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < 2:
        yield False
        return
    near = family(os.getpid()) - set(far)
    try:
        _confine(near, set(processors[:-1]))
        _confine(far, {processors[-1]})
        yield True
    finally:
        _confine({*near, *far}, set(processors))


def _confine(pids: Collection[int], processors: Set[int]) -> None:
    for pid in pids:
        for thread in threads(pid):
            with suppress(ProcessLookupError):  # it ended meanwhile
                os.sched_setaffinity(thread, processors)
