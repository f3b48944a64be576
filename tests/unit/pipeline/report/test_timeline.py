"""kproxy.pipeline.report.timeline: windows in buckets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kproxy.pipeline.report import timeline

DAY = datetime(2026, 9, 21, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("window", "step", "grain"),
    [
        (timedelta(minutes=10), 60, 60),
        (timedelta(minutes=90), 300, 60),
        (timedelta(hours=12), 1800, 60),
        (timedelta(hours=24), 3600, 3600),
        (timedelta(days=7), 6 * 3600, 3600),
        (timedelta(days=30), 24 * 3600, 3600),
        (timedelta(days=100_000), 365 * 24 * 3600, 3600),
    ],
)
def test_the_step(window: timedelta, step: int, grain: int) -> None:
    """At most 36 buckets, of a round size; below an hour, of rows of a minute."""
    made = timeline.fine(DAY, DAY + window)
    assert (made.step, made.grain) == (step, grain)
    assert timeline.hourly(DAY, DAY + window).step == max(step, 3600)


def test_buckets() -> None:
    """The first one begins before the window, the last one has its last instant."""
    made = timeline.hourly(DAY + 0.5 * HOUR, DAY + 3 * HOUR)
    assert made.starts == (DAY, DAY + HOUR, DAY + 2 * HOUR)
    assert timeline.hourly(DAY, DAY + 3 * HOUR + timedelta(microseconds=1)).starts[-1] == DAY + 3 * HOUR


def test_covered() -> None:
    """Hours that the window touches have data up to the newest row; a rate needs a tenth of a bucket."""
    made = timeline.hourly(DAY + 0.5 * HOUR, DAY + 3.5 * HOUR)
    assert list(made.covered(DAY + 9 * HOUR)) == [3600, 3600, 3600, 3600]
    assert list(made.covered(DAY + 1.5 * HOUR)) == [3600, 1800, None, None]
    assert list(made.covered(DAY + 1.05 * HOUR)) == [3600, None, None, None]
    assert list(made.covered(None)) == [None] * 4
    fine = timeline.fine(DAY + timedelta(minutes=3), DAY + timedelta(minutes=93))
    assert next(fine.covered(DAY + HOUR)) == 120


def test_covered_by_parts_of_a_bucket() -> None:
    """Of a bucket of several hours only those count that are of the window."""
    made = timeline.hourly(DAY + 1.5 * HOUR, DAY + timedelta(days=4))
    assert made.step == 3 * 3600
    assert next(made.covered(DAY + timedelta(days=9))) == 2 * 3600
