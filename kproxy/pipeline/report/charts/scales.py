# This module is pure (no I/O, no clock).
"""From values and times to places on an axis, and the ticks that it has."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil, floor, log10
from typing import Final

from kproxy.pipeline.report.charts.numbers import Unit, number

SIZE: Final = 1000
"""Width and height of a chart, in its own units."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A label at a part of the axis, from 0 to 1."""

    at: float
    label: str
    minor: bool = False
    """It is left out where there is little room."""


@dataclass(frozen=True, slots=True)
class Values:
    """From zero to `top`."""

    top: float
    unit: str
    ticks: tuple[Tick, ...]

    def place(self, value: float) -> float:
        """Return the part of the axis that a value takes."""
        return value / self.top


def values(maximum: float, unit: Unit, most: int = 4, whole: bool = False) -> Values:
    """Return an axis for values up to a maximum, with steps of 1, 2 or 5 times a power of ten."""
    factor, name = unit.of(maximum)
    step = max(_step(max(maximum, 0) / factor / most), _LEAST_STEP)
    if whole and factor == 1:
        step = max(step, 1)
    count = max(ceil(max(maximum, 0) / factor / step - 1e-9), 1)
    ticks = tuple(Tick(each / count, number(round(each * step, 12))) for each in range(count + 1))
    return Values(count * step * factor, name, ticks)


_LEAST_STEP: Final = 1e-3
"""Of what is less, there is as good as none."""


def _step(rough: float) -> float:
    if rough <= 0:
        return 1
    power = 10.0 ** floor(log10(rough))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= rough * (1 - 1e-9))


@dataclass(frozen=True, slots=True)
class Times:
    """From the beginning to the end of a window."""

    since: datetime
    until: datetime

    def place(self, time: datetime) -> float:
        """Return the part of the axis at which a time is; one outside the window is at its edge."""
        return min(max((time - self.since) / (self.until - self.since), 0), 1)

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Ticks at round times; every other one may be left out."""
        step = next((each for each in _TIME_STEPS if (self.until - self.since) / each <= _MOST_TICKS), _TIME_STEPS[-1])
        first = -(-(self.since - _EPOCH) // step)
        last = (self.until - _EPOCH) // step
        stride = max(ceil((last - first) / _MOST_TICKS), 1)
        times = [_EPOCH + each * step for each in range(first, last + 1, stride)]
        return tuple(Tick(self.place(time), label(time, step), bool(each % 2)) for each, time in enumerate(times))


def label(time: datetime, step: timedelta) -> str:
    """Return a time of day, or the day where that is midnight."""
    return f"{time.day} {time:%b}" if step >= _DAY or (time.hour, time.minute) == (0, 0) else f"{time:%H:%M}"


_EPOCH: Final = datetime(2024, 1, 1, tzinfo=UTC)
"""A Monday: so weeks begin on one."""
_DAY: Final = timedelta(days=1)
_MOST_TICKS: Final = 8
"""Between the first and the last one."""
_TIME_STEPS: Final = (
    *(timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 15, 30)),
    *(timedelta(hours=hours) for hours in (1, 2, 3, 6, 12)),
    *(timedelta(days=days) for days in (1, 2, 7, 14, 28, 91)),
)
