"""kproxy.config.cluster: a virtual cluster, its backends and the ports of its nodes."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.config import HostPort, VirtualCluster
from tests.unit.config.problems import problems_of

MINIMAL: dict[str, Any] = {"name": "orders", "bootstrap_servers": "a:1", "listen": "0.0.0.0:9092"}
UPSTREAMS: list[dict[str, Any]] = [
    {"name": "east", "bootstrap_servers": ["e:1", "e:2"]},
    {"name": "west", "bootstrap_servers": "w:1"},
]


def cluster(**changes: Any) -> VirtualCluster:
    """Return a small virtual cluster with these changes."""
    return VirtualCluster.model_validate(MINIMAL | changes)


@pytest.mark.parametrize(
    ("changes", "first", "last"),
    [
        ({}, 9093, None),
        ({"nodes": {"first_port": 20000}}, 20000, None),
        ({"nodes": {"first_port": 0}}, 0, None),
        ({"listen": "a:0"}, 0, None),
        ({"nodes": {"strategy": "offset"}}, 9093, None),
        ({"nodes": {"strategy": "offset", "ranges": ["0-2", "9"]}}, 9093, 9096),
        ({"nodes": {"strategy": "offset", "first_port": 1, "ranges": ["2147483647"]}}, 1, 1),
    ],
)
def test_node_ports(changes: dict[str, Any], first: int, last: int | None) -> None:
    """Nodes follow the bootstrap port by default; ranges take compact ports for any ids."""
    assert (cluster(**changes).first_port, cluster(**changes).last_port) == (first, last)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"listen": "a:0", "nodes": {"strategy": "offset"}}, "nodes.first_port: is needed, because listen has port 0"),
        ({"listen": "a:0", "nodes": {"advertised_first_port": 5}}, "nodes.first_port: is needed, because"),
        ({"listen": "a:65535"}, "nodes.first_port: ports 65536 to 65536 would be needed, but 65535 is the highest"),
        (
            {"nodes": {"strategy": "offset", "ranges": ["0-60000"]}},
            "nodes.first_port: ports 9093 to 69093 would be needed, but 65535 is the highest",
        ),
        (
            {"nodes": {"strategy": "offset", "ranges": ["0-2"], "advertised_first_port": 65534}},
            "nodes.advertised_first_port: ports 65534 to 65536 would be needed",
        ),
        ({"name": "Orders"}, "name: 'Orders' is not a DNS label"),
        ({"name": "a" * 64}, "name: 'aaaa"),
        ({"name": "orders\n"}, "name: 'orders\\n' is not a DNS label"),
        ({"name": 7}, "name: must be text (in quotation marks, if it looks like something else), not 7"),
        ({"bootstrap_servers": ""}, "bootstrap_servers: is required, unless there are upstreams"),
        ({"bootstrap_servers": []}, "bootstrap_servers: is required, unless there are upstreams"),
        ({"bootstrap_servers": None}, "bootstrap_servers: must be a list, not empty"),
        ({"upstreams": UPSTREAMS}, "bootstrap_servers: stands beside upstreams: give either bootstrap_servers or upst"),
        ({"upstreams": [{"name": "east"}]}, "upstreams.0.bootstrap_servers: is required"),
        ({"failover": {"automatic": True}}, "failover.automatic: needs at least two upstreams"),
        ({"failover": True}, "failover: must be a mapping, not True"),
        ({"bootstrap_servers": "a:1,b:0"}, "bootstrap_servers.1: b:0 cannot be connected to"),
        ({"bootstrap_servers": ["[::]:1"]}, "bootstrap_servers.0: [::]:1 cannot be connected to"),
        ({"bootstrap_servers": ["a"]}, "bootstrap_servers.0: 'a' lacks a host or a port"),
        ({"bootstrap_servers": {"a": 1}}, "bootstrap_servers: must be a list, not a mapping"),
        ({"listen": None}, "listen: nothing is not an address"),
        ({"advertised_host": "0.0.0.0"}, "advertised_host: clients cannot connect to 0.0.0.0"),
        ({"advertised_host": "a:1"}, "advertised_host: 'a:1' has a port; write the host alone: a"),
        ({"lisen": "a:1"}, "lisen: is no setting; did you mean listen?"),
        ({"nodes": {"firstport": 1}}, "nodes.firstport: is no setting; did you mean first_port?"),
        (
            {"nodes": {"x": 1}},
            "nodes.x: is no setting; known here: advertised_first_port, advertised_port, first_port, pattern, ranges, "
            "strategy",
        ),
        ({"nodes": []}, "nodes: must be a mapping, not a list"),
    ],
)
def test_bad_clusters(changes: dict[str, Any], problem: str) -> None:
    """Each class of mistake has its own line, at its key."""
    (line,) = problems_of(VirtualCluster, MINIMAL | changes)
    assert line.startswith(problem)


@pytest.mark.parametrize("key", MINIMAL)
def test_what_is_required(key: str) -> None:
    """A virtual cluster needs a name, a backend and an address."""
    data = {k: v for k, v in MINIMAL.items() if k != key}
    reason = "is required, unless there are upstreams" if key == "bootstrap_servers" else "is required"
    assert problems_of(VirtualCluster, data) == [f"{key}: {reason}"]


def test_all_that_is_missing_is_reported_at_once() -> None:
    """One error lists all required settings, the backend too, although it may be given in two ways."""
    lines = problems_of(VirtualCluster, {"listn": "a:1"})
    assert [line.partition(":")[0] for line in lines] == ["name", "bootstrap_servers", "listen", "listn"]


def test_one_backend_is_called_main() -> None:
    """The short form means a single upstream."""
    (backend,) = cluster().backends
    assert (backend.name, backend.bootstrap_servers) == ("main", (HostPort(host="a", port=1),))


def test_several_backends_keep_their_order() -> None:
    """The first is active at the start; what is dumped means the same."""
    listed = {key: value for key, value in MINIMAL.items() if key != "bootstrap_servers"} | {"upstreams": UPSTREAMS}
    several = VirtualCluster.model_validate(listed | {"failover": {"automatic": True, "after": "5s"}})
    assert [(backend.name, list(map(str, backend.bootstrap_servers))) for backend in several.backends] == [
        ("east", ["e:1", "e:2"]),
        ("west", ["w:1"]),
    ]
    assert several.bootstrap_servers == ()
    assert (several.failover.after, several.failover.floor) == (5, 600)
    assert VirtualCluster.model_validate(several.model_dump(mode="json")) == several


def test_topic_ids_are_hidden_only_where_others_can_be() -> None:
    """A cluster has one id for each topic: with a single upstream nothing is hidden."""
    failover = {"failover": {"hide_topic_ids_from": "kgo,own"}}
    listed = {key: value for key, value in MINIMAL.items() if key != "bootstrap_servers"} | failover
    several = VirtualCluster.model_validate(listed | {"upstreams": UPSTREAMS})
    single = VirtualCluster.model_validate(listed | {"upstreams": UPSTREAMS[:1]})
    assert several.hides_topic_ids_from == ("kgo", "own")
    assert single.hides_topic_ids_from == cluster(**failover).hides_topic_ids_from == ()


def test_servers_with_commas() -> None:
    """One string, as Kafka's clients accept it, even with a comma at the end."""
    servers = cluster(bootstrap_servers="a:1, [::1]:2,").bootstrap_servers
    assert servers == (HostPort(host="a", port=1), HostPort(host="::1", port=2))


