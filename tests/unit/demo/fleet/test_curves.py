"""kproxy.demo.fleet.curves: what is done adds up, over midnight too."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproxy.demo.fleet.curves import DAY, busy, done, ramp

TIMES = st.floats(-20 * DAY, DAY)


@given(st.tuples(TIMES, TIMES, TIMES).map(sorted))
def test_done_adds_up(times: list[float]) -> None:
    """From one time to the next, and to the one after."""
    first, second, third = times
    assert done(first, second) >= 0
    assert done(first, third) == pytest.approx(done(first, second) + done(second, third), abs=1e-3)


def test_the_busiest_time_is_in_the_evening() -> None:
    """At night little is done, but something."""
    hours = [busy(hour / 4) for hour in range(96)]
    assert 0.2 < min(hours) < 0.35
    assert max(hours) == busy(20) == 1.0 == hours[80]
    assert done(0, DAY) == pytest.approx(sum(hours) * DAY / 96, rel=0.01)


def test_a_ramp() -> None:
    """From one value to the other, without a step."""
    curve = ramp(1.0, 5.0, 10.0, 12.0)
    assert [curve(hour) for hour in (0, 10, 11, 12, 24)] == [1.0, 1.0, 3.0, 5.0, 5.0]
