"""The watchdog tells of a loop that stands still, while it stands still."""

from __future__ import annotations

import time
from math import inf

from structlog.testing import capture_logs

from kproxy.observe.loop_lag import LoopLag
from kproxy.observe.watchdog import watched_loop

DEADLINE = 10.0


def stand_still_until_told(lag: LoopLag, what: str) -> None:
    """Keep this thread busy, as a loop that stands still."""
    ends = time.monotonic() + DEADLINE
    while not lag.stalls[what] and time.monotonic() < ends:
        pass


def test_a_loop_that_stands_still_is_told_while_it_does() -> None:
    """The line comes from the other thread, with the place where this one is."""
    lag = LoopLag()
    with capture_logs() as lines, watched_loop(lag):
        begun = lag.busy_since = time.monotonic()
        stand_still_until_told(lag, "loop")
        took = time.monotonic() - begun
        while not lines and time.monotonic() < begun + DEADLINE:
            pass
        assert lines
    assert 0.25 <= took < DEADLINE
    assert lag.stalls == {"loop": 1, "tasks": 0}
    assert lines[0]["seconds"] >= 0.25
    assert any("stand_still_until_told" in frame for frame in lines[0]["stack"])
    assert "test_watchdog" in lines[0]["stack"][-1]


def test_tasks_that_do_not_run_are_told_although_the_loop_polls() -> None:
    """A task of Trio's is overdue."""
    lag = LoopLag()
    with capture_logs() as lines, watched_loop(lag):
        lag.beat_due = time.monotonic()
        stand_still_until_told(lag, "tasks")
    assert lag.stalls == {"loop": 0, "tasks": 1}
    assert "tasks" in lines[0]["event"]


def test_a_loop_that_waits_does_not_stand_still() -> None:
    """An idle loop is in its poll for as long as nothing comes."""
    lag = LoopLag()
    with capture_logs() as lines, watched_loop(lag):
        ends = time.monotonic() + 0.6
        while time.monotonic() < ends:
            lag.busy_since = time.monotonic()
            lag.busy_since = inf
    assert lag.stalls == {"loop": 0, "tasks": 0}
    assert not lines