def test_advertised_host_may_be_an_address() -> None:
    """IPv6 too, without brackets, as in Metadata."""
    assert cluster(advertised_host="fd00::1").advertised_host == "fd00::1"


@pytest.mark.parametrize(
    ("written", "one", "several"),
    [
        ({}, False, True),
        ({"separate_producer_ids": True}, True, True),
        ({"separate_producer_ids": False}, False, False),
    ],
)
def test_producer_ids_are_kept_apart_where_they_can_meet(written: dict[str, bool], one: bool, several: bool) -> None:
    """Producer ids are separated when there are several upstreams, unless the settings say otherwise."""
    listed = {key: value for key, value in MINIMAL.items() if key != "bootstrap_servers"} | {"failover": written}
    assert VirtualCluster.model_validate(listed | {"upstreams": UPSTREAMS}).separates_producer_ids is several
    assert VirtualCluster.model_validate(listed | {"upstreams": UPSTREAMS[:1]}).separates_producer_ids is one


SNI: dict[str, Any] = {
    "advertised_host": "Orders.example.com.",
    "tls": {"certificate": "tls.crt"},
    "nodes": {"strategy": "sni", "pattern": "b$(node_id).orders.example.com"},
}


def test_server_names() -> None:
    """They are there where names say whom a client means, in canonical form."""
    assert cluster(advertised_host="a").server_names is None
    names = cluster(**SNI).server_names
    assert names is not None
    assert (names.bootstrap, names.nodes.name(7)) == ("orders.example.com", "b7.orders.example.com")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"tls": None}, "tls: is required by nodes.strategy: sni: the name that a client asks for is a part of TLS"),
        ({"advertised_host": None}, "advertised_host: is required by nodes.strategy: sni: the name at which clients"),
        ({"advertised_host": "10.0.0.1"}, "advertised_host: must be a name with nodes.strategy: sni, and 10.0.0.1 is"),
        (
            {"advertised_host": "B7.orders.example.com"},
            "advertised_host: B7.orders.example.com is also the name of node 7 by nodes.pattern",
        ),
    ],
)
def test_what_names_need(changes: dict[str, Any], problem: str) -> None:
    """Each is refused at its key; no port for nodes is needed, not even behind the highest."""
    (line,) = problems_of(VirtualCluster, MINIMAL | SNI | changes)
    assert line.startswith(problem)
    assert cluster(**SNI, listen="a:65535").server_names is not None
