"""What became of a client's last push, so that the next one of the same metrics needs no second thought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from kproxy.telemetry.receivers.readings import Value
from kproxy.telemetry.receivers.series import Point, Source

if TYPE_CHECKING:
    from kproxy.telemetry.instance import ClientInfo
    from kproxy.telemetry.layout import Words

MAX_POINTS: Final = 500
"""A push of more is taken in by steps, so that others get their turn."""


class Step(NamedTuple):
    """A point that was taken, of whom, and the number as it was pushed; whether it is added, or stands for itself."""

    source: Source
    point: Point
    adds: bool
    number: Value


@dataclass(slots=True, eq=False)
class Plan:
    """Where each number of a push of the same client and words goes: valid while the source has all of `points`."""

    source: Source
    points: tuple[Point, ...]
    _info: ClientInfo
    _words: Words
    _forms: tuple[tuple[bool, float], ...]

    def take(self, info: ClientInfo, words: Words | None, payload: bytes, now: float) -> int | None:
        """Take a push in; returns how many numbers of it were invalid, or None for one that goes by another plan."""
        if words is None or words != self._words or info != self._info:
            return None
        source = self.source
        refused: list[Point] = []
        for point, (adds, factor), number in zip(self.points, self._forms, words.layout.numbers(payload), strict=True):
            if not adds:
                point.values[source] = number * factor
            elif 0 <= number < inf:
                point.values[source] += number * factor  # type: ignore[operator]  # counters are numbers
            else:
                refused.append(point)
        source.touched = now
        source.points.update(dict.fromkeys([point for point in self.points if point not in refused], now))
        return len(refused)


def plan(info: ClientInfo, words: Words, payload: bytes, taken: Sequence[Step | None]) -> Plan | None:
    """A plan from what was done with a payload of gauges and deltas of counters.

    None where there was more to it: `taken` has None in the place of each other point, or several sources.
    """
    steps = [step for step in taken if step is not None]
    if len(steps) != len(taken) or len(steps) > MAX_POINTS or len({step.source for step in steps}) != 1:
        return None
    points = tuple(step.point for step in steps)
    if len(set(points)) != len(points):  # so that plans are bounded as series are
        return None
    if not _alike(words.layout.numbers(payload), [step.number for step in steps]):
        return None
    forms = tuple((step.adds, step.point.family.factor) for step in steps)
    return Plan(steps[0].source, points, info, words, _shared(forms))


def _alike(numbers: Sequence[float], values: Sequence[Value]) -> bool:
    return len(numbers) == len(values) and all(
        number == value or (number != number and value != value)  # noqa: PLR0124 - NaN
        for number, value in zip(numbers, values, strict=True)
    )


@lru_cache(1024)
def _shared(forms: tuple[tuple[bool, float], ...]) -> tuple[tuple[bool, float], ...]:
    """The same object for what is the same: most clients of a kind push the same metrics."""
    return forms
