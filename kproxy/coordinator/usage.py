# This module is pure (no I/O, no clock).
"""What all groups of a coordinator hold in memory, and how much that may be: whoever may join decides what it holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kproxy.coordinator.messages import Protocols

MOST_GROUPS: Final = 10_000
MOST_BYTES: Final = 256 << 20
"""Of members' metadata and assignments. A consumer of a thousand partitions has some 10 KiB of both."""
MOST_PENDING: Final = 20_000
"""Ids that were given out and have not joined yet (KIP-394): each takes a request, and lasts for a session."""


class Usage:
    """Counts what is held; groups change it, the coordinator compares it with the limits."""

    __slots__ = ("bytes", "pending")

    def __init__(self) -> None:
        self.bytes = 0
        """Of metadata and assignments."""
        self.pending = 0
        """Ids that were given out."""

    def has_room(self, size: int) -> bool:
        """Return whether so many bytes more may be held."""
        return self.bytes + size <= MOST_BYTES


def size_of(protocols: Protocols) -> int:
    """Return the bytes of a member's protocols."""
    return sum(len(name) + len(metadata) for name, metadata in protocols)


def size_of_all(assignments: Iterable[bytes]) -> int:
    """Return the bytes of assignments."""
    return sum(map(len, assignments))
