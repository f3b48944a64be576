"""When the next poll is due."""

from __future__ import annotations

import pytest

from kproxy.topology.reachability import next_delay


@pytest.mark.parametrize(("rand", "delay"), [(0.0, 24), (0.5, 30), (1.0, 36)])
def test_all_well_the_interval_with_jitter_to_both_sides(rand: float, delay: float) -> None:
    """20 % of jitter spreads 30 s from 24 to 36."""
    assert next_delay(0, rand, interval=30, jitter=0.2, floor=1) == pytest.approx(delay)


@pytest.mark.parametrize(("failures", "delay"), [(1, 1), (2, 2), (5, 16), (6, 30), (10**6, 30)])
def test_failures_bring_the_next_poll_near_then_back_to_the_interval(failures: int, delay: float) -> None:
    """It grows from the floor, by doubling, to the interval, without overflow."""
    assert next_delay(failures, 0.5, interval=30, jitter=0.2, floor=1) == pytest.approx(delay)


@pytest.mark.parametrize("failures", [0, 1, 9])
def test_never_below_the_floor(failures: int) -> None:
    """Neither jitter nor an interval shorter than the floor makes it shorter."""
    assert next_delay(failures, 0.0, interval=0.5, jitter=0.9, floor=1) == 1
