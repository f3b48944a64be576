"""kproxy.demo.figures: numbers as text."""

from __future__ import annotations

import pytest

from kproxy.demo.figures import bars, latency, plain, tick
from tests.unit.demo.boards import ended


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(None, "–"), (0.0854, "85 µs"), (1, "1.0 ms"), (99.94, "99.9 ms"), (233.4, "233 ms"), (1204, "1.20 s")],
)
def test_latency(milliseconds: float | None, text: str) -> None:
    """A latency has a suitable unit."""
    assert latency(milliseconds) == text


@pytest.mark.parametrize(("milliseconds", "text"), [(0.1, "100 µs"), (1, "1 ms"), (10, "10 ms"), (1000, "1 s")])
def test_tick(milliseconds: float, text: str) -> None:
    """A label on an axis is short."""
    assert tick(milliseconds) == text


@pytest.mark.parametrize(
    ("values", "text"),
    [([], ""), ([0, 0], "▁▁"), ([0, 4, 8], "▁▅█"), ([1, None, 1], "█ █"), ([9, 1, 1, 1, 1, 1], "█████")],
)
def test_bars(values: list[float | None], text: str) -> None:
    """The last values are shown, relative to the largest."""
    assert bars(values, 5) == text


def test_plain() -> None:
    """The line is aligned, even with missing values."""
    first, second = (plain(moment) for moment in ended().moments)
    assert first.startswith(
        "  1.0 s  produced    110/s  consumed    100/s  p50  3.0 ms  p99 12.0 ms  within kproxy p50"
    )
    assert len(first) == len(second)
    assert "p50       –" in second
