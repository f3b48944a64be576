# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""How many bytes all connections hold, within a limit: over it, the one that has moved nothing for longest is closed.

The pump has one for what came from clients and one for what came from brokers. A connection notes what it holds when
that changes.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from kproxy.relay.flow import SMALL


class Holder(Protocol):
    """A connection. Its `id` is unique."""

    id: int

    def evict(self, detail: str) -> None:
        """Close the connection, since its bytes are needed for others; must not raise."""


class HeldBytes:
    """The bytes of one direction, by connection, the one that has moved nothing for longest first."""

    def __init__(self, setting: str, limit: int) -> None:
        """`setting` is the name of the limit, which is in bytes."""
        self._setting = setting
        self.limit = limit
        """Bytes; a lower one counts when a connection next notes what it holds."""
        self.total = 0
        """Bytes that all connections hold, but for those that hold little."""
        self._held: OrderedDict[int, tuple[Holder, int]] = OrderedDict()

    def note(self, holder: Holder, count: int) -> bool:
        """Note that a connection holds `count` bytes, and has just moved some; returns whether that is to be counted.

        May close any connection, this one too.
        """
        before = self._held.pop(holder.id, None)
        if before is not None:
            self.total -= before[1]
        if count <= SMALL:
            return False
        self._held[holder.id] = holder, count
        self.total += count
        while self.total > self.limit:
            self._evict()
        return holder.id in self._held

    def _evict(self) -> None:
        holder, count = self._held.popitem(last=False)[1]
        self.total -= count
        holder.evict(f"held {count} bytes when all together passed {self._setting}, {self.limit} bytes")
