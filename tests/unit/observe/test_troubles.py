"""kproxy's own troubles: what is counted, what is logged, what degrades readiness and for how long."""

from __future__ import annotations

import errno

import pytest

from kproxy.observe.troubles import (
    DESCRIPTORS,
    LOG_SECONDS,
    RECENT_SECONDS,
    SHORT_SECONDS,
    LogLimit,
    Troubles,
    Where,
    restart_delay,
)


def test_every_place_is_counted_from_zero() -> None:
    """Prometheus sees the first fault of a place as a rise."""
    troubles = Troubles()
    assert troubles.errors == dict.fromkeys(map(str, Where), 0)
    assert troubles.shortages == {"EMFILE": 0, "ENFILE": 0, "ENOBUFS": 0, "ENOMEM": 0}


def test_one_line_for_a_place_at_a_time() -> None:
    """A fault that repeats is counted each time, logged once; the next line says how many were left out."""
    troubles = Troubles()
    assert troubles.fault(Where.SWEEP, 100.0) == 0
    assert [troubles.fault(Where.SWEEP, 101.0), troubles.fault(Where.SWEEP, 99.9 + LOG_SECONDS)] == [None, None]
    assert troubles.fault(Where.PUMP, 101.0) == 0
    assert troubles.fault(Where.SWEEP, 100.0 + LOG_SECONDS) == 2
    assert troubles.fault(Where.SWEEP, 100.0 + 2 * LOG_SECONDS) == 0
    assert (troubles.errors["sweep"], troubles.errors["pump"]) == (5, 1)


def test_readiness_names_the_places_that_failed_lately() -> None:
    """In one order, and for a while; a fault in one client's frames is not among them: clients could cause it."""
    troubles = Troubles()
    for where in (Where.FAILOVER, Where.REQUEST, Where.PUMP):
        troubles.fault(where, 10.0)
    assert troubles.failing(10.0) == [Where.PUMP, Where.FAILOVER]
    troubles.fault(Where.PUMP, 20.0)
    assert troubles.failing(10.0 + RECENT_SECONDS) == [Where.PUMP]
    assert troubles.failing(20.0 + RECENT_SECONDS) == []


def test_a_shortage_lasts_while_it_is_met() -> None:
    """It is over a while after it was last met; what to do depends on what was refused."""
    troubles = Troubles()
    assert troubles.shortage(0.0) is None
    assert troubles.short(errno.EMFILE, 5.0) == 0
    assert troubles.short(errno.EMFILE, 6.0) is None
    assert troubles.shortage(5.9 + SHORT_SECONDS) == DESCRIPTORS
    assert troubles.shortage(6.0 + SHORT_SECONDS) is None
    assert troubles.short(errno.ENOBUFS, 30.0) == 0
    assert "memory" in str(troubles.shortage(30.0))
    assert troubles.shortages == {"EMFILE": 2, "ENFILE": 0, "ENOBUFS": 1, "ENOMEM": 0}


def test_lines_of_different_subjects_do_not_hold_each_other_back() -> None:
    """Each has its own time."""
    limit = LogLimit()
    assert [limit.due("a", 0.0), limit.due("b", 1.0), limit.due("a", 2.0), limit.due("b", 3.0)] == [0, 0, None, None]


@pytest.mark.parametrize(("failures", "span"), [(1, 0.1), (2, 0.2), (5, 1.6), (9, 25.6), (10, 30.0), (10_000, 30.0)])
def test_a_restart_waits_longer_each_time(failures: int, span: float) -> None:
    """Between half of the span and all of it, never longer than a fault degrades readiness."""
    assert restart_delay(failures, 0.0) == pytest.approx(span / 2)
    assert restart_delay(failures, 1.0) == pytest.approx(span)
    assert restart_delay(failures, 1.0) < RECENT_SECONDS
    assert restart_delay(failures, 1.0, longest=0.5) == pytest.approx(min(span, 0.5))
