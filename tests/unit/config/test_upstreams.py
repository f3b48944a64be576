"""kproxy.config.upstreams: the clusters behind a virtual cluster, and when it fails over."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from kproxy.config import Failover, Upstream
from kproxy.config.upstreams import problems
from tests.unit.config.problems import problems_of


def upstream(name: str) -> Upstream:
    """An upstream with a server."""
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
    ],
)
def test_bad_values(model: type[BaseModel], data: Any, problem: str) -> None:
    """Each class of mistake has its own line, at its key."""
    (line,) = problems_of(model, data)
    assert line.startswith(problem)


def test_failover_is_off() -> None:
    """Nobody's clients go to another cluster by default."""
    assert Failover().model_dump() == {"automatic": False, "after": 60, "floor": 600}


def test_names_are_given_once() -> None:
    """Each further one is told, with the first that has the name."""
    found = list(problems([upstream(name) for name in ("a", "b", "a", "a")], Failover()))
    assert found == [
        (("upstreams", 2, "name"), "'a' is also the name of upstreams.0"),
        (("upstreams", 3, "name"), "'a' is also the name of upstreams.0"),
    ]


def test_automatic_failover_needs_somewhere_to_go() -> None:
    """Two upstreams at least."""
    automatic = Failover(automatic=True)
    assert [path for path, _ in problems([upstream("a")], automatic)] == [("failover", "automatic")]
    assert list(problems([upstream("a"), upstream("b")], automatic)) == []
