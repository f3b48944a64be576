"""Requests that come too slowly, whole: a byte now and then does not save them."""

from __future__ import annotations

from kproxy.relay.slow_requests import SlowRequests


def first_late(slow: SlowRequests, rate: float, *, sweeps: int = 2000, requests: int = 0) -> int | None:
    """Return the first of the sweeps, one a second, that finds a client late which sends `rate` bytes a second."""
    for second in range(sweeps):
        slow.next_sweep()
        if slow.look(1, requests, int(rate * second), float(second)):
            return second
    return None


def test_a_byte_every_three_seconds() -> None:
    """It ends the connection after the whole request's time."""
    assert first_late(SlowRequests(60.0, 1024), 1 / 3) in (61, 62)


def test_a_large_request_over_a_slow_link() -> None:
    """At the least rate or above it may take as long as it needs: 100 MiB at 16 kB/s is two hours."""
    assert first_late(SlowRequests(60.0, 1024), 1024, sweeps=8000) is None
    assert first_late(SlowRequests(60.0, 1024), 16_000, sweeps=8000) is None


def test_half_the_least_rate() -> None:
    """It takes twice as long until it is noticed."""
    assert first_late(SlowRequests(60.0, 1024), 512) in (120, 121, 122)


def test_another_request_has_its_own_time() -> None:
    """A client that sends requests all the time is always in mid-request, but in another one."""
    slow = SlowRequests(2.0, 1024)
    for second in range(100):
        slow.next_sweep()
        assert not slow.look(1, second // 2, second, float(second))


def test_a_break_begins_anew() -> None:
    """A sweep that did not look at the connection has forgotten it: it was whole, or waited for the broker."""
    slow = SlowRequests(3.0, 1024)
    for second in range(100):
        slow.next_sweep()
        if second % 3:
            assert not slow.look(1, 0, 0, float(second))
    slow.next_sweep()
    assert len(slow) == 0


def test_time_is_counted_by_connection() -> None:
    """One connection's bytes do not help another."""
    slow = SlowRequests(3.0, 1)
    late = []
    for second in range(6):
        slow.next_sweep()
        late.append((slow.look(1, 0, 100 * second, float(second)), slow.look(2, 0, 0, float(second))))
    assert late == [(False, second > 3) for second in range(6)]
