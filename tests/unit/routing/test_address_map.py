"""Nodes and their addresses, with ports that a test gives and takes."""

from __future__ import annotations

import pytest

from kproxy.observe.reasons import Reason
from kproxy.routing.address_map import AddressMap
from kproxy.routing.ports import AutomaticPorts, NoPortError, OffsetPorts, PortStrategy


class Ports:
    """The machine's ports: those in `taken` cannot be bound, neither can one twice."""

    def __init__(self, *taken: int) -> None:
        self.taken = set(taken)
        self.bound: list[tuple[int, int]] = []
        self.ephemeral = 40_000

    def bind(self, node_id: int, port: int) -> int | None:
        if not port:
            self.ephemeral += 1
            port = self.ephemeral
        if port in self.taken:
            return None
        self.taken.add(port)
        self.bound.append((node_id, port))
        return port


def mapped(strategy: PortStrategy, *taken: int, host: str | None = None, shift: int = 0) -> tuple[AddressMap, Ports]:
    ports = Ports(*taken)
    return AddressMap(strategy, ports.bind, host, shift), ports


def test_a_node_is_bound_before_anyone_hears_of_it() -> None:
    """What advertise returns has been bound by then, once, whatever the id is."""
    addresses, ports = mapped(AutomaticPorts(9093))
    assert addresses.advertise(2147483646, "b", 9092, "10.0.0.9") == ("10.0.0.9", 9093)
    assert ports.bound == [(2147483646, 9093)]
    assert addresses.advertise(2147483646, "b", 9092, "10.0.0.8") == ("10.0.0.8", 9093)
    assert addresses.advertise(0, "c", 9092, "10.0.0.9") == ("10.0.0.9", 9094)
    assert ports.bound == [(2147483646, 9093), (0, 9094)]


def test_the_first_address_told_holds_until_the_cluster_says_otherwise() -> None:
    """Advertise fills in an unknown upstream only; learn replaces it."""
    addresses, _ = mapped(AutomaticPorts(9093))
    assert addresses.upstream(1) is None
    addresses.advertise(1, "b", 9092, "p")
    addresses.advertise(1, "stale", 9092, "p")
    assert addresses.upstream(1) == ("b", 9092)
    addresses.learn([(1, "moved", 9999), (2, "new", 1)])
    assert addresses.upstream(1) == ("moved", 9999)
    assert addresses.upstream(2) == ("new", 1)
    assert {node_id: node.port for node_id, node in addresses.nodes.items()} == {1: 9093, 2: 9094}


def test_host_and_shift() -> None:
    """Where ports are mapped on the way, clients are told the other host and port."""
    addresses, ports = mapped(OffsetPorts(9093), host="kafka.example", shift=20_000)
    assert addresses.advertise(3, "b", 9092, "10.0.0.9") == ("kafka.example", 29_096)
    assert ports.bound == [(3, 9096)]


def test_automatic_passes_over_taken_ports() -> None:
    """Another process' ports, and one's own, are no obstacle."""
    addresses, _ = mapped(AutomaticPorts(9093, ((9096, 9096),)), 9093, 9095)
    assert [addresses.advertise(node_id, "b", 1, "p")[1] for node_id in (5, 6, 7)] == [9094, 9097, 9098]


def test_any_free_port() -> None:
    """With first port 0 the kernel chooses each."""
    addresses, _ = mapped(AutomaticPorts(0))
    assert [addresses.advertise(node_id, "b", 1, "p")[1] for node_id in (5, 6)] == [40_001, 40_002]


def test_offset_with_a_taken_port() -> None:
    """The one port that a node has is taken: nobody hears of the node, and it is tried again the next time."""
    addresses, ports = mapped(OffsetPorts(9093), 9094)
    with pytest.raises(NoPortError, match="port 9094 of node 1 is taken by another process") as caught:
        addresses.advertise(1, "b", 9092, "p")
    assert caught.value.reason is Reason.NO_FREE_PORT
    assert addresses.nodes == {}
    ports.taken.clear()
    assert addresses.advertise(1, "b", 9092, "p") == ("p", 9094)


def test_known_nodes_are_bound_at_once() -> None:
    """Ranges tell which nodes there are: all listen before a broker is asked, none has an upstream yet."""
    addresses, ports = mapped(OffsetPorts(9093, ((1001, 1002),)))
    addresses.bind_known()
    assert ports.bound == [(1001, 9093), (1002, 9094)]
    assert addresses.upstream(1001) is None
    taken, _ = mapped(OffsetPorts(9093, ((1001, 1002),)), 9094)
    with pytest.raises(NoPortError, match="node 1002"):
        taken.bind_known()


def test_no_port_is_left() -> None:
    """When all are taken it says so, and keeps nothing of the node."""
    addresses, _ = mapped(AutomaticPorts(65534), 65534, 65535)
    with pytest.raises(NoPortError, match="no port from 65534 on is free for node 1"):
        addresses.learn([(1, "b", 9092)])
    assert addresses.nodes == {}


def test_the_nodes_seen_cannot_be_changed() -> None:
    """They are a view, and who has it is not the map."""
    addresses, _ = mapped(AutomaticPorts(9093))
    with pytest.raises(TypeError):
        addresses.nodes[1] = None  # type: ignore[index]
