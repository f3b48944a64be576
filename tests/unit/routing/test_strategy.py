"""kproxy.routing.ports: the port strategy of settings."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.config import Config
from kproxy.routing.ports import AutomaticPorts, OffsetPorts, PortStrategy, port_strategy


@pytest.mark.parametrize(
    ("nodes", "ports"),
    [
        ({}, AutomaticPorts(9093, ((9190, 9190),))),
        ({"strategy": "offset"}, OffsetPorts(9093)),
        ({"strategy": "offset", "ranges": "1001-1003, 0"}, OffsetPorts(9093, ((1001, 1003), (0, 0)))),
    ],
)
def test_what_the_settings_mean(nodes: dict[str, Any], ports: PortStrategy) -> None:
    """Only automatic ports can be chosen, so only these leave ports to others."""
    cluster = {"name": "c", "bootstrap_servers": "a:1", "listen": "h:9092", "nodes": nodes}
    settings = Config.model_validate({"clusters": [cluster]}).clusters[0]
    assert port_strategy(settings, 9093, ((9190, 9190),)) == ports
