"""Samples of a soak, and what must be true of them at its end.

A robust slope (Theil-Sen: the median of the slopes of all pairs) over the second half says whether something grows.
Single samples, such as a failover's, move it little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import NamedTuple

MIB = 1 << 20
P99 = "the victim's p99 is flat"


@dataclass(frozen=True, slots=True)
class Sample:
    """What was seen at one moment: `at` is in seconds since the start, latencies in seconds (None: no request)."""

    at: float
    rss: int
    files: int
    threads: int
    connections: int
    p50: float | None
    p99: float | None
    cpu: float
    """The share of one processor, since the sample before."""


class Bounds(NamedTuple):
    """What may grow over the second half, and the most that a p99 may be in it compared with the first half.

    `rss` is in bytes. `p99_times` is a factor, to which `p99_plus` seconds come: the machine has other work, too.
    `unanswered` is the share of looks at the admin port that may take longer than 5 s.
    """

    rss: int = 8 * MIB
    files: float = 10
    threads: float = 4
    p99_times: float = 1.5
    p99_plus: float = 0.01
    unanswered: float = 0.02

    def p99(self, before: float) -> float:
        """Return the most that the p99 may be behind one of `before`."""
        return before * self.p99_times + self.p99_plus


class Verdict(NamedTuple):
    """A check by name, whether it is met, and the figures."""

    name: str
    met: bool
    figures: str


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the median slope of all pairs of points with different x; 0.0 where there is none."""
    slopes = [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2) if x1 != x2]
    return median(slopes) if slopes else 0.0


def growth(samples: Sequence[Sample], value: Callable[[Sample], float]) -> float:
    """Return by how much a value grows over the second half of the samples, by its slope."""
    half = second(samples)
    return slope([(one.at, value(one)) for one in half]) * (half[-1].at - half[0].at) if half else 0.0


def second(samples: Sequence[Sample]) -> Sequence[Sample]:
    """Return the second half."""
    return samples[len(samples) // 2 :]


def verdicts(samples: Sequence[Sample], bounds: Bounds) -> list[Verdict]:
    """Return whether memory, descriptors, threads and the victim's p99 stayed flat."""
    return [_memory(samples, bounds), *_counts(samples, bounds), _p99(samples, bounds)]


def _memory(samples: Sequence[Sample], bounds: Bounds) -> Verdict:
    grown = growth(samples, lambda one: one.rss)
    now = median(one.rss for one in second(samples))
    figures = f"{grown / MIB:+.1f} MiB over the second half (bound {bounds.rss / MIB:.0f}), at {now / MIB:.0f} MiB"
    return Verdict("memory is flat", grown <= bounds.rss, figures)


def _counts(samples: Sequence[Sample], bounds: Bounds) -> list[Verdict]:
    found = []
    for name, value, bound in (
        ("descriptors", lambda one: one.files, bounds.files),
        ("threads", lambda one: one.threads, bounds.threads),
    ):
        grown, now = growth(samples, value), median(map(value, second(samples)))
        figures = f"{grown:+.1f} over the second half (bound {bound:g}), at {now:.0f}"
        found.append(Verdict(f"{name} are flat", grown <= bound, figures))
    return found


def _p99(samples: Sequence[Sample], bounds: Bounds) -> Verdict:
    before, after = p99s(samples)
    bound = bounds.p99(before)
    shown = f"{1000 * before:.1f} ms in the first half, {1000 * after:.1f} ms in the second"
    return Verdict(P99, 0 < after <= bound, f"{shown} (bound {1000 * bound:.1f} ms)")


def p99s(samples: Sequence[Sample]) -> tuple[float, float]:
    """Return the medians of both halves, since a p99 of one interval is a handful of requests; 0.0 without any."""
    halves = samples[: len(samples) // 2], second(samples)
    before, after = (_median([one.p99 for one in half if one.p99 is not None]) for half in halves)
    return before, after


def _median(values: Sequence[float]) -> float:
    return median(values) if values else 0.0


def quantile(values: Sequence[float], fraction: float) -> float | None:
    """Return a quantile; None of no values."""
    ordered = sorted(values)
    return ordered[min(int(fraction * len(ordered)), len(ordered) - 1)] if ordered else None
