"""kproxy.config.upstreams: the clusters behind a virtual cluster, and its failover."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from kproxy.config import Failover, Upstream
from kproxy.config.upstreams import problems
from tests.unit.config.problems import problems_of


def upstream(name: str) -> Upstream:
    """Return an upstream with a server."""
    return Upstream.model_validate({"name": name, "bootstrap_servers": "a:1"})


@pytest.mark.parametrize(
    ("model", "data", "problem"),
    [
        (Upstream, {"name": "East", "bootstrap_servers": "a:1"}, "name: 'East' is not a DNS label"),
        (Upstream, {"name": "east", "bootstrap_servers": ""}, "bootstrap_servers: must not be empty"),
        (Upstream, {"name": "east", "bootstrap_servers": "a:0"}, "bootstrap_servers.0: a:0 cannot be connected to"),
        (Upstream, {"bootstrap_servers": "a:1"}, "name: is required"),
        (Upstream, {"name": "a", "servers": "a:1", "bootstrap_servers": "a:1"}, "servers: is no setting"),
        (Failover, {"automatic": "maybe"}, "automatic: must be true or false, not 'maybe'"),
        (Failover, {"automatic": []}, "automatic: must be true or false, not a list"),
        (Failover, {"after": 0}, "after: must be at least 0.1, not 0"),
        (Failover, {"floor": "0s"}, "floor: must be at least 0.1, not 0"),
        (Failover, {"floor": "later"}, "floor: 'later' is not a duration"),
        (Failover, {"control_topic": "a b"}, "control_topic: 'a b' is no topic: at most 249 letters"),
        (Failover, {"standby_interval": 0}, "standby_interval: must be at least 0.1, not 0"),
        (Failover, {"hide_topic_ids_from": [""]}, "hide_topic_ids_from.0: '' is no software's name"),
        (Failover, {"hide_topic_ids_from": "kgo,franz go"}, "hide_topic_ids_from.1: 'franz go' is no software's name"),
        (Failover, {"hide_topic_ids_from": 5}, "hide_topic_ids_from: must be a list, not 5"),
        (Failover, {"config_map": "Orders"}, "config_map: 'Orders' is no name of a ConfigMap: at most 253"),
        (Failover, {"config_map": "a..b"}, "config_map: 'a..b' is no name of a ConfigMap"),
        (Failover, {"config_map": "a" * 254}, "config_map: 'aaa"),
    ],
)
def test_bad_values(model: type[BaseModel], data: Any, problem: str) -> None:
    """Each class of mistake has its own line, at its key."""
    (line,) = problems_of(model, data)
    assert line.startswith(problem)


def test_failover_is_off() -> None:
    """By default, kproxy switches no clients to another cluster."""
    switching = {"automatic": False, "after": 60, "floor": 600, "standby_interval": 60}
    defaults = {**switching, "hide_topic_ids_from": ("kgo",), "separate_producer_ids": None}
    defaults |= {"control_topic": None, "config_map": None}
    assert Failover().model_dump() == defaults


@pytest.mark.parametrize(("written", "names"), [("", ()), ([], ()), ("kgo, own", ("kgo", "own")), (["kgo"], ("kgo",))])
def test_software_from_which_topic_ids_are_hidden(written: Any, names: tuple[str, ...]) -> None:
    """A list, or one string with commas, as in a variable; an empty one switches it off."""
    assert Failover.model_validate({"hide_topic_ids_from": written}).hide_topic_ids_from == names


def test_names_are_given_once() -> None:
    """Each duplicate name is reported, with the first upstream that has it."""
    found = list(problems([upstream(name) for name in ("a", "b", "a", "a")], Failover()))
    assert found == [
        (("upstreams", 2, "name"), "'a' is also the name of upstreams.0"),
        (("upstreams", 3, "name"), "'a' is also the name of upstreams.0"),
    ]


def test_automatic_failover_needs_somewhere_to_go() -> None:
    """Automatic failover needs at least two upstreams."""
    automatic = Failover(automatic=True)
    assert [path for path, _ in problems([upstream("a")], automatic)] == [("failover", "automatic")]
    assert list(problems([upstream("a"), upstream("b")], automatic)) == []


@pytest.mark.parametrize("key", ["control_topic", "config_map"])
def test_there_is_something_to_agree_on(key: str) -> None:
    """Replicas agree on one of at least two upstreams."""
    agreeing = Failover.model_validate({key: "kproxy-orders"})
    assert list(problems([upstream("a")], agreeing)) == [
        (("failover", key), "needs at least two upstreams: there is nothing to agree on")
    ]
    assert list(problems([upstream("a"), upstream("b")], agreeing)) == []


def test_replicas_agree_in_one_way() -> None:
    """A topic and a ConfigMap could say different things."""
    both = Failover(control_topic="orders", config_map="orders")
    assert list(problems([upstream("a"), upstream("b")], both)) == [
        (("failover", "config_map"), "goes in place of control_topic: give one of them")
    ]
