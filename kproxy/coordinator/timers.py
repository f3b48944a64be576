# This module is pure (no I/O, no clock).
"""Timers of members and groups. A timer that is set later, as at each heartbeat, costs an assignment.

The coordinator owns one `Timers`. Times are seconds of any clock that does not go back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Final

_FEW: Final = 1024
"""Entries below which none is looked for that is no longer needed."""


class Timer:
    """Calls `action` with the time once it is due; `Timers` sets it."""

    __slots__ = ("action", "at", "queued")

    def __init__(self, action: Callable[[float], None]) -> None:
        self.action: Callable[[float], None] | None = action
        self.at: float | None = None
        """When it is due; None while it is not set."""
        self.queued: float | None = None
        """The time of its entry in the queue, which may be earlier than `at`; None without one."""

    def stop(self) -> None:
        """Unset it. It may be set again."""
        self.at = None

    def drop(self) -> None:
        """Unset it for ever, and let go of what its action holds: its entry may stay in the queue for long."""
        self.at = self.action = None


class Timers:
    """A queue of timers, at most one entry each but for those that were set to an earlier time."""

    def __init__(self) -> None:
        self._queue: list[tuple[float, int, Timer]] = []
        self._count = 0
        self._sweep_at = _FEW

    def set(self, timer: Timer, at: float) -> None:
        """Have a timer be due at a time, instead of the time that it was set to before."""
        timer.at = at
        if timer.queued is None or at < timer.queued:
            self._push(timer, at)

    def _push(self, timer: Timer, at: float) -> None:
        timer.queued = at
        self._count += 1
        heappush(self._queue, (at, self._count, timer))
        if len(self._queue) >= self._sweep_at:
            self._sweep()

    def _sweep(self) -> None:
        """Remove the entries of timers that were dropped: members that come and go would fill the queue."""
        self._queue = [entry for entry in self._queue if entry[2].action is not None and entry[2].queued == entry[0]]
        heapify(self._queue)
        self._sweep_at = max(_FEW, 2 * len(self._queue))

    @property
    def next(self) -> float | None:
        """When `fire` is to be called next: no timer is due earlier. None when no timer is set."""
        return self._queue[0][0] if self._queue else None

    def fire(self, now: float) -> None:
        """Call the actions of all timers that are due, in their order. What an action sets waits for the next call.

        What an action raises goes on to the caller; the timers after it are still due.
        """
        due: deque[tuple[float, int, Timer]] = deque()
        while self._queue and self._queue[0][0] <= now:
            due.append(heappop(self._queue))
        try:
            while due:
                at, _, timer = due.popleft()
                self._fire(timer, at, now)
        finally:
            for entry in due:
                heappush(self._queue, entry)

    def _fire(self, timer: Timer, queued: float, now: float) -> None:
        """Call a timer's action if it is due, for its entry of a time."""
        if timer.queued != queued:
            return  # it was set to an earlier time since, and has another entry
        timer.queued = None
        if timer.at is None or timer.action is None:
            return
        if timer.at > now:
            self._push(timer, timer.at)
            return
        timer.at = None
        timer.action(now)
