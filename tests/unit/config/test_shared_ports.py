"""kproxy.config.shared_ports: virtual clusters at one port, told apart by name."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.config import Config
from tests.unit.config.problems import problems_of


def named(name: str, pattern: str | None = None, **changes: Any) -> dict[str, Any]:
    """Return a virtual cluster whose nodes have names."""
    nodes = {"strategy": "sni", "pattern": pattern or f"b$(node_id).{name}.example.com"}
    return {
        "name": name,
        "bootstrap_servers": "a:1",
        "listen": "0.0.0.0:9093",
        "advertised_host": f"{name}.example.com",
        "tls": {"certificate": "tls.crt"},
        "nodes": nodes,
    } | changes


def test_several_virtual_clusters_at_one_port() -> None:
    """They need other names, and nothing else; the port is listed once for each, and no port for nodes."""
    config = Config.model_validate(
        {"clusters": [named("orders"), named("bills"), named("users", tls={"certificate": "b"})]}
    )
    assert [claim.path for claim in config.claims()] == [("clusters", index, "listen") for index in range(3)]


@pytest.mark.parametrize(
    ("second", "problem"),
    [
        (
            named("bills", advertised_host="Orders.example.com."),
            "clusters.1.advertised_host: orders.example.com is also that of clusters.0, which shares the port",
        ),
        (
            named("bills", advertised_host="b7.orders.example.com"),
            "clusters.1.advertised_host: b7.orders.example.com is also the name of node 7 by clusters.0.nodes.pattern",
        ),
        (
            named("bills", "b1$(node_id).Orders.example.com"),
            "clusters.1.nodes.pattern: makes b10.orders.example.com, as clusters.0.nodes.pattern does",
        ),
        (
            named("bills", proxy_protocol={"networks": ["10.0.0.0/8"]}),
            "clusters.1.proxy_protocol: must be as that of clusters.0, which shares the port: the header comes before "
            "the name",
        ),
        (
            {"name": "bills", "bootstrap_servers": "a:1", "listen": "0.0.0.0:9093"},
            "clusters.1.listen: port 9093 is also that of clusters.0.listen",
        ),
        (named("bills", listen="127.0.0.1:9093"), "clusters.1.listen: port 9093 is also that of clusters.0.listen"),
    ],
)
def test_what_may_not_share_a_port(second: dict[str, Any], problem: str) -> None:
    """Each reason is at the later one's setting."""
    assert problems_of(Config, {"clusters": [named("orders"), second]}) == [problem]


def test_a_pattern_that_makes_a_bootstrap_name() -> None:
    """It may be that of an earlier virtual cluster."""
    first = named("orders", advertised_host="b3.bills.example.com")
    assert problems_of(Config, {"clusters": [first, named("bills")]}) == [
        "clusters.1.nodes.pattern: makes b3.bills.example.com, which is clusters.0.advertised_host"
    ]


@pytest.mark.parametrize("listen", ["0.0.0.0:9094", "0.0.0.0:0"])
def test_other_ports_have_names_of_their_own(listen: str) -> None:
    """The same names may be at another port; any free port (0) is nobody else's."""
    both = [named("orders", listen=listen), named("bills", "b$(node_id).orders.example.com")]
    assert len(Config.model_validate({"clusters": both}).clusters) == 2
    any_free = [named("orders", listen="h:0"), named("bills", "b$(node_id).orders.example.com", listen="h:0")]
    assert len(Config.model_validate({"clusters": any_free}).clusters) == 2


def test_the_admin_port_has_no_names() -> None:
    """It cannot be at a shared port."""
    problem = "admin.listen: port 9093 is also that of clusters.0.listen"
    assert problems_of(Config, {"clusters": [named("orders")], "admin": "0.0.0.0:9093"}) == [problem]
