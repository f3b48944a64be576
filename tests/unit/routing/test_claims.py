"""kproxy.routing.ports: the ports that a virtual cluster leaves to others."""

from __future__ import annotations

from typing import Any

from kproxy.config import Config
from kproxy.routing.ports import claimed_by_others


def config(*clusters: dict[str, Any], admin: str | None = None) -> Config:
    """Return a configuration with clusters named c0, c1, ..."""
    named = [{"name": f"c{i}", "bootstrap_servers": "b:9092"} | cluster for i, cluster in enumerate(clusters)]
    return Config.model_validate({"clusters": named, "admin": admin})


def test_listeners_and_ranges_of_others() -> None:
    """The admin port, other clusters' bootstrap ports and ranges are claimed; lower ports do not matter."""
    settings = config(
        {"listen": "0.0.0.0:9092"},
        {"listen": "0.0.0.0:9095", "nodes": {"strategy": "offset", "first_port": 9200, "ranges": "0-4,1001"}},
        {"listen": "0.0.0.0:8000", "nodes": {"first_port": 9300}},
        admin="127.0.0.1:9190",
    )
    assert claimed_by_others(settings, 0) == ((9095, 9095), (9190, 9190), (9200, 9205), (9300, 9300))
    assert claimed_by_others(settings, 2) == ()


def test_offset_without_ranges_claims_all_above() -> None:
    """Its nodes have no choice of ports; those of an automatic cluster below have. One above leaves its first port."""
    settings = config(
        {"listen": "0.0.0.0:9092"},
        {"listen": "0.0.0.0:9192", "nodes": {"strategy": "offset"}},
        {"listen": "0.0.0.0:9492"},
    )
    assert claimed_by_others(settings, 0) == ((9192, 9192), (9193, 65535), (9492, 9492), (9493, 9493))


def test_own_bootstrap_port_is_claimed() -> None:
    """Nodes that begin below the bootstrap port skip it."""
    assert claimed_by_others(config({"listen": "0.0.0.0:9095", "nodes": {"first_port": 9093}}), 0) == ((9095, 9095),)


def test_other_interfaces_do_not_matter() -> None:
    """The same port on another address is free, and port 0 claims none."""
    settings = config(
        {"listen": "127.0.0.1:9092"}, {"listen": "127.0.0.2:9095"}, {"listen": "127.0.0.1:0"}, admin="[::1]:9096"
    )
    assert claimed_by_others(settings, 0) == ()
