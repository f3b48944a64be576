"""kproxy.pipeline.report.charts.numbers: numbers for people."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kproxy.pipeline.report.charts.numbers import BYTES, MILLISECONDS, SECONDS, counted, duration, number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234567, "1,234,567"),
        (1234.5, "1,234"),
        (12.345, "12.3"),
        (1.5, "1.5"),
        (0.012345, "0.0123"),
        (-2.25, "-2.25"),
        (1.234e300, "1.23e+300"),
        (float("nan"), "–"),
        (float("inf"), "–"),
    ],
)
def test_number(value: float, text: str) -> None:
    """Three digits are enough after the point, and no zeros at the end."""
    assert number(value) == text


def test_units() -> None:
    """The largest one that leaves a digit before the point."""
    assert [BYTES.text(value) for value in (0, 999, 1500, 2.5e9)] == ["0 B", "999 B", "1.5 kB", "2.5 GB"]
    assert [MILLISECONDS.text(value) for value in (0.2, 1500, 90_000)] == ["0.2 ms", "1.5 s", "1.5 min"]
    assert [SECONDS.text(value) for value in (0.0015, 45, 5400)] == ["1.5 ms", "45 s", "1.5 h"]
    assert [counted("errors").text(value) for value in (12_000, 2e6)] == ["12,000 errors", "2 million errors"]


def test_duration() -> None:
    """Two units at most."""
    given = (timedelta(seconds=45), timedelta(minutes=12, seconds=5), timedelta(hours=2, minutes=50))
    assert [duration(each) for each in given] == ["45 s", "12 min", "2 h 50 min"]
    assert [duration(timedelta(hours=each)) for each in (2, 24, 76)] == ["2 h", "1 d", "3 d 4 h"]
