"""Counts acknowledged and received records, to find lost and duplicate ones.

The process of the clients counts during the load, and compares at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_CHUNK: Final = 65_536
_MOST: Final = 255


class Tally:
    """Counts how often each number, from 0 up, was seen; only one thread may write it."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = bytearray()
        self.total = 0

    def see(self, number: int) -> None:
        """Count a number once more. The count of one number stops at 255; the total does not."""
        if number >= len(self.counts):
            self.counts.extend(bytes(number + _CHUNK - len(self.counts)))
        if self.counts[number] < _MOST:
            self.counts[number] += 1
        self.total += 1

    def count(self, number: int) -> int:
        """Return how often a number was seen."""
        return self.counts[number] if number < len(self.counts) else 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The totals. `lost` counts records acknowledged but never received; `duplicates` counts surplus receptions."""

    acknowledged: int
    received: int
    lost: int
    duplicates: int


def compare(acknowledged: Tally, received: Sequence[Tally]) -> Verdict:
    """Compare what all members of the group received with what the brokers acknowledged to the producer."""
    lost = duplicates = 0
    for number in range(max(len(tally.counts) for tally in (acknowledged, *received))):
        seen = sum(tally.count(number) for tally in received)
        lost += acknowledged.count(number) > 0 and seen == 0
        duplicates += max(seen - 1, 0)
    return Verdict(acknowledged.total, sum(tally.total for tally in received), lost, duplicates)
