"""kproxy.config.cluster: a virtual cluster and the ports of its nodes."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.config import HostPort, NodeRange, Nodes, VirtualCluster
from tests.unit.config.problems import problems_of

MINIMAL: dict[str, Any] = {"name": "orders", "bootstrap_servers": "a:1", "listen": "0.0.0.0:9092"}


def cluster(**changes: Any) -> VirtualCluster:
    """A small virtual cluster with changes."""
    return VirtualCluster.model_validate(MINIMAL | changes)


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("0-2", 0, 2),
        (" 1001 - 1003 ", 1001, 1003),
        ("7", 7, 7),
        (7, 7, 7),
        ({"first": 0, "last": 2147483647}, 0, 2**31 - 1),
    ],
)
def test_range_forms(written: object, first: int, last: int) -> None:
    """A string, one id, or both ends; any id that Kafka allows."""
    ids = NodeRange.model_validate(written)
    assert (ids.first, ids.last, len(ids)) == (first, last, last - first + 1)
    assert first in ids
    assert last in ids
    assert last + 1 not in ids
    assert NodeRange.model_validate(str(ids)) == ids == NodeRange.model_validate(ids)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("a-b", "is not a range of node ids; write for instance 0-2"),
        ("-1", "is not a range of node ids"),
        (True, "is not a range of node ids"),
        (None, "is not a range of node ids"),
        ("2-1", "the range 2-1 ends before it begins"),
        ("0-2147483648", "last: must be at most 2147483647, not 2147483648"),
        ({"first": 0}, "last: is required"),
        ({"first": -1, "last": 0}, "first: must be at least 0, not -1"),
        ({"first": 0, "last": 1, "step": 1}, "step: is no setting"),
    ],
)
def test_bad_ranges(written: object, problem: str) -> None:
    """What is no range of node ids is refused."""
    (line,) = problems_of(NodeRange, written)
    assert problem in line


def test_ranges_in_one_string() -> None:
    """A variable can hold several ranges."""
    nodes = Nodes.model_validate({"strategy": "offset", "ranges": "0-2,100-102"})
    assert [str(ids) for ids in nodes.ranges] == ["0-2", "100-102"]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"ranges": ["0-2"]}, "ranges: needs strategy: offset"),
        ({"strategy": "offset", "first_port": 0}, "first_port: 0 (any free port) needs strategy: automatic"),
        ({"first_port": 0, "advertised_first_port": 1}, "advertised_first_port: needs a first_port other than 0"),
        ({"strategy": "offset", "ranges": ["3-9", "0-3"]}, "ranges: 0-3 and 3-9 overlap"),
        ({"strategy": "random"}, "strategy: must be 'offset' or 'automatic', not 'random'"),
        ({"first_port": -1}, "first_port: must be at least 0, not -1"),
        ({"advertised_first_port": 0}, "advertised_first_port: must be at least 1, not 0"),
        ({"first_port": 9093.5}, "first_port: must be a whole number, not 9093.5"),
    ],
)
def test_bad_nodes(data: object, problem: str) -> None:
    """Settings of nodes that contradict each other are refused at their key."""
    (line,) = problems_of(Nodes, data)
    assert line.startswith(problem)


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
    """Nodes follow the bootstrap port unless said otherwise; ranges are compact whatever the ids."""
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
        ({"bootstrap_servers": ""}, "bootstrap_servers: must not be empty"),
        ({"bootstrap_servers": []}, "bootstrap_servers: must not be empty"),
        ({"bootstrap_servers": "a:1,b:0"}, "bootstrap_servers.1: b:0 cannot be connected to"),
        ({"bootstrap_servers": ["[::]:1"]}, "bootstrap_servers.0: [::]:1 cannot be connected to"),
        ({"bootstrap_servers": ["a"]}, "bootstrap_servers.0: 'a' lacks a host or a port"),
        ({"bootstrap_servers": {"a": 1}}, "bootstrap_servers: must be a list, not a mapping"),
        ({"listen": None}, "listen: nothing is not an address"),
        ({"advertised_host": "0.0.0.0"}, "advertised_host: clients cannot connect to 0.0.0.0"),
        ({"advertised_host": "a:1"}, "advertised_host: 'a:1' is not an IPv6 address"),
        ({"lisen": "a:1"}, "lisen: is no setting; did you mean listen?"),
        ({"nodes": {"firstport": 1}}, "nodes.firstport: is no setting; did you mean first_port?"),
        (
            {"nodes": {"x": 1}},
            "nodes.x: is no setting; known here: advertised_first_port, first_port, ranges, strategy",
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
    assert problems_of(VirtualCluster, data) == [f"{key}: is required"]


def test_servers_with_commas() -> None:
    """One string, as Kafka's clients take it, also with a comma at the end."""
    servers = cluster(bootstrap_servers="a:1, [::1]:2,").bootstrap_servers
    assert servers == (HostPort(host="a", port=1), HostPort(host="::1", port=2))


def test_advertised_host_may_be_an_address() -> None:
    """IPv6 too, without brackets, as in Metadata."""
    assert cluster(advertised_host="fd00::1").advertised_host == "fd00::1"
