"""kproxy.routing.strategy: the places that settings give to nodes."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.config import Config
from kproxy.config.server_names import NamePattern
from kproxy.routing.names import NodeNames
from kproxy.routing.places import NodePlaces
from kproxy.routing.ports import AutomaticPorts, OffsetPorts
from kproxy.routing.strategy import strategy_of

NAMES = NamePattern("b", ".example.com")


@pytest.mark.parametrize(
    ("nodes", "places"),
    [
        ({}, AutomaticPorts(9093, ((9190, 9190),), host="k")),
        ({"advertised_first_port": 19_000}, AutomaticPorts(9093, ((9190, 9190),), host="k", shift=9907)),
        ({"strategy": "offset"}, OffsetPorts(9093, host="k")),
        ({"strategy": "offset", "first_port": 9100}, OffsetPorts(9100, host="k")),
        ({"strategy": "offset", "ranges": "1001-1003, 0"}, OffsetPorts(9093, ((1001, 1003), (0, 0)), host="k")),
        ({"strategy": "sni", "pattern": "B$(node_id).Example.com."}, NodeNames(NAMES, 9092)),
        ({"strategy": "sni", "pattern": "b$(node_id).example.com", "advertised_port": 443}, NodeNames(NAMES, 443)),
    ],
)
def test_what_the_settings_mean(nodes: dict[str, Any], places: NodePlaces) -> None:
    """Only automatic ports can be chosen, so only these leave ports to others; names need no port but listen's."""
    cluster = {"name": "c", "bootstrap_servers": "a:1", "listen": "h:9092", "nodes": nodes, "advertised_host": "k"}
    settings = Config.model_validate({"clusters": [cluster | {"tls": {"certificate": "c"}}]}).clusters[0]
    assert strategy_of(settings, 9092, ((9190, 9190),)) == places


def test_any_free_port() -> None:
    """Where listen has port 0, and nothing is bound yet, nodes get any free port."""
    cluster = {"name": "c", "bootstrap_servers": "a:1", "listen": "h:0"}
    settings = Config.model_validate({"clusters": [cluster]}).clusters[0]
    assert strategy_of(settings, 0, ()) == AutomaticPorts(0)
