# This module is pure and compiled.
"""What became of a client's last push, so that the next one of the same metrics needs no second thought."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from kproxy.telemetry.receivers.otlp_points import Value
from kproxy.telemetry.receivers.series import Point, Source

if TYPE_CHECKING:
    from kproxy.telemetry.layout import Words
    from kproxy.telemetry.subscription import ClientInfo

MAX_POINTS: Final = 500
"""A push of more is taken in by steps, so that others get their turn."""


class Step(NamedTuple):
    """A point that was taken, of whom, and the number as it was pushed; whether it is added, or stands for itself."""

    source: Source
    point: Point
    adds: bool
    number: Value


class Plan:
    """Where each number of a push of the same client and words goes: valid while the source has all of `points`.

    What it takes stays here, in one list, until it is settled: a push would touch the dictionaries of thirty points,
    which lie all over the memory, and whoever waits for the relay waits for that.
    """

    __slots__ = ("_at", "_forms", "_info", "_numbers", "_words", "points", "source")

    def __init__(
        self,
        source: Source,
        points: tuple[Point, ...],
        info: ClientInfo,
        words: Words,
        forms: tuple[tuple[bool, float], ...],
    ) -> None:
        """`forms` say of each point whether its numbers are added up, and by what they are multiplied."""
        self.source = source
        self.points = points
        self._info = info
        self._words = words
        self._forms = forms
        self._at = -inf
        self._numbers: list[float] | None = None

    def take(self, info: ClientInfo, words: Words | None, payload: bytes, now: float) -> int | None:
        """Take a push in; returns how many numbers of it were invalid, or None for one that goes by another plan."""
        if words is None or words != self._words or (info is not self._info and info != self._info):
            return None
        numbers = self._numbers
        if numbers is None:
            numbers = self._numbers = [point.values[self.source] for point in self.points]  # type: ignore[misc]
        refused: list[int] = []
        pushed: tuple[float, ...] = words.layout.numbers(payload)
        for index, form in enumerate(self._forms):
            number = pushed[index]
            if not form[0]:
                numbers[index] = number * form[1]
            elif 0 <= number < inf:
                numbers[index] += number * form[1]
            else:
                refused.append(index)
        before, self._at = self._at, now
        self.source.touched = now
        if refused:
            self._settle_but([self.points[index] for index in refused], before)
        return len(refused)

    def _settle_but(self, refused: Sequence[Point], before: float) -> None:
        """Points of invalid numbers keep the time of their last push, which may have been taken `before`."""
        times = self.source.points
        kept = {point: max(before, times[point]) for point in refused}
        self.settle()
        times.update(kept)

    def settle(self) -> None:
        """Bring what was taken to its points."""
        numbers, source = self._numbers, self.source
        if numbers is None:
            return
        for point, number in zip(self.points, numbers, strict=True):
            point.values[source] = number
        source.points.update(dict.fromkeys(self.points, self._at))
        self._numbers = None
        self._at = -inf


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


class Plans:
    """One for each client whose last push has one."""

    def __init__(self) -> None:
        self._plans: dict[UUID, Plan] = {}
        self._unsettled: dict[Plan, None] = {}

    def make(self, info: ClientInfo, words: Words, payload: bytes, taken: Sequence[Step | None]) -> None:
        """Of a push whose client's earlier ones are settled, if it can have one: `plan` says when."""
        made = plan(info, words, payload, taken)
        if made is not None:
            self._plans[info.client_instance_id] = made

    def take(self, info: ClientInfo, words: Words | None, payload: bytes, now: float) -> tuple[Source, int] | None:
        """Take a push in; returns whose it was, and how many numbers were invalid, or None for one without a plan."""
        found = self._plans.get(info.client_instance_id)
        if found is None or (invalid := found.take(info, words, payload, now)) is None:
            return None
        self._unsettled[found] = None
        return found.source, invalid

    def settling(self) -> Iterator[None]:
        """Brings what was taken to its points; each step takes 50 microseconds."""
        while self._unsettled:
            self._unsettled.popitem()[0].settle()
            yield

    def settle(self, client: UUID) -> None:
        """Bring what was taken of one client to its points."""
        found = self._plans.get(client)
        if found is not None:
            self._unsettled.pop(found, None)
            found.settle()

    def drop(self, client: UUID) -> None:
        """Settle, and have no plan: before any of its points goes."""
        self.settle(client)
        self._plans.pop(client, None)
