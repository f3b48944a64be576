"""kproxy.telemetry.receivers.accumulate: histograms and summaries that are added up."""

from __future__ import annotations

from math import inf

import pytest

from kproxy.telemetry.receivers.otlp_points import Distribution, of_exponential, of_histogram, of_summary
from tests.unit.telemetry.receivers.pushes import histogram, summary

ONE = Distribution(3, 4.5, (1.0, 2.0), (1, 1, 1))
TWO = Distribution(5, 10.0, (1.0, 2.0), (2, 2, 1))
OTHER = Distribution(5, 10.0, (1.0, 3.0), (2, 2, 1))


def test_added_up() -> None:
    """Bucket by bucket; the quantiles are the later ones."""
    assert ONE.plus(TWO) == Distribution(8, 14.5, (1.0, 2.0), (3, 3, 2))
    assert ONE._replace(quantiles=((0.5, 1.0),)).plus(TWO._replace(quantiles=((0.5, 2.0),))).quantiles == ((0.5, 2.0),)


def test_other_bounds_leave_count_and_sum() -> None:
    """Buckets are dropped; count and sum stay right and go on being added up."""
    assert ONE.plus(OTHER) == Distribution(8, 14.5)
    assert ONE.plus(OTHER).plus(OTHER) == Distribution(13, 24.5)


def test_growth() -> None:
    """The difference; all of it after a restart or with other bounds."""
    assert TWO.minus(ONE) == Distribution(2, 5.5, (1.0, 2.0), (1, 1, 0))
    assert ONE.minus(TWO) == ONE
    assert TWO.minus(OTHER) == TWO


def test_another_unit() -> None:
    """Sum, bounds and quantiles are converted, counts are not."""
    assert ONE._replace(quantiles=((0.5, 3.0),)).scaled(2) == Distribution(3, 9.0, (2.0, 4.0), (1, 1, 1), ((0.5, 6.0),))


@pytest.mark.parametrize(
    ("bounds", "buckets", "expected"),
    [
        ([1.0, 2.0], [1, 1, 1], ONE),
        ([1.0, 2.0, inf], [1, 1, 1, 0], ONE),
        ([1.0, inf], [1, 1, 1], Distribution(3, 4.5, (1.0,), (1, 2))),
        ([], [3], Distribution(3, 4.5, (), (3,))),
        ([], [], Distribution(0, 4.5)),
        ([1.0, 2.0], [1, 1], None),
        ([2.0, 1.0], [1, 1, 1], None),
        ([1.0, 1.0], [1, 1, 1], None),
    ],
)
def test_histograms(bounds: list[float], buckets: list[int], expected: Distribution | None) -> None:
    """Buckets fit their bounds, which rise, or there is no histogram; a last bound of infinity is implied."""
    assert of_histogram(histogram("h", bounds, buckets, 4.5).histogram.data_points[0]) == expected


def test_summaries() -> None:
    """Quantiles in order; of an exponential histogram count and sum."""
    point = summary("s", 2, 3.0, {0.9: 2.0, 0.5: 1.0}).summary.data_points[0]
    assert of_summary(point) == Distribution(2, 3.0, quantiles=((0.5, 1.0), (0.9, 2.0)))
    metric = summary("s", 0, 0, {})
    exponential = metric.exponential_histogram.data_points.add(count=4, sum=8.0, scale=3)
    assert of_exponential(exponential) == Distribution(4, 8.0)
