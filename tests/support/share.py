"""What a client waited for a server, by the kernel's account of who had a processor, on a machine that is busy.

A clock would also say how long the server waited for a processor.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from typing import Final

from tests.support.proc import scheduled

BUSY: Final = 0.15
"""Seconds of a kproxy's work that another client's request may be behind, in plain Python, at a pace of 1.

The goal of the compiled build is 50 ms of wall time on a quiet machine, which `make attack` looks at.
"""
_ADDITIONS: Final = 1_000_000
_REFERENCE: Final = 0.04
"""Seconds of processor time that so many additions take on the machine where `BUSY` was set, without other load."""


def pace() -> float:
    """Return by how much this machine computes more slowly now than that of `BUSY`, 1 at least.

    Two processors may be one core's, and a host may have more guests than it has processors: both slow down what runs.
    """
    return max(1.0, statistics.median(_additions() for _ in range(5)) / _REFERENCE)


def _additions() -> float:
    begun, total = time.thread_time(), 0
    for number in range(_ADDITIONS):
        total += number
    return time.thread_time() - begun


def share_of(server: int, *others: int) -> Callable[[], float]:
    """Return a clock, in seconds, for the calling thread's requests to the main thread of a server process.

    Between a request and its response it goes on by what the server ran, less the time for which the caller and the
    `others`, processes on the request's way, had no processor: what the server did meanwhile kept nobody waiting.
    """

    def clock() -> float:
        waited = sum(scheduled(thread)[1] for thread in (threading.get_native_id(), *others))
        return scheduled(server)[0] - waited

    return clock
