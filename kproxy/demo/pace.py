"""The producer's pace: rates that rise in steps.

The producer asks it again and again how many records are due. The plot draws the rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

STAIRS = (1_000, 2_000, 4_000, 8_000)
"""Rates in records a second, each for an equal share of the time."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Rates in records a second, one after the other, for `seconds` in total."""

    rates: Sequence[int]
    seconds: float

    def due(self, elapsed: float) -> int:
        """Return how many records should have been sent after `elapsed` seconds."""
        elapsed, length = min(elapsed, self.seconds), self.seconds / len(self.rates)
        step = min(int(elapsed / length), len(self.rates) - 1)
        return int(sum(self.rates[:step]) * length + self.rates[step] * (elapsed - step * length))
