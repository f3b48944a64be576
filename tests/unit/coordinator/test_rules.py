"""kproxy.coordinator.rules and settings: which groups are hosted, and with which settings."""

from __future__ import annotations

import pytest

from kproxy.config.groups import GroupRule
from kproxy.coordinator.rules import GroupRules
from kproxy.coordinator.settings import GroupSettings
from kproxy.errors import ConfigError

KEY = "clusters.a"


def test_the_first_rule_that_matches_the_whole_id_counts() -> None:
    """A group that no rule matches whole is its broker's."""
    rules = GroupRules([GroupRule(match="orders-.*", leader="random"), GroupRule(match=".*-eu", max_members=3)], KEY)
    first, second = rules.settings_of("orders-eu"), rules.settings_of("bills-eu")
    assert first is not None
    assert second is not None
    assert (first.leader, second.leader, second.max_members) == ("random", "first", 3)
    assert [rules.settings_of(name) for name in ("my-orders-1", "orders", "eu", "bills-eu-2", "")] == [None] * 5
    assert rules.settings_of("orders-eu") is first


def test_a_rules_settings_are_the_groups() -> None:
    """Each one reaches the group; the defaults are those of a broker."""
    rule = GroupRule(
        match="g",
        initial_rebalance_delay=1.5,
        min_session_timeout=2.0,
        max_session_timeout=40.0,
        max_members=7,
        leader="random",
    )
    assert GroupRules([rule], KEY).settings_of("g") == GroupSettings(1.5, 2.0, 40.0, 7, "random")
    default = GroupRules([GroupRule(match="g")], KEY).settings_of("g")
    assert default == GroupSettings(3.0, 6.0, 1800.0, 10_000, "first")


def test_any_number_of_group_ids_may_be_asked_for() -> None:
    """Answers are remembered, but for no more ids than a client should be able to have kept."""
    rules = GroupRules([GroupRule(match="[0-9]*[02468]")], KEY)
    for each in range(10_500):
        assert (rules.settings_of(str(each)) is None) == (each % 2 == 1)
    assert len(rules._known) <= 10_000
    assert rules.settings_of("10498") is not None


def test_a_long_id_is_not_remembered() -> None:
    """It is answered all the same: 10,000 of 32 kB would take 320 MB."""
    rules = GroupRules([GroupRule(match="a+")], KEY)
    for size in (256, 257, 32_000):
        assert rules.settings_of("a" * size) is not None
        assert rules.settings_of("a" * size + "b") is None
    assert {len(known) for known in rules._known} == {256}


@pytest.mark.parametrize(
    ("pattern", "said"),
    [("a(b", "'a(b' is not a regex (RE2): missing ): a(b"), ("\udc80", r"'\udc80' is not a regex (RE2): surrogates")],
)
def test_a_pattern_that_is_no_regex(pattern: str, said: str) -> None:
    """The error names the setting, the pattern and the reason."""
    with pytest.raises(ConfigError) as refused:
        GroupRules([GroupRule(match="ok"), GroupRule.model_construct(match=pattern)], KEY)
    assert str(refused.value).startswith(f"clusters.a.groups.1.match: {said}")
