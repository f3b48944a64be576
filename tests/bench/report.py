"""What a run found: medians, ratios to HAProxy round by round, and whether each target was met."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .targets import BEFORE, COMPILED, DIRECT, HAPROXY, KPROXY

ByTarget = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Metric:
    """A row: `goal` is for kproxy's figure itself, or for its ratio to HAProxy's when `ratio` is set."""

    key: str
    title: str
    digits: int = 2
    goal: float | None = None
    ratio: bool = False
    at_least: bool = False
    over_direct: bool = False
    spread: bool = False
    """Set when `<key>_low` and `<key>_high` exist: the figure lies between them in nine of ten draws."""


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
    Metric("connect_cpu", "connections set up, CPU s/1,000"),
    Metric("connect_p50", "connect to first response, p50, µs", digits=0),
    Metric("connect_p99", "the same, p99, µs", digits=0),
    Metric("connect_busy_p50", "connect to first response beside a busy one, p50, µs", digits=0),
    Metric("connect_busy_p99", "the same, p99, µs", digits=0),
    Metric("tls_produce_cpu", "produce over TLS, CPU s/GiB", goal=1.3, ratio=True),
    Metric("tls_produce_rate", "produce over TLS, MiB/s", digits=0),
    Metric("tls_fetch_cpu", "fetch over TLS, CPU s/GiB", goal=1.3, ratio=True),
    Metric("tls_fetch_rate", "fetch over TLS, MiB/s", digits=0),
    Metric("tls_handshakes", "TLS handshakes a CPU s", digits=0, goal=0.7, ratio=True, at_least=True),
    Metric("tls_idle", "an idle TLS connection, KiB", digits=1),
    Metric("idle", "an idle connection, KiB", goal=4),
    Metric("rss_start", "RSS at start, MiB", digits=1, goal=60),
    Metric("rss_load", "RSS after load, MiB", digits=1),
    Metric("ready", "serve ready after, s", goal=0.5),
    Metric("ready_cpu", "serve ready after, CPU s"),
    Metric("metadata", "Metadata of 1,000 × 10 × 12 rewritten, ms", digits=3, goal=0.1),
    Metric("telemetry_prometheus", "telemetry to prometheus, pushes a CPU s", digits=0, goal=2000, at_least=True),
    Metric("telemetry_otlp", "telemetry to otlp, pushes a CPU s", digits=0, goal=6000, at_least=True),
    Metric("telemetry_kafka", "telemetry to kafka, pushes a CPU s", digits=0, goal=6000, at_least=True),
    Metric("telemetry_p99", "latency p99 without pushes, µs", digits=0, spread=True),
    Metric("telemetry_p99_7", "p99 beside 7 pushes/s and scrapes, grown by %", digits=0, goal=20, spread=True),
    Metric("telemetry_p99_200", "p99 beside 200 pushes/s and scrapes, grown by %", digits=0, goal=20, spread=True),
    Metric("telemetry_p99_2000", "p99 beside 2,000 pushes/s and scrapes, grown by %", digits=0, goal=20, spread=True),
    Metric(
        "telemetry_p99_2000_other", "p99 beside 2,000 pushes/s to another kproxy, grown by %", digits=0, spread=True
    ),
    Metric("telemetry_p99_2000_own", "p99 beside 2,000 pushes/s, over that, %", digits=0, goal=20, spread=True),
    Metric("telemetry_p99_first", "p99 beside the first push of each of 2,000 within a second, µs", digits=0),
    Metric("telemetry_part_none", "a request's time in kproxy without pushes, mean, µs", digits=0),
    Metric("telemetry_part_2000", "the same beside 2,000 pushes/s, µs", digits=0),
    Metric("telemetry_part_2000_other", "the same beside 2,000 pushes/s to another kproxy, µs", digits=0),
    Metric("telemetry_kib_few", "an instance of 2,000, KiB", digits=1, goal=20),
    Metric("telemetry_kib_many", "an instance of 10,000, KiB", digits=1, goal=20),
)


_VERDICTS: Final = {True: "met", False: "MISSED", None: ""}
_HEADS: Final = ("", "direct", "HAProxy", "kproxy", "ratio to HAProxy", "goal", "")
_COMPILED_HEADS: Final = ("kproxy compiled", "ratio to HAProxy", "")
_PAIR_HEADS: Final = ("", "before", "after", "after / before")


def _median(ratios: Sequence[float]) -> float | None:
    return statistics.median(ratios) if ratios else None


def _number(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}".replace("-", "−")


def _span(ratios: Sequence[float]) -> str:
    if not ratios:
        return ""
    around = f" ({min(ratios):.2f}–{max(ratios):.2f})" if len(ratios) > 1 else ""
    return f"{statistics.median(ratios):.2f}{around}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; a ratio is the median of the rounds' own ratios, with the lowest and the highest."""

    title: str
    figures: Mapping[str, float]
    ratios: Sequence[float]
    digits: int
    goal: float | None
    goal_is_ratio: bool
    at_least: bool = False
    compiled_ratios: Sequence[float] = ()
    """As `ratios`, for kproxy with its relay compiled."""
    spreads: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The bounds of a figure in nine of ten draws, by target."""

    @property
    def ratio(self) -> float | None:
        return _median(self.ratios)

    @property
    def met(self) -> bool | None:
        """True when the goal was reached; None without a goal or without the figure for it."""
        return self._met(KPROXY, self.ratios)

    @property
    def compiled_met(self) -> bool | None:
        """As `met`, for kproxy with its relay compiled."""
        return self._met(COMPILED, self.compiled_ratios)

    def _met(self, name: str, ratios: Sequence[float]) -> bool | None:
        figure = _median(ratios) if self.goal_is_ratio else self.figures.get(name)
        if self.goal is None or figure is None:
            return None
        return figure >= self.goal if self.at_least else figure <= self.goal

    def cells(self, compiled: bool) -> list[str]:
        """Return the table's cell for each column; the last three are for the compiled relay."""
        figures = [self._figure(name) for name in (DIRECT, HAPROXY, KPROXY)]
        sign = "≥" if self.at_least else "≤"
        goal = "" if self.goal is None else f"{sign} {self.goal:g}{' ×' if self.goal_is_ratio else ''}"
        cells = [self.title, *figures, _span(self.ratios), goal, _VERDICTS[self.met]]
        if compiled:
            cells += [self._figure(COMPILED), _span(self.compiled_ratios), _VERDICTS[self.compiled_met]]
        return cells

    def _figure(self, name: str) -> str:
        if name not in self.figures:
            return ""
        low_high = [self._number(bound) for bound in self.spreads.get(name, ())]
        return self._number(self.figures[name]) + (f" ({'–'.join(low_high)})" if low_high else "")

    def _number(self, value: float) -> str:
        return _number(value, self.digits)


