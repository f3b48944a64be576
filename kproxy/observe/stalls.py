# This module is pure (no I/O, no clock).
"""Decides when the loop stands still: for how long by now, and when to look again.

The watchdog's thread asks it at each look.
"""

from __future__ import annotations

from math import inf
from typing import Final, Literal, NamedTuple

STALL_SECONDS: Final = 0.25
"""How long the loop may be busy before that is a stall."""
_FACTOR: Final = 4
"""A stall is told again when it has lasted so many times as long: its first line cannot say how long it will last."""


What = Literal["loop", "tasks"]


class Stall(NamedTuple):
    """What stands still: the loop, or only Trio's tasks; for how many seconds by now; how often it was told before."""

    what: What
    seconds: float
    told: int


class _Watch:
    """One thing that may stand still."""

    __slots__ = ("_since", "_tell_at", "_told", "_what")

    def __init__(self, what: What) -> None:
        self._what = what
        self._since = inf
        self._tell_at = inf
        self._told = 0

    def look(self, since: float, now: float) -> Stall | None:
        if since != self._since:
            self._since, self._tell_at, self._told = since, since + STALL_SECONDS, 0
        if now < self._tell_at:
            return None
        stall = Stall(self._what, now - since, self._told)
        self._told += 1
        self._tell_at = since + _FACTOR * stall.seconds
        return stall


class Stalls:
    """The stalls of one loop. Times are seconds, monotonic; `inf` is never."""

    __slots__ = ("_loop", "_tasks")

    def __init__(self) -> None:
        self._loop = _Watch("loop")
        self._tasks = _Watch("tasks")

    def look(self, busy_since: float, beat_due: float, now: float) -> Stall | None:
        """Return the stall that is to be told now. While the loop stands still, Trio's tasks cannot run either."""
        if now - busy_since >= STALL_SECONDS:
            return self._loop.look(busy_since, now)
        return self._tasks.look(beat_due, now)


def next_look(busy_since: float, beat_due: float, now: float) -> float:
    """Return the seconds until the next look: then what is busy now has become a stall, and nothing later has."""
    ends = (since + STALL_SECONDS - now for since in (busy_since, beat_due))
    return min((left for left in ends if 0 < left < STALL_SECONDS), default=STALL_SECONDS)
