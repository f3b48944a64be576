# This module is pure (no I/O, no clock).
"""A part of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from kproxy.pipeline.report.charts.figure import Figure, Table
from kproxy.pipeline.report.sections.shapes import Listing, OverTime, Unanswered
from kproxy.pipeline.report.words import shown

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Part:
    """A heading, and below it what there is to see."""

    key: str
    title: str
    blocks: tuple[Figure | Table | str, ...]
    """A text is what stands in for a chart or a table that there is not."""


def answered(
    value: T | Unanswered, show: Callable[[T], Figure | Table | str | None], nothing: str
) -> Figure | Table | str:
    """Return what is shown of an answer, why there is none, or the words for nothing."""
    if isinstance(value, Unanswered):
        return f"{shown(value.reason, 300)}."
    return show(value) or nothing


def named(values: OverTime) -> OverTime:
    """Return the same with names that can be read."""
    series = tuple(type(one)(shown(one.name), one.values, one.rest) for one in values.series)
    return OverTime(values.step, values.starts, series)


def table(
    title: str, head: tuple[str, ...], listing: Listing[T], row: Callable[[T], Iterable[str]], *numbers: int
) -> Table | None:
    """Return a table of a listing, with the columns that are numbers; None when it has no row."""
    if not listing.rows:
        return None
    more = f"and {listing.more:,} more" if listing.more else ""
    return Table(title, head, tuple(tuple(row(one)) for one in listing.rows), frozenset(numbers), more)


def clock(time: datetime) -> str:
    """Return a time to the second."""
    return f"{time:%Y-%m-%d %H:%M:%S}"
