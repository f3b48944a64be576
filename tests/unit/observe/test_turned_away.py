"""Brokers that turn clients away: how many ends, over how long and how long ago, are worth a warning."""

from __future__ import annotations

import pytest

from kproxy.observe.turned_away import ENOUGH, LASTING_SECONDS, RECENT_SECONDS, TurnedAway

K1, K2 = "k1:9092", "k2:9092"


def after(*ends: tuple[str, float]) -> TurnedAway:
    """Return what has noted these ends."""
    noted = TurnedAway()
    for broker, at in ends:
        noted.note(broker, at)
    return noted


def again_and_again(broker: str, since: float) -> list[tuple[str, float]]:
    """Return the fewest ends that make a warning."""
    return [(broker, since), *[(broker, since + LASTING_SECONDS)] * (ENOUGH - 1)]


def test_a_broker_that_stops() -> None:
    """It ends a hundred connections at once, and so does the next one. One that goes on is named."""
    noted = after(*[(K1, 1.0)] * 100, *[(K2, 2.0)] * 100)
    assert noted.lately(2.0) == []
    noted.note(K1, 1.0 + LASTING_SECONDS - 0.1)
    assert noted.lately(6.0) == []
    noted.note(K1, 1.0 + LASTING_SECONDS)
    assert noted.lately(6.0) == [K1]


def test_accidents() -> None:
    """Two ends, and any number of ends that are more than a minute apart."""
    assert after((K1, 1.0), (K1, 31.0)).lately(31.0) == []
    assert after(*[(K1, number * RECENT_SECONDS) for number in range(100)]).lately(99 * RECENT_SECONDS) == []


@pytest.mark.parametrize(("seconds", "named"), [(0.0, [K1]), (RECENT_SECONDS - 0.1, [K1]), (RECENT_SECONDS, [])])
def test_the_warning_stays_for_a_minute(seconds: float, named: list[str]) -> None:
    """From the last end on."""
    assert after(*again_and_again(K1, 10.0)).lately(10.0 + LASTING_SECONDS + seconds) == named


def test_brokers_of_long_ago_are_forgotten() -> None:
    """Their addresses may never come again."""
    noted = after((K1, 0.0), (K2, 1.0), ("k3:9092", RECENT_SECONDS))
    assert noted.brokers == {K2, "k3:9092"}


def test_the_warnings_are_in_one_order() -> None:
    """Whoever asks twice can compare."""
    both = sorted((*again_and_again(K2, 0.0), *again_and_again(K1, 0.0)), key=lambda end: end[1])
    assert after(*both).lately(LASTING_SECONDS) == [K1, K2]
