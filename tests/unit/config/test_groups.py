"""kproxy.config.groups: which groups kproxy hosts."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from kproxy.config import Config, GroupRule
from kproxy.config.reload import changes

CLUSTER = {"name": "orders", "bootstrap_servers": "a:1", "listen": "h:9092"}


def config(*rules: dict[str, Any], **settings: Any) -> Config:
    """A configuration whose one virtual cluster hosts groups by these rules."""
    return Config.model_validate({"clusters": [{**CLUSTER, "groups": list(rules)}], **settings})


def test_the_defaults_are_kafkas() -> None:
    """Except that a group has a limit."""
    rule = GroupRule(match="orders-.*")
    assert (rule.initial_rebalance_delay, rule.min_session_timeout, rule.max_session_timeout) == (3, 6, 1800)
    assert (rule.max_members, rule.leader, rule.offset_refresh) == (10_000, "first", 6 * 3600)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"match": ""}, "match"),
        ({}, "match"),
        ({"match": "orders-("}, "match"),
        ({"match": "*"}, "match"),
        (
            {"match": "a", "min_session_timeout": "2m", "max_session_timeout": "1m"},
            "is longer than",
        ),
        ({"match": "a", "leader": "oldest"}, "leader"),
        ({"match": "a", "max_members": 0}, "max_members"),
        ({"match": "a", "offset_refresh": 0}, "offset_refresh"),
        ({"match": "a", "initial_rebalance_delay": -1}, "initial_rebalance_delay"),
        ({"match": "a", "colour": "red"}, "colour"),
    ],
)
def test_what_is_refused(rule: dict[str, Any], message: str) -> None:
    """Each with the key at fault."""
    with pytest.raises(ValidationError, match=message):
        config(rule)


def test_one_of_several_replicas_hosts_no_groups() -> None:
    """Each would have a group of its own."""
    with pytest.raises(ValidationError, match=r"two members would get the same partition"):
        config({"match": "a"}, drain={"rebootstrap": True})
    assert config(drain={"rebootstrap": True}).clusters[0].groups == ()


@pytest.mark.parametrize(
    ("before", "after", "applies"),
    [([{"match": "a"}], [{"match": "b"}], True), ([], [{"match": "b"}], False), ([{"match": "a"}], [], False)],
)
def test_what_a_reload_may_change(before: list[Any], after: list[Any], applies: bool) -> None:
    """Rules, but not whether there are any: connections keep the policies that they began with."""
    found = changes(config(*before), config(*after))
    assert found.clusters == ({"orders": {"groups"}} if applies else {})
    assert found.restart == (() if applies else ("clusters.orders.groups",))
