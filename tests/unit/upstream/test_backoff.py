"""Backoff: exponential, capped, full jitter."""

from __future__ import annotations

import pytest

from kproxy.upstream.attempts import BASE, CAP, full_jitter


def test_no_failure_waits_not_at_all() -> None:
    """The random number does not matter then."""
    assert full_jitter(0, 0.99) == 0


@pytest.mark.parametrize(("failures", "ceiling"), [(1, 0.05), (2, 0.1), (3, 0.2), (6, 1.6), (7, 2.0), (10**6, 2.0)])
def test_the_ceiling_doubles_up_to_the_cap(failures: int, ceiling: float) -> None:
    """Each failure doubles what the wait is drawn from, and a million failures neither exceed the cap nor overflow."""
    assert (BASE, CAP) == (0.05, 2.0)
    assert full_jitter(failures, 0.5) == pytest.approx(ceiling / 2)


def test_the_whole_span_is_drawn_from() -> None:
    """Jitter is full: from zero up to, but not including, the ceiling."""
    assert full_jitter(7, 0.0) == 0
    assert CAP * 0.99 < full_jitter(7, 0.999) < CAP


def test_base_and_cap_can_be_set() -> None:
    """A caller's own base and cap are used."""
    assert full_jitter(1, 0.5, base=4, cap=100) == 2
    assert full_jitter(9, 0.5, base=4, cap=100) == 50
