# This module is pure (no I/O, no clock).
"""What the policies need of a virtual cluster's hosted groups; `HostedGroups` implements it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from kproxy.coordinator.coordinator import Coordinator


class Hosting(Protocol):
    """The hosted groups of one virtual cluster."""

    coordinator: Coordinator

    @property
    def now(self) -> float:
        """The time, as the coordinator counts it: seconds."""

    def hosts(self, group_id: str) -> bool:
        """Return whether a group is hosted here; all others are their broker's."""

    def acting(self) -> AbstractContextManager[float]:
        """Give the time to a block that calls the coordinator, then see to the timers that it has set."""

    def clash(self, group_id: str, refused: str) -> None:
        """Report that a client was refused, since the group has members of another protocol."""

    def contained(self) -> AbstractContextManager[None, bool]:
        """End a block at a fault in it, which is reported: one member's answer is no concern of the others."""
