# This module is pure.
"""The number of a virtual cluster's topology: what raises it, and how often it may rise."""

from __future__ import annotations

from typing import Final

from kproxy.rebootstrap.actions import Cause
from kproxy.topology.snapshot import Change

FLOOR: Final = 10.0


class Epoch:
    """Rises when clients must bootstrap again; `raised_at` on the clock of `now`, None as long as it never rose."""

    __slots__ = ("cause", "floor", "number", "raised_at")

    def __init__(self, floor: float = FLOOR) -> None:
        """`floor` is the least number of seconds between two rises: whatever goes wrong, clients cannot be stormed."""
        self.number = 0
        self.floor = floor
        self.raised_at: float | None = None
        self.cause: Cause | None = None

    def wait(self, now: float) -> float:
        """Seconds until it may rise; 0 when it may."""
        return 0.0 if self.raised_at is None else max(0.0, self.raised_at + self.floor - now)

    def raise_for(self, cause: Cause, now: float) -> float | None:
        """Raises it and returns None, or returns the seconds to wait; whether the cause still holds is asked then."""
        if (wait := self.wait(now)) > 0:
            return wait
        self.number += 1
        self.raised_at = now
        self.cause = cause
        return None


def cause_of(change: Change) -> Cause | None:
    """Why what a poll shows raises the epoch; None for nodes added, gone or moved, which metadata alone says."""
    return None if change.replacement is None else Cause(change.replacement.value)