def _over_direct(values: ByTarget) -> dict[str, list[float]]:
    """Return what each proxy adds to the direct connection, round by round."""
    direct = values.get(DIRECT, ())
    return {
        name: [value - base for value, base in zip(rounds, direct, strict=False)]
        for name, rounds in values.items()
        if name != DIRECT
    }


def _ratios(values: ByTarget, name: str) -> list[float]:
    """Return one target's figure by HAProxy's, for each round in which the latter is above 0."""
    pairs = zip(values.get(name, ()), values.get(HAPROXY, ()), strict=False)
    return [value / base for value, base in pairs if base > 0]


def _spreads(samples: Mapping[str, ByTarget], metric: Metric) -> dict[str, tuple[float, float]]:
    if not metric.spread:
        return {}
    lows, highs = samples.get(f"{metric.key}_low", {}), samples.get(f"{metric.key}_high", {})
    return {name: (statistics.median(low), statistics.median(highs[name])) for name, low in lows.items()}


def rows(samples: Mapping[str, ByTarget]) -> list[Row]:
    """Return a row for each metric that was measured."""
    found = []
    for metric in METRICS:
        values: ByTarget = samples.get(metric.key, {})
        if metric.over_direct:
            values = _over_direct(values)
        if not (values.get(KPROXY) or values.get(COMPILED)):
            continue
        compared = (KPROXY, COMPILED) if metric.goal is None or metric.ratio else ()
        ratios = {name: _ratios(values, name) for name in compared}
        figures = {name: statistics.median(rounds) for name, rounds in values.items() if rounds}
        whole = (metric.digits, metric.goal, metric.ratio, metric.at_least, ratios.get(COMPILED, []))
        found.append(Row(metric.title, figures, ratios.get(KPROXY, []), *whole, _spreads(samples, metric)))
    return found


@dataclass(frozen=True, slots=True)
class Pair:
    """A metric of two builds, and its ratios round by round."""

    metric: Metric
    before: float
    after: float
    ratios: Sequence[float]

    def cells(self) -> list[str]:
        """Return the table's cell for each column."""
        figures = [_number(value, self.metric.digits) for value in (self.before, self.after)]
        return [self.metric.title, *figures, _span(self.ratios)]


def pairs(samples: Mapping[str, ByTarget]) -> list[Pair]:
    """Return a pair for each metric that was measured of both builds; none without the other build."""
    found = []
    for metric in METRICS:
        values: ByTarget = samples.get(metric.key, {})
        before, after = values.get(BEFORE, ()), values.get(COMPILED) or values.get(KPROXY, ())
        ratios = [new / old for new, old in zip(after, before, strict=False) if old > 0]
        if ratios and not metric.over_direct:
            found.append(Pair(metric, statistics.median(before), statistics.median(after), ratios))
    return found


def pairs_table(found: Sequence[Pair]) -> str:
    """Return the pairs as a Markdown table whose columns line up."""
    return _aligned([_PAIR_HEADS, *(pair.cells() for pair in found)])


def table(found: Sequence[Row]) -> str:
    """Return the rows as a Markdown table whose columns line up."""
    compiled = any(COMPILED in row.figures for row in found)
    heads = [*_HEADS, *(_COMPILED_HEADS if compiled else ())]
    return _aligned([heads, *(row.cells(compiled) for row in found)])


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; columns without a head hold text."""
    texts = [place for place, head in enumerate(lines[0]) if not head]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if place in texts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [("-" * width if place in texts else "-" * (width - 1) + ":") for place, width in enumerate(widths)]
    return "\n".join([line(lines[0]), line(rule), *map(line, lines[1:])])


def as_json(found: Sequence[Row]) -> list[dict[str, object]]:
    """Return the rows for a machine."""
    return [
        {
            "title": row.title,
            "medians": dict(row.figures),
            "nine_of_ten": dict(row.spreads),
            "ratios_to_haproxy": list(row.ratios),
            "ratio_to_haproxy": row.ratio,
            "goal": row.goal,
            "goal_is_ratio": row.goal_is_ratio,
            "goal_is_least": row.at_least,
            "met": row.met,
            "compiled_ratios_to_haproxy": list(row.compiled_ratios),
            "compiled_met": row.compiled_met,
        }
        for row in found
    ]
