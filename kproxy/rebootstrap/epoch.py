# This module is pure (no I/O, no clock).
"""The number of a virtual cluster's topology: what raises it, and how often it may rise.

`RebootstrapService` raises it when all clients must bootstrap again, for instance at a failover. `TopologyReconciler`
asks `cause_of` about each change that the watcher finds.
"""

from __future__ import annotations

from typing import Final

from kproxy.rebootstrap.actions import Cause
from kproxy.topology.snapshot import Change

FLOOR: Final = 10.0


class Epoch:
    """Rises when clients must bootstrap again. `raised_at` is on the clock of `now`; None while it never rose."""

    __slots__ = ("cause", "floor", "number", "raised_at")

    def __init__(self, floor: float = FLOOR) -> None:
        """`floor` is the least number of seconds between two rises, so that clients never reconnect in a storm."""
        self.number = 0
        self.floor = floor
        self.raised_at: float | None = None
        self.cause: Cause | None = None

    def wait(self, now: float) -> float:
        """Return the seconds until it may rise; 0 when it may now."""
        return 0.0 if self.raised_at is None else max(0.0, self.raised_at + self.floor - now)

    def raise_for(self, cause: Cause, now: float) -> None:
        """Raise it. The caller has waited, and then checked that there is still a cause.

        It rises all the same if the floor has moved meanwhile: clients that stay at a cluster that was left lose more
        by that than by a storm.
        """
        self.number += 1
        self.raised_at = now
        self.cause = cause


def cause_of(change: Change) -> Cause | None:
    """Return why a change raises the epoch; None for nodes added, gone or moved, which clients learn from metadata."""
    return None if change.replacement is None else Cause(change.replacement.value)
