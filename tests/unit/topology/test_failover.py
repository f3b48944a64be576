"""When another upstream is due: only after a long outage without a break, seldom, and only when enabled."""

from __future__ import annotations

import pytest

from kproxy.topology.failover import AFTER, FLOOR, Failover


def failover(upstreams: int = 3, *, floor: float = 600, active: int = 0) -> Failover:
    """Automatic, after 60 s, at most every 600 s."""
    return Failover(upstreams, automatic=True, after=60, floor=floor, active=active)


def test_off_by_default() -> None:
    """Offsets and data are the operator's: nothing switches unless it is enabled."""
    quiet = Failover(2)
    quiet.observe(False, 0)
    assert not quiet.due(10**9)
    assert (quiet.after, quiet.floor) == (AFTER, FLOOR) == (60, 600)


def test_due_after_the_time_without_a_break() -> None:
    """Not a moment before, counted from the first failure, not from the last."""
    watched = failover()
    watched.observe(False, 100)
    watched.observe(False, 140)
    assert not watched.due(159.9)
    assert watched.due(160)


def test_one_answer_ends_what_was_counted() -> None:
    """An upstream that comes and goes is kept."""
    watched = failover()
    for now in range(0, 600, 50):
        watched.observe(False, now)
        watched.observe(True, now + 25)
        assert not watched.due(now + 49)
    assert watched.down_since is None


def test_nothing_is_due_before_anything_was_observed() -> None:
    """A start is no outage."""
    assert not failover().due(10**9)


def test_a_single_upstream_has_nowhere_to_go() -> None:
    """Its outage may last any time."""
    alone = failover(1)
    alone.observe(False, 0)
    assert not alone.due(10**9)
    assert alone.candidates(0) == []


@pytest.mark.parametrize(("active", "others"), [(0, [1, 2]), (1, [0, 2]), (2, [0, 1])])
def test_candidates_are_the_others_in_order(active: int, others: list[int]) -> None:
    """The configuration's order is the order of preference."""
    assert list(failover().candidates(active)) == others


def test_the_floor_between_switches() -> None:
    """It is down again at once: the next switch waits, then depends on the state at that time."""
    watched = failover()
    watched.switched(1, 1000)
    assert (watched.active, watched.down_since, watched.switched_at) == (1, None, 1000)
    watched.observe(False, 1001)
    assert not watched.due(1599.9)
    assert watched.due(1600)
    watched.observe(True, 1599)
    assert not watched.due(1600)


def test_it_never_goes_back_by_itself_while_the_active_one_answers() -> None:
    """That the first in the order is well again is no reason."""
    watched = failover(active=1)
    for now in range(0, 100_000, 100):
        watched.observe(True, now)
        assert not watched.due(now)


def test_what_was_known_of_the_left_one_is_not_held_against_the_next() -> None:
    """The outage is counted anew from the switch."""
    watched = failover(floor=0)
    watched.observe(False, 0)
    assert watched.due(60)
    watched.switched(1, 60)
    assert not watched.due(60)
    watched.observe(False, 61)
    assert not watched.due(120)
    assert watched.due(121)


def test_time_in_which_kproxy_could_not_ask_does_not_count() -> None:
    """Nothing is due then, and afterwards the outage must last as long as ever in sight."""
    failover = Failover(2, automatic=True, after=60.0)
    failover.observe(False, 0.0)
    failover.observe(False, 50.0)
    failover.observe(None, 51.0)
    failover.observe(None, 500.0)
    assert not failover.due(500.0)
    failover.observe(False, 501.0)
    assert not failover.due(501.0)
    assert failover.due(511.0)


def test_no_outage_begins_in_the_dark() -> None:
    """An upstream that was fine stays so."""
    failover = Failover(2, automatic=True, after=60.0)
    failover.observe(None, 0.0)
    failover.observe(None, 100.0)
    assert failover.down_since is None
    assert not failover.due(100.0)
