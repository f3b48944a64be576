"""kproxy.demo.pace: the number of records that are due."""

from __future__ import annotations

import pytest

from kproxy.demo.pace import STAIRS, Pace


@pytest.mark.parametrize(
    ("elapsed", "due"), [(0, 0), (1, 100), (2, 200), (3, 400), (4, 600), (5, 1000), (6, 1400), (7, 1400), (10**9, 1400)]
)
def test_stairs(elapsed: float, due: int) -> None:
    """Each rate applies for its share of the time, and nothing is due after the end."""
    assert Pace((100, 200, 400), 6).due(elapsed) == due


def test_it_never_falls() -> None:
    """The number never falls, not even at a change of rate."""
    pace = Pace(STAIRS, 20)
    due = [pace.due(step / 100) for step in range(2_100)]
    assert due == sorted(due)
    assert due[-1] == sum(STAIRS) * 20 / len(STAIRS)


def test_one_rate_for_ever() -> None:
    """The trickle while the demo stays up."""
    assert Pace((50,), 10**8).due(3600) == 180_000
