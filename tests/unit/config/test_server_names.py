"""kproxy.config.server_names: the names of nodes, and which patterns share one."""

from __future__ import annotations

import pytest

from kproxy.config.server_names import NamePattern, ServerNames, canonical

BROKERS = NamePattern.parse("Broker-$(node_id).Orders.example.com.")


def test_names_compare_without_case_and_final_dot() -> None:
    """Both are as DNS takes them; only one dot is the final one."""
    assert canonical("Broker-1.Example.COM.") == "broker-1.example.com"
    assert canonical("a..") == "a."
    assert NamePattern("broker-", ".orders.example.com") == BROKERS
    assert ServerNames("orders.example.com", BROKERS).nodes.name(7) == "broker-7.orders.example.com"


@pytest.mark.parametrize("node_id", [0, 7, 2147483647])
def test_a_name_is_the_node_s(node_id: int) -> None:
    """Every id that Kafka allows comes back."""
    assert BROKERS.node_id(BROKERS.name(node_id)) == node_id


@pytest.mark.parametrize(
    "name",
    [
        "",
        "broker-.orders.example.com",
        "broker-07.orders.example.com",
        "broker-00.orders.example.com",
        "broker-2147483648.orders.example.com",
        "broker-99999999999.orders.example.com",
        "broker--1.orders.example.com",
        "broker-1x.orders.example.com",
        "broker-\u0661.orders.example.com",
        "broker-1.orders.example.com.evil.example",
        "xbroker-1.orders.example.com",
        "orders.example.com",
    ],
)
def test_names_of_nobody(name: str) -> None:
    """Each node has one name, written as kproxy advertises it."""
    assert BROKERS.node_id(name) is None


def test_what_stands_before_and_behind_may_overlap() -> None:
    """The id lies between them, so a name shorter than both is nobody's."""
    assert NamePattern("aa", "aa").node_id("aaa") is None
    assert NamePattern("aa", "aa").node_id("aa1aa") == 1


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("b$(node_id).x", "b$(node_id).x", True),
        ("b$(node_id).x", "c$(node_id).x", False),
        ("b$(node_id).x", "b$(node_id).y", False),
        ("b$(node_id).x", "b1$(node_id).x", True),
        ("b$(node_id).x", "b0$(node_id).x", False),
        ("b$(node_id).x", "b$(node_id)5.x", True),
        ("k$(node_id)-7.x", "k5-$(node_id).x", True),
        ("k$(node_id)-7.x", "k05-$(node_id).x", False),
        ("k$(node_id)00.x", "k5$(node_id).x", True),
        ("k$(node_id)-07.x", "k5-$(node_id).x", False),
        ("k$(node_id)1.x", "k2147483648$(node_id).x", False),
        ("k$(node_id)9.x", "k214748364$(node_id).x", True),
    ],
)
def test_patterns_that_share_a_name(one: str, other: str, shared: bool) -> None:
    """The shared name is a node's of both; the order does not matter."""
    first, second = NamePattern.parse(one), NamePattern.parse(other)
    for pair in ((first, second), (second, first)):
        name = pair[0].shared_with(pair[1])
        assert (name is not None) is shared
        if name is not None:
            assert first.node_id(name) is not None
            assert second.node_id(name) is not None
