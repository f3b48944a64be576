"""kproxy.routing.names: the places of nodes that have names, alone and in an address map."""

from __future__ import annotations

from dataclasses import dataclass

from kproxy.config.server_names import NamePattern
from kproxy.routing.address_map import AddressMap
from kproxy.routing.names import NodeNames
from kproxy.routing.places import Place, where

NAMES = NodeNames(NamePattern("b", ".example.com"), 9093)
OTHERS = NodeNames(NamePattern("c", ".example.com"), 443)
A, B = (1, "a", 9092), (2, "b", 9092)


@dataclass
class Listener:
    """A listener by name."""

    node_id: int | None
    place: Place
    retired: float | None = None
    closed: bool = False

    def close(self) -> None:
        self.closed = True


def test_a_node_has_one_name() -> None:
    """It follows from the id; no node is known before a broker names it."""
    assert list(NAMES.candidates(2147483647)) == ["b2147483647.example.com"]
    assert NAMES.allows(7, "b7.example.com")
    assert not NAMES.allows(7, "b8.example.com")
    assert not NAMES.allows(7, 9093)
    assert (NAMES.known(), NAMES.chooses) == ((), False)
    assert NAMES.exhausted(7) == "the name b7.example.com of node 7 cannot be listened for"


def test_nodes_are_advertised_by_name_at_one_port() -> None:
    """Whatever address the client connected to; the node listens by its name before it is advertised."""
    addresses = AddressMap(NAMES, Listener)
    assert addresses.advertise(7, "broker", 9092, "10.0.0.9") == ("b7.example.com", 9093)
    assert addresses.nodes[7].place == "b7.example.com"


def test_another_pattern_retires_the_names_before() -> None:
    """Nodes listen by both until the grace is over; a change of the port alone keeps the listeners."""
    addresses = AddressMap(NAMES, Listener)
    addresses.learn([A, B])
    addresses.remap(OTHERS, now=5.0)
    assert [node.place for node in addresses.nodes.values()] == ["c1.example.com", "c2.example.com"]
    assert [(one.place, one.retired) for one in addresses.retired] == [("b1.example.com", 5.0), ("b2.example.com", 5.0)]
    before = [node.listener for node in addresses.nodes.values()]
    addresses.remap(NodeNames(OTHERS.pattern, 9093), now=6.0)
    assert [node.listener for node in addresses.nodes.values()] == before
    assert addresses.advertised(addresses.nodes[1], "10.0.0.9") == ("c1.example.com", 9093)
    assert [one.place for one in addresses.expire(5.0)] == ["b1.example.com", "b2.example.com"]


def test_a_node_that_is_gone_keeps_its_name_for_the_grace() -> None:
    """And has it again, with its listener, when it comes back meanwhile."""
    addresses = AddressMap(NAMES, Listener)
    addresses.learn([A, B])
    gone = addresses.nodes[1].listener
    addresses.renew([B], now=5.0)
    assert [one.node_id for one in addresses.retired] == [1]
    addresses.learn([A, B])
    assert addresses.nodes[1].listener is gone
    assert (gone.retired, addresses.retired) == (None, ())


def test_places_in_the_log() -> None:
    """A field says which of both it is."""
    assert (where(9093), where("b7.example.com")) == ({"port": 9093}, {"name": "b7.example.com"})
