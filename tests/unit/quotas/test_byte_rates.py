"""kproxy.quotas.byte_rates: who is throttled, and for how long."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.config.byte_rates import PrincipalByteRate
from kproxy.quotas.byte_rates import LONGEST_SECONDS, ByteRates

ALICE, BOB = "User:alice", "User:bob"


def rates(*rules: dict[str, Any]) -> ByteRates:
    """The rates of these rules."""
    return ByteRates([PrincipalByteRate(**rule) for rule in rules])


def test_a_second_may_come_at_once() -> None:
    """What is above a second's bytes is waited for; who has waited may go on."""
    found = rates({"principal": ".*", "produce": 100})
    assert [found.produced(ALICE, 50, 10.0) for _ in range(3)] == [0.0, 0.0, 0.5]
    assert found.produced(ALICE, 50, 10.5) == pytest.approx(0.5)
    assert found.produced(ALICE, 50, 20.0) == 0.0


def test_nobody_waits_for_ever() -> None:
    """One request may be larger than many seconds' bytes; what is left counts for the next one."""
    found = rates({"principal": ".*", "fetch": 1})
    assert found.fetched(ALICE, 25, 0.0) == LONGEST_SECONDS
    assert found.fetched(ALICE, 1, 20.0) == pytest.approx(5.0)


def test_a_burst_over_many_connections() -> None:
    """Each of many that do not wait for each other is throttled; who comes a wait later is not."""
    found = rates({"principal": ".*", "produce": 10})
    assert [found.produced(ALICE, 100, 0.0) for _ in range(300)][-1] == LONGEST_SECONDS
    assert found.produced(ALICE, 1, LONGEST_SECONDS + 12) == 0.0


def test_each_principal_and_each_direction_has_its_own() -> None:
    """One that uses up its rate takes nothing of another's, nor of its own other direction."""
    found = rates({"principal": "User:.*", "produce": 100, "fetch": 100})
    assert found.produced(ALICE, 300, 0.0) == 2.0
    assert (found.produced(BOB, 100, 0.0), found.fetched(ALICE, 100, 0.0)) == (0.0, 0.0)


def test_the_first_rule_that_matches_counts() -> None:
    """The whole principal must match; without a rule, or a rate of this direction, there is no limit."""
    found = rates({"principal": "User:a", "produce": 1}, {"principal": "User:a.*", "produce": 1000})
    assert found.produced("User:a", 11, 0.0) == 10.0
    assert found.produced(ALICE, 1000, 0.0) == 0.0
    assert found.produced(ALICE, 1000, 0.0) == 1.0
    assert found.produced(BOB, 10**9, 0.0) == found.fetched("User:a", 10**9, 0.0) == 0.0


def test_who_has_not_authenticated_is_anonymous() -> None:
    """As Kafka calls it."""
    found = rates({"principal": "User:ANONYMOUS", "produce": 1, "fetch": 2})
    assert (found.produced(None, 3, 0.0), found.fetched(None, 4, 0.0)) == (2.0, 1.0)


def test_other_rules_count_from_then_on() -> None:
    """What was used up before stays so."""
    found = rates({"principal": ".*", "produce": 100})
    found.produced(ALICE, 200, 0.0)
    found.adopt([PrincipalByteRate(principal=".*", produce=200)])
    assert found.produced(ALICE, 200, 0.0) == 2.0
    found.adopt([])
    assert (bool(found), found.produced(ALICE, 10**9, 0.0)) == (False, 0.0)


def test_memory_is_bounded() -> None:
    """Who has used nothing is forgotten, however many there are; so are the rules of many principals."""
    found = rates({"principal": ".*", "produce": 100})
    for number in range(25_000):
        found.produced(f"User:{number}", 1, number * 0.01)
    assert len(found) < 200
    assert len(found._rates._known) <= 10_000


def test_a_pattern_that_is_no_regex() -> None:
    """It is refused when the configuration is read, so a reload changes nothing."""
    with pytest.raises(ValueError, match=r"'\(' is not a regex \(RE2\): missing \)"):
        PrincipalByteRate(principal="(", produce=1)


def test_a_rule_without_a_rate() -> None:
    """It says what is missing."""
    with pytest.raises(ValueError, match="names no rate: give produce, fetch or both"):
        PrincipalByteRate(principal=".*")
