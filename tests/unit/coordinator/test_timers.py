"""kproxy.coordinator.timers: what is called when, for timers that are set, set again, stopped and dropped."""

from __future__ import annotations

import pytest

from kproxy.coordinator.timers import Timer, Timers


class Calls(list[tuple[str, float]]):
    """Timers by name, and their calls with the time."""

    def __init__(self) -> None:
        super().__init__()
        self.timers = Timers()

    def timer(self, name: str) -> Timer:
        return Timer(lambda now: self.append((name, now)))


def test_due_timers_are_called_in_their_order() -> None:
    """The earliest first, of equal ones the one that was set first; each once."""
    calls = Calls()
    for name, at in (("late", 9.0), ("b", 2.0), ("a", 1.0), ("c", 2.0)):
        calls.timers.set(calls.timer(name), at)
    assert calls.timers.next == 1.0
    calls.timers.fire(0.5)
    assert calls == []
    calls.timers.fire(2.5)
    assert calls == [("a", 2.5), ("b", 2.5), ("c", 2.5)]
    calls.timers.fire(2.6)
    assert (len(calls), calls.timers.next) == (3, 9.0)


def test_no_timer_at_all() -> None:
    """There is no time at which to be called."""
    timers = Timers()
    timers.fire(1.0)
    assert timers.next is None


def test_a_timer_that_is_set_later() -> None:
    """As at each heartbeat: it is called once, at the last time."""
    calls = Calls()
    timer = calls.timer("session")
    for at in (5.0, 6.0, 7.0):
        calls.timers.set(timer, at)
    calls.timers.fire(6.5)
    assert (calls, calls.timers.next) == ([], 7.0)
    calls.timers.fire(7.0)
    calls.timers.fire(20.0)
    assert (calls, calls.timers.next) == ([("session", 7.0)], None)


def test_a_timer_that_is_set_earlier() -> None:
    """It is called at the earlier time, and not again at the one before."""
    calls = Calls()
    timer = calls.timer("session")
    calls.timers.set(timer, 300.0)
    calls.timers.set(timer, 10.0)
    calls.timers.fire(10.0)
    calls.timers.fire(300.0)
    assert calls == [("session", 10.0)]


def test_a_timer_whose_old_entry_is_left_is_called_once() -> None:
    """It was set earlier, called, and set to the time of its first entry."""
    calls = Calls()
    timer = calls.timer("session")
    calls.timers.set(timer, 10.0)
    calls.timers.set(timer, 5.0)
    calls.timers.fire(5.0)
    calls.timers.set(timer, 10.0)
    calls.timers.fire(10.0)
    assert calls == [("session", 5.0), ("session", 10.0)]


def test_a_stopped_timer_and_a_dropped_one() -> None:
    """Neither is called; a stopped one may be set again, a dropped one never."""
    calls = Calls()
    stopped, dropped = calls.timer("stopped"), calls.timer("dropped")
    for timer in (stopped, dropped):
        calls.timers.set(timer, 1.0)
    stopped.stop()
    dropped.drop()
    calls.timers.fire(1.0)
    assert calls == []
    for timer in (stopped, dropped):
        calls.timers.set(timer, 2.0)
    calls.timers.fire(2.0)
    assert (calls, dropped.action) == ([("stopped", 2.0)], None)


def test_an_action_that_changes_other_timers() -> None:
    """A timer that is stopped or set later by an action before it is not called any more."""
    calls = Calls()
    stopped, later = calls.timer("stopped"), calls.timer("later")

    def first(now: float) -> None:
        stopped.stop()
        calls.timers.set(later, now + 5)

    calls.timers.set(Timer(first), 1.0)
    calls.timers.set(stopped, 2.0)
    calls.timers.set(later, 2.0)
    calls.timers.fire(2.0)
    assert calls == []
    calls.timers.fire(7.0)
    assert calls == [("later", 7.0)]


def test_a_timer_that_sets_itself_to_now_ends_no_call() -> None:
    """It is called once a call, or the process would do nothing else."""
    timers, called = Timers(), []

    def again(now: float) -> None:
        called.append(now)
        timers.set(timer, now)

    timer = Timer(again)
    timers.set(timer, 1.0)
    timers.fire(1.0)
    assert (called, timers.next) == ([1.0], 1.0)
    timers.fire(1.5)
    assert called == [1.0, 1.5]


def test_an_action_that_fails() -> None:
    """It is not called again; the timers after it are called by the next call, in their order."""
    calls = Calls()

    def fail(now: float) -> None:
        raise ValueError(now)

    for timer, at in ((calls.timer("a"), 1.0), (Timer(fail), 2.0), (calls.timer("b"), 3.0), (calls.timer("c"), 4.0)):
        calls.timers.set(timer, at)
    with pytest.raises(ValueError, match=r"5\.0"):
        calls.timers.fire(5.0)
    assert (calls, calls.timers.next) == ([("a", 5.0)], 3.0)
    calls.timers.fire(6.0)
    assert (calls, calls.timers.next) == ([("a", 5.0), ("b", 6.0), ("c", 6.0)], None)
