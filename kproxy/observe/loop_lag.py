# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""How long the loop that serves all connections was busy between two polls: a histogram, and what the watchdog reads.

The pump notes each poll. `kproxy.observe.watchdog` looks a few times a second.
"""

from __future__ import annotations

from math import inf
from typing import Final

LAG_BOUNDS: Final[tuple[float, ...]] = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
)
"""Inclusive upper bounds of the loop's buckets in seconds: what a client notices begins at some milliseconds."""

BRIEF: Final = 0.001
"""The first bound."""


class LoopLag:
    """How long the loop was busy between two polls, by bucket: the longest that other connections waited for one.

    The pump writes it, the watchdog reads it in another thread. Times are seconds, monotonic; `inf` is never.
    """

    __slots__ = ("beat_due", "busy_since", "counts", "stalls", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(LAG_BOUNDS) + 1)
        self.total = 0.0
        self.busy_since = inf
        """When the last poll ended; `inf` while the loop polls."""
        self.beat_due = inf
        """When a task of Trio's is to run next that runs regularly."""
        self.stalls: dict[str, int] = {"loop": 0, "tasks": 0}
        """How often the loop, or only Trio's tasks, stood still; the watchdog's thread counts it."""

    def observe(self, busy: float) -> None:
        """Count a stretch of so many seconds."""
        bucket = 0
        for bound in LAG_BOUNDS:
            if busy <= bound:
                break
            bucket += 1
        self.counts[bucket] += 1
        self.total += busy

    def observe_brief(self, count: int, seconds: float) -> None:
        """Count stretches of `BRIEF` at most, with their sum: nearly all are, so the pump adds them up first."""
        self.counts[0] += count
        self.total += seconds
