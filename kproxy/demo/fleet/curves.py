"""How things change over the day: functions of the hour, from 0 to 24."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from typing import Final

Curve = Callable[[float], float]
"""A value by the hour of the day."""
HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
_STEPS: Final = 24 * 12


def flat(value: float) -> Curve:
    """Always the same."""
    return lambda _: value


def ramp(before: float, after: float, begin: float, end: float) -> Curve:
    """From one value to another between two hours."""

    def at(hour: float) -> float:
        part = min(max((hour - begin) / (end - begin), 0.0), 1.0)
        return before + (after - before) * part * part * (3 - 2 * part)

    return at


def busy(hour: float) -> float:
    """How much is done at an hour, 1 at most: little at night, more in the morning, most in the evening."""
    hour %= 24
    morning = 0.45 * math.exp(-(((hour - 10.5) / 3.0) ** 2))
    evening = 0.79 * math.exp(-(((hour - 20.0) / 3.2) ** 2)) + 0.79 * math.exp(-(((hour + 4.0) / 3.2) ** 2))
    return min(0.22 + morning + evening, 1.0)


def _cumulated() -> list[float]:
    """Seconds of the busiest time that the day has had, at the end of each step."""
    done = [0.0]
    for step in range(_STEPS):
        done.append(done[-1] + busy((step + 0.5) * 24 / _STEPS) * DAY / _STEPS)
    return done


_DONE: Final = _cumulated()
_TIMES: Final = [step * DAY / _STEPS for step in range(_STEPS + 1)]


def done(begin: float, end: float) -> float:
    """How much is done between two times, in seconds of the busiest time; days before are as this one."""
    return _done_until(end) - _done_until(begin)


def _done_until(time: float) -> float:
    days, second = divmod(time, DAY)
    step = min(bisect_right(_TIMES, second) - 1, _STEPS - 1)
    part = (second - _TIMES[step]) / (DAY / _STEPS)
    return days * _DONE[-1] + _DONE[step] + part * (_DONE[step + 1] - _DONE[step])
