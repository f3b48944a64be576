"""When the loop counts as standing still, when that is told, and when the watchdog looks again."""

from __future__ import annotations

from math import inf

import pytest

from kproxy.observe.loop_lag import BRIEF, LAG_BOUNDS, LoopLag
from kproxy.observe.stalls import STALL_SECONDS, Stall, Stalls, next_look


def test_a_stall_is_told_when_it_begins_to_be_one_and_then_ever_more_seldom() -> None:
    """Its first line cannot say how long it will last, so others follow, each when it is four times as long."""
    stalls = Stalls()
    looks = [stalls.look(10.0, inf, 10.0 + seconds) for seconds in (0.24, 0.25, 0.3, 0.99, 1.0, 3.9, 4.0)]
    assert looks == [None, Stall("loop", 0.25, 0), None, None, Stall("loop", 1.0, 1), None, Stall("loop", 4.0, 2)]
    assert stalls.look(inf, inf, 15.0) is None
    assert stalls.look(15.0, inf, 15.5) == Stall("loop", 0.5, 0)


def test_tasks_that_stand_still_while_the_loop_polls() -> None:
    """A task that is due and does not run is told, unless the loop as a whole stands still: then that is the cause."""
    stalls = Stalls()
    assert stalls.look(inf, 10.0, 10.125) is None
    assert stalls.look(10.25, 10.0, 10.375) == Stall("tasks", 0.375, 0)
    assert stalls.look(10.25, 10.0, 10.5) == Stall("loop", 0.25, 0)
    assert stalls.look(inf, 11.25, 10.625) is None


@pytest.mark.parametrize(
    ("busy_since", "beat_due", "seconds"),
    [
        (inf, inf, STALL_SECONDS),
        (9.9, inf, 0.15),
        (inf, 9.8, 0.05),
        (9.9, 9.8, 0.05),
        (9.0, inf, STALL_SECONDS),
        (inf, 10.9, STALL_SECONDS),
    ],
)
def test_every_stall_is_met(busy_since: float, beat_due: float, seconds: float) -> None:
    """The next look comes when what is busy now has become a stall, and before anything later can have."""
    assert next_look(busy_since, beat_due, 10.0) == pytest.approx(seconds)


def test_the_loops_busy_time_is_counted_from_poll_to_poll() -> None:
    """Each stretch is in its bucket, and the sum has all, also those that were added up before."""
    lag = LoopLag()
    for busy in (LAG_BOUNDS[0], 0.04, 99.0):
        lag.observe(busy)
    lag.observe_brief(3, 0.0005)
    assert lag.total == pytest.approx(99.0415)
    assert sum(lag.counts) == 6
    assert (lag.counts[0], lag.counts[LAG_BOUNDS.index(0.05)], lag.counts[-1]) == (4, 1, 1)
    assert LAG_BOUNDS[0] == BRIEF
