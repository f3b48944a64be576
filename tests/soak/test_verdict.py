"""tests.soak.verdict: what grows is told from what only jumps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.soak.verdict import MIB, Bounds, Sample, quantile, slope, verdicts

BOUNDS = Bounds()
STEADY = [Sample(5.0 * n, 80 * MIB + n % 3 * 4096, 60 + n % 5, 9, 20, 0.001, 0.004, 0.3) for n in range(60)]


def failed(samples: list[Sample]) -> list[str]:
    """The names of the checks that are not met."""
    return [verdict.name for verdict in verdicts(samples, BOUNDS) if not verdict.met]


def test_a_steady_run_passes() -> None:
    """What wavers without growing meets every check."""
    assert failed(STEADY) == []


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        (lambda n, one: replace(one, rss=one.rss + n * MIB), "memory is flat"),
        (lambda n, one: replace(one, files=one.files + n), "descriptors are flat"),
        (lambda n, one: replace(one, threads=one.threads + n // 4), "threads are flat"),
        (lambda n, one: replace(one, p99=0.004 if n < 30 else 0.04), "the victim's p99 is flat"),
        (lambda n, one: replace(one, p99=0.004 if n < 30 else None), "the victim's p99 is flat"),
    ],
    ids=["memory", "descriptors", "threads", "p99", "no request at all"],
)
def test_what_grows_is_told(changes: object, name: str) -> None:
    """A leak of 12 MiB a minute, of a descriptor or a thread now and then, and slower requests are all told."""
    assert callable(changes)
    assert failed([changes(n, one) for n, one in enumerate(STEADY)]) == [name]


def test_single_jumps_are_no_growth() -> None:
    """Failovers, in which everything is twice as much for a sample, do not count as growth."""
    jumpy = [replace(one, rss=2 * one.rss, files=200) if n % 12 == 11 else one for n, one in enumerate(STEADY)]
    assert failed(jumpy) == []


def test_slope() -> None:
    """A line's slope is found, also with an outlier; without two moments there is none."""
    assert slope([(0, 1), (1, 3), (2, 5), (3, 100), (4, 9)]) == pytest.approx(2)
    assert slope([(1, 1), (1, 9)]) == 0


def test_quantile() -> None:
    """The smallest value that so many are below; None where there is none."""
    assert (quantile([3, 1, 2], 0.5), quantile([1, 2], 1.0), quantile([], 0.5)) == (2, 2, None)
