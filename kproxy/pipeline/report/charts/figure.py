# This module is pure (no I/O, no clock).
"""A chart together with the words around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from kproxy.pipeline.report.charts.scales import Tick

REST: Final = "rest"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the legend, and the class of its mark."""

    class_: str
    name: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under their heads."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int]
    """Columns of numbers, which are aligned to the right."""
    more: str = ""
    """What is left out."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, and what it needs to be read."""

    key: str
    title: str
    note: str
    """What is to be known of its numbers."""
    svg: Markup
    height: int
    """In pixels."""
    y_title: str
    y_ticks: tuple[Tick, ...]
    x_title: str
    x_ticks: tuple[Tick, ...]
    table: Table
    legend: tuple[Entry, ...] = ()
    lanes: tuple[str, ...] = ()
    """A label above each part of the chart."""

    @property
    def label_width(self) -> int:
        """Letters of the longest label of the vertical axis."""
        return max((len(tick.label) for tick in self.y_ticks), default=0)


def colour(number: int, rest: bool = False) -> str:
    """Return the class of a series by its place; the colours are in page.css."""
    return REST if rest else f"s{number}"


def legend(names: Sequence[tuple[str, bool]]) -> tuple[Entry, ...]:
    """Return the lines for series by name; True is for the rest."""
    return tuple(Entry(colour(number, rest), name) for number, (name, rest) in enumerate(names))
