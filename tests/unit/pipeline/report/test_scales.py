"""kproxy.pipeline.report.charts.scales: axes with round ticks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproxy.pipeline.report.charts import scales
from kproxy.pipeline.report.charts.numbers import BYTES, MILLISECONDS, counted
from kproxy.pipeline.report.charts.scales import Times

DAY = datetime(2026, 9, 21, tzinfo=UTC)


@pytest.mark.parametrize(
    ("maximum", "top", "labels"),
    [
        (0, 1, ["0", "1"]),
        (7, 8, ["0", "2", "4", "6", "8"]),
        (0.3, 0.3, ["0", "0.1", "0.2", "0.3"]),
        (213, 300, ["0", "100", "200", "300"]),
        (1300, 1500, ["0", "0.5", "1", "1.5"]),
    ],
)
def test_values(maximum: float, top: float, labels: list[str]) -> None:
    """Steps of 1, 2 or 5, up to the first one that is not below the maximum."""
    axis = scales.values(maximum, MILLISECONDS)
    assert axis.top == pytest.approx(top)
    assert [tick.label for tick in axis.ticks] == labels
    assert (axis.ticks[0].at, axis.ticks[-1].at, axis.place(axis.top)) == (0, 1, 1)


def test_whole_values() -> None:
    """There is no half of a client."""
    assert [tick.label for tick in scales.values(1, counted("clients"), whole=True).ticks] == ["0", "1"]


@given(st.floats(0, 1e300))
def test_any_value_has_its_place(maximum: float) -> None:
    """It is on the axis, which is no longer than needed, and has few ticks."""
    axis = scales.values(maximum, BYTES)
    assert maximum <= axis.top * (1 + 1e-6)
    assert 2 <= len(axis.ticks) <= 6
    assert len({tick.label for tick in axis.ticks}) == len(axis.ticks)


@pytest.mark.parametrize(
    ("window", "labels"),
    [
        (timedelta(hours=24), ["21 Sep", "03:00", "06:00", "09:00", "12:00", "15:00", "18:00", "21:00", "22 Sep"]),
        (timedelta(minutes=30), ["21 Sep", "00:05", "00:10", "00:15", "00:20", "00:25", "00:30"]),
        (timedelta(days=7), ["21 Sep", "22 Sep", "23 Sep", "24 Sep", "25 Sep", "26 Sep", "27 Sep", "28 Sep"]),
    ],
)
def test_times(window: timedelta, labels: list[str]) -> None:
    """Round times; midnight is the day that begins. Every other one may go."""
    ticks = Times(DAY, DAY + window).ticks
    assert [tick.label for tick in ticks] == labels
    assert [tick.minor for tick in ticks[:4]] == [False, True, False, True]
    assert (ticks[0].at, ticks[-1].at) == (0, 1)


@given(st.integers(60, 400 * 24 * 3600), st.integers(0, 10**9))
def test_any_window_has_few_ticks(seconds: int, offset: int) -> None:
    """And all of them in it."""
    since = DAY + timedelta(seconds=offset)
    ticks = Times(since, since + timedelta(seconds=seconds)).ticks
    assert 1 <= len(ticks) <= 9
    assert all(0 <= tick.at <= 1 for tick in ticks)


def test_a_time_outside() -> None:
    """It is at the edge."""
    times = Times(DAY, DAY + timedelta(hours=1))
    assert (times.place(DAY - timedelta(hours=1)), times.place(DAY + timedelta(days=1))) == (0, 1)
