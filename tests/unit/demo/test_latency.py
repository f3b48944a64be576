"""kproxy.demo.scrape: quantiles of values and of buckets."""

from __future__ import annotations

import math

import pytest

from kproxy.demo.scrape import quantile, quantile_of_buckets


@pytest.mark.parametrize(("fraction", "value"), [(0.0, 1), (0.5, 50), (0.99, 99), (0.991, 100), (1.0, 100)])
def test_nearest_rank(fraction: float, value: float) -> None:
    """The quantiles of 1 to 100."""
    assert quantile(range(1, 101), fraction) == value


def test_of_nothing() -> None:
    """Without values there is no quantile."""
    assert quantile([], 0.5) is None
    assert quantile_of_buckets({}, 0.5) is None
    assert quantile_of_buckets({0.1: 0, math.inf: 0}, 0.5) is None


@pytest.mark.parametrize(
    ("fraction", "value"), [(0.25, 0.5), (0.5, 1.0), (0.75, 2.0), (0.95, 3.0), (0.0, 0.0), (0.9, 3.0)]
)
def test_linear_within_a_bucket(fraction: float, value: float) -> None:
    """Half is up to 1, 40 % more up to 3, the rest above: there, the quantile is the last bound."""
    buckets = {1.0: 50.0, 3.0: 90.0, math.inf: 100.0}
    expected = value if fraction != 0.75 else 1.0 + 2.0 * 25 / 40
    assert quantile_of_buckets(buckets, fraction) == pytest.approx(expected)


def test_empty_buckets_are_passed() -> None:
    """The quantile lies in the first bucket that reaches it."""
    assert quantile_of_buckets({1.0: 0.0, 2.0: 0.0, 4.0: 10.0, math.inf: 10.0}, 0.5) == pytest.approx(3.0)
