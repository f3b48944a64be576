"""kproxy.config.plan: the listeners and the advertised addresses."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.config import Config
from kproxy.config.plan import Line, notes, plan

REACHED = "<address the client reached>"


def lines(admin: str | None = None, listen: str = "0.0.0.0:9092", **cluster: Any) -> list[Line]:
    """Return the plan of one virtual cluster."""
    data = {"name": "a", "bootstrap_servers": "b:1,b:2", "listen": listen} | cluster
    return list(plan(Config.model_validate({"clusters": [data], "admin": admin})))


@pytest.mark.parametrize(
    ("cluster", "listens", "advertised"),
    [
        ({}, "0.0.0.0:9093 and up", f"{REACHED}:9093 and up"),
        ({"advertised_host": "fd00::1"}, "0.0.0.0:9093 and up", "[fd00::1]:9093 and up"),
        ({"nodes": {"strategy": "offset"}}, "0.0.0.0:9093 + node id", f"{REACHED}:9093 + node id"),
        ({"nodes": {"first_port": 0}}, "0.0.0.0:any free ports", f"{REACHED}, the same ports"),
        ({"nodes": {"advertised_first_port": 30000}}, "0.0.0.0:9093 and up", f"{REACHED}:30000 and up"),
        ({"admin": "127.0.0.1:9190"}, "0.0.0.0:9093 and up (below 9190)", f"{REACHED}:9093 and up"),
    ],
)
def test_nodes_whose_number_is_not_known(cluster: dict[str, Any], listens: str, advertised: str) -> None:
    """Their ports go from the first one up to the next claim."""
    assert lines(**cluster)[1] == Line("a", "nodes", listens, advertised)


def test_ranges_admin_and_bootstrap() -> None:
    """Each range has a line with its compact ports, real and advertised; the admin listener is last."""
    nodes = {"strategy": "offset", "ranges": ["0-2", "7", "100-101"], "advertised_first_port": 30000}
    assert lines(admin="[::1]:0", listen="[::]:9092", advertised_host="k", nodes=nodes) == [
        Line("a", "bootstrap", "[::]:9092", "", "b:1, b:2"),
        Line("a", "nodes 0-2", "[::]:9093-9095", "k:30000-30002"),
        Line("a", "node 7", "[::]:9096", "k:30003"),
        Line("a", "nodes 100-101", "[::]:9097-9098", "k:30004-30005"),
        Line("", "admin", "[::1]:any free port", ""),
    ]


def test_every_upstream() -> None:
    """Each upstream has a line with its name; the first is in the listener's line."""
    upstreams = [
        {"name": "east", "bootstrap_servers": "e:1,e:2"},
        {"name": "west", "bootstrap_servers": "w:1"},
        {"name": "north", "bootstrap_servers": "n:1"},
    ]
    assert lines(bootstrap_servers="", upstreams=upstreams)[:3] == [
        Line("a", "bootstrap", "0.0.0.0:9092", "", "east: e:1, e:2"),
        Line("a", "failover", "", "", "west: w:1"),
        Line("a", "failover", "", "", "north: n:1"),
    ]


@pytest.mark.parametrize(
    ("listen", "nodes", "listens", "port"),
    [
        ("0.0.0.0:9093", {}, "0.0.0.0:9093", "9093"),
        ("0.0.0.0:9093", {"advertised_port": 443}, "0.0.0.0:9093", "443"),
        ("0.0.0.0:0", {}, "0.0.0.0:any free port", "any free port"),
    ],
)
def test_names_at_one_port(listen: str, nodes: dict[str, Any], listens: str, port: str) -> None:
    """Bootstrap and nodes are at the same port, each with its name, at the port that is advertised."""
    names = {"strategy": "sni", "pattern": "b$(node_id).k.example.com"} | nodes
    tls = {"certificate": "tls.crt"}
    assert lines(listen=listen, advertised_host="k.example.com", tls=tls, nodes=names) == [
        Line("a", "bootstrap", listens, f"k.example.com:{port}", "b:1, b:2"),
        Line("a", "nodes", listens, f"b$(node_id).k.example.com:{port}"),
    ]


@pytest.mark.parametrize(
    ("admin", "noted"),
    [
        ({"listen": "0.0.0.0:9190", "token_file": "t"}, True),
        ({"listen": "127.0.0.1:9190", "token_file": "t"}, False),
        ({"listen": "0.0.0.0:9190", "token_file": "t", "tls": {"certificate": "c"}}, False),
        ({"listen": "0.0.0.0:9190"}, False),
        (None, False),
    ],
)
def test_a_token_in_the_clear(admin: dict[str, Any] | None, noted: bool) -> None:
    """A note where a token leaves the machine in plain HTTP."""
    cluster = {"name": "a", "bootstrap_servers": "b:1", "listen": "0.0.0.0:9092"}
    found = [*notes(Config.model_validate({"clusters": [cluster], "admin": admin}))]
    expected = "admin: the token can be read by whoever can read the connection to the port; set admin.tls"
    assert found == [expected] * noted


@pytest.mark.parametrize(
    ("settings", "noted"),
    [
        (
            {},
            [
                "authentication: kproxy has neither an identity nor a certificate",
                "authentication: whoever is on the way",
            ],
        ),
        ({"identity": {"mechanism": "SCRAM-SHA-512", "username": "k", "password": "p"}}, ["authentication: whoever"]),
        ({"upstream_tls": {"certificate": "k"}, "tls": {"certificate": "c"}}, []),
    ],
)
def test_clients_that_authenticate_to_kproxy(settings: dict[str, Any], noted: list[str]) -> None:
    """A note where kproxy is nobody to brokers, and where others can read clients' secrets."""
    authentication = {"mechanisms": "PLAIN", "users_file": "u", "dangerously_accept_secrets_without_tls": True}
    cluster = {"name": "a", "bootstrap_servers": "127.0.0.1:1", "listen": "h:1", "authentication": authentication}
    found = [*notes(Config.model_validate({"clusters": [cluster | settings]}))]
    assert len(found) == len(noted)
    assert all(line.startswith(f"clusters.a.{start}") for line, start in zip(found, noted, strict=True))
