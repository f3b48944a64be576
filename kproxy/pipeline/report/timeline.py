# This module is pure (no I/O, no clock).
"""A window of time, cut into the buckets that charts have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_MINUTE: Final = 60
HOUR: Final = 3600
_DAY: Final = 24 * HOUR
_STEPS: Final = (
    *(_MINUTE * minutes for minutes in (1, 2, 5, 10, 15, 30)),
    *(HOUR * hours for hours in (1, 2, 3, 6, 12)),
    *(_DAY * days for days in (1, 2, 7, 14, 30, 90, 365)),
)
_MOST: Final = 36
"""Buckets: more are too thin for the screen of a phone."""
_ENOUGH: Final = 0.1
"""The part of a bucket that must have data, so that its rate says something."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Buckets of `step` seconds that begin at multiples of it since 1970, for rows that each stand for `grain` seconds.

    A row that stands for an hour is of the window when its hour touches it.
    """

    since: datetime
    until: datetime
    step: int
    grain: int

    @property
    def starts(self) -> tuple[datetime, ...]:
        """When each bucket begins; the first one may begin before the window."""
        return tuple(datetime.fromtimestamp(number * self.step, UTC) for number in self.numbers)

    @property
    def numbers(self) -> range:
        """The buckets by their number: which multiple of the step begins them."""
        last = (self.until - timedelta(microseconds=1)).timestamp()
        return range(int(self.since.timestamp() // self.step), int(last // self.step) + 1)

    def covered(self, data_until: datetime | None) -> Iterator[float | None]:
        """Yield for how many seconds of each bucket there can be data; None where these are too few for a rate."""
        first = self.since.timestamp() // self.grain * self.grain
        last = -(-self.until.timestamp() // self.grain) * self.grain
        edge = min(last, data_until.timestamp()) if data_until else first
        for number in self.numbers:
            seconds = min((number + 1) * self.step, edge) - max(number * self.step, first)
            yield seconds if seconds >= _ENOUGH * self.step else None


def fine(since: datetime, until: datetime) -> Timeline:
    """Return buckets for rows of a minute, or for those of an hour when an hour is the least that can be shown."""
    step = _step((until - since).total_seconds())
    return Timeline(since, until, step, HOUR if step >= HOUR else _MINUTE)


def hourly(since: datetime, until: datetime) -> Timeline:
    """Return buckets of an hour or more, for rows of an hour."""
    return Timeline(since, until, max(HOUR, _step((until - since).total_seconds())), HOUR)


def _step(seconds: float) -> int:
    return next((step for step in _STEPS if seconds / step <= _MOST), _STEPS[-1])
