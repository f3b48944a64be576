# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Remember where the numbers of a client's last push went, to add up the next push of the same metrics at once.

`Accumulator` asks for a plan first at each push. A push that fits none is added up point by point, and a plan may be
made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from kproxy.telemetry.receivers.otlp_points import Value
from kproxy.telemetry.receivers.series import Point, Source

if TYPE_CHECKING:
    from kproxy.telemetry.layout import PayloadTemplate
    from kproxy.telemetry.subscription import ClientInfo

MAX_POINTS: Final = 500
"""A push of more points is added up in steps, so that others get their turn."""


class Step(NamedTuple):
    """What was done with one number of a push: its source, its point, and whether it was added or replaced the last."""

    source: Source
    point: Point
    adds: bool
    number: Value


class Plan:
    """Where each number of a client's pushes with the same template goes. Valid while the source has all of `points`.

    Numbers stay here, in one list, until they are settled. Otherwise each push would touch the dictionaries of thirty
    points, which lie all over the memory, and requests would wait for that.
    """

    __slots__ = ("_at", "_forms", "_info", "_numbers", "_template", "points", "source")

    def __init__(
        self,
        source: Source,
        points: tuple[Point, ...],
        info: ClientInfo,
        template: PayloadTemplate,
        forms: tuple[tuple[bool, float], ...],
    ) -> None:
        """`forms` has for each point whether its numbers are added up, and the factor of its numbers."""
        self.source = source
        self.points = points
        self._info = info
        self._template = template
        self._forms = forms
        self._at = -inf
        self._numbers: list[float] | None = None

    def take(self, info: ClientInfo, template: PayloadTemplate | None, payload: bytes, now: float) -> int | None:
        """Add up a push. Return how many of its numbers were invalid, or None if the push does not fit the plan."""
        if template is None or template != self._template or (info is not self._info and info != self._info):
            return None
        if not template.layout.kept:
            return None
        numbers = self._numbers
        if numbers is None:
            numbers = self._numbers = [point.values[self.source] for point in self.points]  # type: ignore[misc]
        refused: list[int] = []
        pushed: tuple[float, ...] = template.layout.numbers(payload)
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
        """Settle, but keep for points of invalid numbers the time of their last push, which may be that `before`."""
        times = self.source.points
        kept = {point: max(before, times[point]) for point in refused}
        self.settle()
        times.update(kept)

    def settle(self) -> None:
        """Write the numbers to their points."""
        numbers, source = self._numbers, self.source
        if numbers is None:
            return
        for point, number in zip(self.points, numbers, strict=True):
            point.values[source] = number
        source.points.update(dict.fromkeys(self.points, self._at))
        self._numbers = None
        self._at = -inf


def plan(info: ClientInfo, template: PayloadTemplate, payload: bytes, taken: Sequence[Step | None]) -> Plan | None:
    """Return the plan that follows from how a payload of gauges and deltas of counters was added up.

    Return None for other payloads: for these, `taken` has None in the place of a point, or points of several sources.
    """
    steps = [step for step in taken if step is not None]
    if not template.layout.kept:
        return None
    if len(steps) != len(taken) or len(steps) > MAX_POINTS or len({step.source for step in steps}) != 1:
        return None
    points = tuple(step.point for step in steps)
    if len(set(points)) != len(points):  # so that plans are bounded as series are
        return None
    if not _alike(template.layout.numbers(payload), [step.number for step in steps]):
        return None
    forms = tuple((step.adds, step.point.family.factor) for step in steps)
    return Plan(steps[0].source, points, info, template, _shared(forms))


def _alike(numbers: Sequence[float], values: Sequence[Value]) -> bool:
    return len(numbers) == len(values) and all(
        number == value or (number != number and value != value)  # noqa: PLR0124 - NaN
        for number, value in zip(numbers, values, strict=True)
    )


@lru_cache(128)
def _shared(forms: tuple[tuple[bool, float], ...]) -> tuple[tuple[bool, float], ...]:
    """Return one object for all equal forms: most clients of a kind push the same metrics."""
    return forms


class Plans:
    """One plan for each client whose last push fits one."""

    def __init__(self) -> None:
        self._plans: dict[UUID, Plan] = {}
        self._unsettled: dict[Plan, None] = {}

    def make(self, info: ClientInfo, template: PayloadTemplate, payload: bytes, taken: Sequence[Step | None]) -> None:
        """Make the plan of a push, if `plan` returns one. The client's earlier pushes must be settled."""
        made = plan(info, template, payload, taken)
        if made is not None:
            self._plans[info.client_instance_id] = made

    def take(
        self, info: ClientInfo, template: PayloadTemplate | None, payload: bytes, now: float
    ) -> tuple[Source, int] | None:
        """Add up a push. Return its source and how many numbers were invalid, or None if no plan fits it."""
        found = self._plans.get(info.client_instance_id)
        if found is None or (invalid := found.take(info, template, payload, now)) is None:
            return None
        self._unsettled[found] = None
        return found.source, invalid

    def settling(self) -> Iterator[None]:
        """Settle all plans, in steps of 50 microseconds."""
        while self._unsettled:
            self._unsettled.popitem()[0].settle()
            yield

    def settle(self, client: UUID) -> None:
        """Settle the plan of one client."""
        found = self._plans.get(client)
        if found is not None:
            self._unsettled.pop(found, None)
            found.settle()

    def drop(self, client: UUID) -> None:
        """Settle a client's plan and remove it; call this before any of its points is removed."""
        self.settle(client)
        self._plans.pop(client, None)
