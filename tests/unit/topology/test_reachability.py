"""Since when a broker or cluster is reachable or not, and when that must be reported."""

from __future__ import annotations

from kproxy.topology.reachability import Reachability, flipped, observed


def test_the_first_observation_counts_from_now_and_is_reported() -> None:
    """Whether it is good or bad."""
    assert observed(None, None, 5) == Reachability(ok=True, since=5)
    assert observed(None, "refused", 5) == Reachability(ok=False, since=5, error="refused")
    assert flipped(None, Reachability(ok=True, since=5))


def test_more_of_the_same_keeps_the_moment_and_takes_the_newest_reason() -> None:
    """`since` is the time of the change, the reason that of the last attempt; nothing is reported."""
    first = Reachability(ok=False, since=5, error="refused")
    second = observed(first, "timed out", 9)
    assert second == Reachability(ok=False, since=5, error="timed out")
    assert not flipped(first, second)


def test_a_flip_counts_from_now_and_is_reported() -> None:
    """Down, and up again."""
    up = Reachability(ok=True, since=1)
    down = observed(up, "refused", 7)
    assert down == Reachability(ok=False, since=7, error="refused")
    assert observed(down, None, 9) == Reachability(ok=True, since=9)
    assert flipped(up, down)
