"""What a run found: medians, ratios to HAProxy round by round, and whether each target was met."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .targets import DIRECT, HAPROXY, KPROXY

ByTarget = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Metric:
    """A row: `goal` is for kproxy's figure itself, or for its ratio to HAProxy's where `ratio` says so."""

    key: str
    title: str
    digits: int = 2
    goal: float | None = None
    ratio: bool = False
    over_direct: bool = False


METRICS: Final = (
    Metric("produce_cpu", "produce, CPU s/GiB", goal=1.25, ratio=True),
    Metric("produce_rate", "produce, MiB/s", digits=0),
    Metric("fetch_cpu", "fetch, CPU s/GiB", goal=0.75, ratio=True),
    Metric("fetch_rate", "fetch, MiB/s", digits=0),
    Metric("small_cpu", "small requests, CPU s/100k", goal=1.3, ratio=True),
    Metric("small_rate", "small requests, 1/s", digits=0),
    Metric("p50", "latency p50, µs", digits=0),
    Metric("p50", "latency p50 added over direct, µs", digits=0, goal=1.3, ratio=True, over_direct=True),
    Metric("p99", "latency p99, µs", digits=0),
    Metric("idle", "an idle connection, KiB", goal=4),
    Metric("rss_start", "RSS at start, MiB", digits=1, goal=60),
    Metric("rss_load", "RSS after load, MiB", digits=1),
    Metric("ready", "serve ready after, s", goal=0.5),
    Metric("ready_cpu", "serve ready after, CPU s"),
    Metric("metadata", "Metadata of 1,000 × 10 × 12 rewritten, ms", digits=3, goal=0.1),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; a ratio is the median of the rounds' own ratios, with the lowest and the highest."""

    title: str
    figures: Mapping[str, float]
    ratios: Sequence[float]
    digits: int
    goal: float | None
    goal_is_ratio: bool

    @property
    def ratio(self) -> float | None:
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def met(self) -> bool | None:
        """Whether the goal was reached; None without a goal or without the figure for it."""
        judged = self.ratio if self.goal_is_ratio else self.figures.get(KPROXY)
        return None if self.goal is None or judged is None else judged <= self.goal

    def cells(self) -> list[str]:
        figures = [self._number(self.figures.get(name)) for name in (DIRECT, HAPROXY, KPROXY)]
        ratio = ""
        if self.ratio is not None:
            ratio = f"{self.ratio:.2f}"
            if len(self.ratios) > 1:
                ratio += f" ({min(self.ratios):.2f}–{max(self.ratios):.2f})"
        goal = "" if self.goal is None else f"≤ {self.goal:g}{' ×' if self.goal_is_ratio else ''}"
        return [self.title, *figures, ratio, goal, {True: "met", False: "MISSED", None: ""}[self.met]]

    def _number(self, value: float | None) -> str:
        return "" if value is None else f"{value:,.{self.digits}f}"


def _over_direct(values: ByTarget) -> dict[str, list[float]]:
    """What each proxy adds to the direct connection, round by round."""
    direct = values.get(DIRECT, ())
    return {
        name: [value - base for value, base in zip(rounds, direct, strict=False)]
        for name, rounds in values.items()
        if name != DIRECT
    }


def _ratios(values: ByTarget) -> list[float]:
    """kproxy's figure by HAProxy's, for each round in which the latter is one to compare with."""
    pairs = zip(values[KPROXY], values.get(HAPROXY, ()), strict=False)
    return [value / base for value, base in pairs if base > 0]


def rows(samples: Mapping[str, ByTarget]) -> list[Row]:
    """A row for each metric that was measured."""
    found = []
    for metric in METRICS:
        values: ByTarget = samples.get(metric.key, {})
        if metric.over_direct:
            values = _over_direct(values)
        if not values.get(KPROXY):
            continue
        ratios = _ratios(values) if metric.goal is None or metric.ratio else []
        figures = {name: statistics.median(rounds) for name, rounds in values.items() if rounds}
        found.append(Row(metric.title, figures, ratios, metric.digits, metric.goal, metric.ratio))
    return found


def table(found: Sequence[Row]) -> str:
    """The rows as a Markdown table whose columns line up."""
    lines = [["", "direct", "HAProxy", "kproxy", "ratio to HAProxy", "goal", ""], *(row.cells() for row in found)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if place in (0, 6) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [("-" * width if place in (0, 6) else "-" * (width - 1) + ":") for place, width in enumerate(widths)]
    return "\n".join([line(lines[0]), line(rule), *map(line, lines[1:])])


def as_json(found: Sequence[Row]) -> list[dict[str, object]]:
    """The rows for a machine."""
    return [
        {
            "title": row.title,
            "medians": dict(row.figures),
            "ratios_to_haproxy": list(row.ratios),
            "ratio_to_haproxy": row.ratio,
            "goal": row.goal,
            "goal_is_ratio": row.goal_is_ratio,
            "met": row.met,
        }
        for row in found
    ]
