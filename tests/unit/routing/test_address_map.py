"""kproxy.routing.address_map: nodes and their addresses, with simulated ports."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from kproxy.observe.reasons import Reason
from kproxy.routing.address_map import AddressMap
from kproxy.routing.places import NoPortError, Place
from kproxy.routing.ports import AutomaticPorts, OffsetPorts


@dataclass
class Listener:
    """A listener without a socket."""

    ports: Ports
    node_id: int | None
    place: int
    retired: float | None = None

    def close(self) -> None:
        self.ports.taken.remove(self.place)
        self.ports.closed.append((self.node_id, self.place))


class Ports:
    """The machine's ports: a port in `taken` cannot be bound, and no port twice."""

    def __init__(self, *taken: int) -> None:
        self.taken = set(taken)
        self.bound: list[tuple[int, int]] = []
        self.closed: list[tuple[int | None, int]] = []
        self.ephemeral = 40_000

    def bind(self, node_id: int, place: Place) -> Listener | None:
        port = int(place)
        if not port:
            self.ephemeral += 1
            port = self.ephemeral
        if port in self.taken:
            return None
        self.taken.add(port)
        self.bound.append((node_id, port))
        return Listener(self, node_id, port)


def mapped(
    strategy: OffsetPorts | AutomaticPorts, *taken: int, host: str | None = None, shift: int = 0
) -> tuple[AddressMap, Ports]:
    ports = Ports(*taken)
    return AddressMap(replace(strategy, host=host, shift=shift), ports.bind), ports


def test_a_node_is_bound_before_it_is_advertised() -> None:
    """`advertise` returns a port after binding it, once, for any id."""
    addresses, ports = mapped(AutomaticPorts(9093))
    assert addresses.advertise(2147483646, "b", 9092, "10.0.0.9") == ("10.0.0.9", 9093)
    assert ports.bound == [(2147483646, 9093)]
    assert addresses.advertise(2147483646, "b", 9092, "10.0.0.8") == ("10.0.0.8", 9093)
    assert addresses.advertise(0, "c", 9092, "10.0.0.9") == ("10.0.0.9", 9094)
    assert ports.bound == [(2147483646, 9093), (0, 9094)]


def test_the_first_address_holds_until_the_cluster_reports_another() -> None:
    """`advertise` sets only an unknown upstream address; `learn` replaces it."""
    addresses, _ = mapped(AutomaticPorts(9093))
    assert addresses.upstream(1) is None
    addresses.advertise(1, "b", 9092, "p")
    addresses.advertise(1, "stale", 9092, "p")
    assert addresses.upstream(1) == ("b", 9092)
    addresses.learn([(1, "moved", 9999), (2, "new", 1)])
    assert addresses.upstream(1) == ("moved", 9999)
    assert addresses.upstream(2) == ("new", 1)
    assert {node_id: node.place for node_id, node in addresses.nodes.items()} == {1: 9093, 2: 9094}


def test_host_and_shift() -> None:
    """Where ports are mapped on the way, the mapped host and port are advertised."""
    addresses, ports = mapped(OffsetPorts(9093), host="kafka.example", shift=20_000)
    assert addresses.advertise(3, "b", 9092, "10.0.0.9") == ("kafka.example", 29_096)
    assert ports.bound == [(3, 9096)]


def test_automatic_passes_over_taken_ports() -> None:
    """Ports of another process, and ports already in use by kproxy, are skipped."""
    addresses, _ = mapped(AutomaticPorts(9093, ((9096, 9096),)), 9093, 9095)
    assert [addresses.advertise(node_id, "b", 1, "p")[1] for node_id in (5, 6, 7)] == [9094, 9097, 9098]


def test_any_free_port() -> None:
    """With first port 0 the kernel chooses each."""
    addresses, _ = mapped(AutomaticPorts(0))
    assert [addresses.advertise(node_id, "b", 1, "p")[1] for node_id in (5, 6)] == [40_001, 40_002]


def test_offset_with_a_taken_port() -> None:
    """When a node's only port is taken, the node is not advertised, and the port is tried again the next time."""
    addresses, ports = mapped(OffsetPorts(9093), 9094)
    with pytest.raises(NoPortError, match="port 9094 of node 1 is taken by another process") as caught:
        addresses.advertise(1, "b", 9092, "p")
    assert caught.value.reason is Reason.NO_FREE_PORT
    assert addresses.nodes == {}
    ports.taken.clear()
    assert addresses.advertise(1, "b", 9092, "p") == ("p", 9094)


def test_known_nodes_are_bound_at_once() -> None:
    """Ranges list the nodes: all get listeners before a broker is asked, and none has an upstream address yet."""
    addresses, ports = mapped(OffsetPorts(9093, ((1001, 1002),)))
    addresses.bind_known()
    assert ports.bound == [(1001, 9093), (1002, 9094)]
    assert addresses.upstream(1001) is None
    taken, _ = mapped(OffsetPorts(9093, ((1001, 1002),)), 9094)
    with pytest.raises(NoPortError, match="node 1002"):
        taken.bind_known()


def test_no_port_is_left() -> None:
    """When all ports are taken, the error says so, and the node is not kept."""
    addresses, _ = mapped(AutomaticPorts(65534), 65534, 65535)
    with pytest.raises(NoPortError, match="no port from 65534 on is free for node 1"):
        addresses.learn([(1, "b", 9092)])
    assert addresses.nodes == {}


def test_the_nodes_seen_cannot_be_changed() -> None:
    """`nodes` is a read-only view."""
    addresses, _ = mapped(AutomaticPorts(9093))
    with pytest.raises(TypeError):
        addresses.nodes[1] = None  # type: ignore[index]


A, B, C = (1, "a", 9092), (2, "b", 9092), (3, "c", 9092)


def test_a_new_topology_retires_the_listeners_of_nodes_that_it_does_not_have() -> None:
    """Retired listeners stay open; nodes in both topologies keep theirs and get the new topology's addresses."""
    addresses, ports = mapped(AutomaticPorts(9093))
    addresses.learn([A, B])
    addresses.renew([(2, "elsewhere", 1), C], now=10.0)
    assert {node_id: node.place for node_id, node in addresses.nodes.items()} == {2: 9094, 3: 9095}
    assert addresses.upstream(2) == ("elsewhere", 1)
    assert [(listener.node_id, listener.place, listener.retired) for listener in addresses.retired] == [(1, 9093, 10.0)]
    assert ports.closed == []


def test_a_retired_node_that_comes_back_has_its_listener_again() -> None:
    """As after a failover and the way back within the grace: its advertised port stays the same."""
    addresses, ports = mapped(AutomaticPorts(9093))
    addresses.learn([A, B])
    addresses.renew([C], now=10.0)
    addresses.renew([A, B], now=20.0)
    assert {node_id: node.place for node_id, node in addresses.nodes.items()} == {1: 9093, 2: 9094}
    assert [(listener.node_id, listener.retired) for listener in addresses.retired] == [(3, 20.0)]
    assert len(ports.bound) == 3


def test_a_retired_listener_closes_when_its_grace_is_over() -> None:
    """It does not close earlier; then its port is free for any node."""
    addresses, ports = mapped(AutomaticPorts(9093))
    addresses.learn([A, B])
    addresses.renew([B], now=10.0)
    assert addresses.expire(9.9) == []
    assert [listener.place for listener in addresses.expire(10.0)] == [9093]
    assert (addresses.retired, ports.closed) == ((), [(1, 9093)])
    assert addresses.advertise(7, "n", 1, "p") == ("p", 9093)


def test_an_automatic_port_of_a_retired_node_is_nobody_elses_meanwhile() -> None:
    """No other node gets it: clients would take that node for the one that is gone."""
    addresses, _ = mapped(AutomaticPorts(9093))
    addresses.learn([A])
    addresses.renew([B], now=1.0)
    assert addresses.nodes[2].place == 9094


def test_a_node_that_is_missed_keeps_its_listener_for_the_grace() -> None:
    """A broker that restarts is unreported for a moment; one that does not come back is forgotten."""
    addresses, ports = mapped(AutomaticPorts(9093))
    addresses.learn([A, B])
    addresses.miss([1, 2, 99], now=10.0)
    addresses.miss([1], now=15.0)
    addresses.learn([B])
    assert addresses.expire(9.0) == []
    assert addresses.upstream(1) == ("a", 9092)
    assert [listener.node_id for listener in addresses.expire(10.0)] == [1]
    assert (list(addresses.nodes), ports.closed) == ([2], [(1, 9093)])


def test_another_mapping_moves_only_what_it_must() -> None:
    """A port that the new mapping allows stays; another is retired, and its node gets a new one."""
    addresses, ports = mapped(AutomaticPorts(9093))
    addresses.learn([A, B, C])
    addresses.remap(AutomaticPorts(9095, host="kafka.example"), now=5.0)
    assert {node_id: node.place for node_id, node in addresses.nodes.items()} == {1: 9096, 2: 9097, 3: 9095}
    assert addresses.upstream(1) == ("a", 9092)
    assert addresses.advertise(3, "c", 9092, "p") == ("kafka.example", 9095)
    assert [listener.place for listener in addresses.retired] == [9093, 9094]
    assert ports.closed == []


def test_nodes_that_change_places_share_their_listeners() -> None:
    """With an offset a node has only one port, so it takes over a listener that was another node's."""
    addresses, ports = mapped(OffsetPorts(9093, ((1, 1), (2, 2))))
    addresses.learn([A, B])
    addresses.remap(OffsetPorts(9093, ((2, 2), (1, 1))), now=5.0)
    assert {node_id: (node.place, node.listener.node_id) for node_id, node in addresses.nodes.items()} == {
        1: (9094, 1),
        2: (9093, 2),
    }
    assert (addresses.retired, len(ports.bound)) == ((), 2)


def test_a_mapping_that_has_no_port_for_a_node() -> None:
    """The node's listener is retired, the others get theirs, and the error has the reason."""
    addresses, _ = mapped(OffsetPorts(9093))
    addresses.learn([A, B, C])
    with pytest.raises(NoPortError, match=r"node 2 is in none of nodes\.ranges"):
        addresses.remap(OffsetPorts(9093, ((1, 1), (3, 3))), now=5.0)
    assert {node_id: node.place for node_id, node in addresses.nodes.items()} == {1: 9093, 3: 9094}
    assert [listener.place for listener in addresses.retired] == [9095, 9096]


def test_any_free_port_stays_through_a_new_mapping() -> None:
    """With first port 0 every port is allowed."""
    addresses, _ = mapped(AutomaticPorts(0))
    addresses.learn([A])
    addresses.remap(AutomaticPorts(0, host="h"), now=5.0)
    assert (addresses.nodes[1].place, addresses.retired) == (40_001, ())


def whys(addresses: AddressMap) -> dict[int, str]:
    """Return the nodes without a port, with the reasons."""
    return {node_id: str(node.why) for node_id, node in addresses.unmapped.items()}


def test_a_node_without_a_port_does_not_keep_others_from_theirs() -> None:
    """This holds for any position among them; the error lists all nodes without a port, and they are remembered."""
    addresses, _ = mapped(OffsetPorts(9093, ((1, 1), (3, 3))))
    both = r"^node 2 is in none of nodes\.ranges; node 9 is in none of nodes\.ranges$"
    with pytest.raises(NoPortError, match=both):
        addresses.learn([B, A, (9, "n", 1), C])
    assert {node_id: node.place for node_id, node in addresses.nodes.items()} == {1: 9093, 3: 9094}
    assert list(addresses.unmapped) == [2, 9]
    addresses.learn([A, C])
    assert whys(addresses) == {}


def test_a_node_that_one_answer_names_is_remembered_too() -> None:
    """An example is the coordinator of a group; the node is forgotten once it has a port."""
    addresses, ports = mapped(OffsetPorts(9093), 9094)
    with pytest.raises(NoPortError):
        addresses.advertise(1, "a", 9092, "p")
    assert whys(addresses) == {1: "port 9094 of node 1 is taken by another process"}
    ports.taken.clear()
    addresses.advertise(1, "a", 9092, "p")
    assert whys(addresses) == {}


def test_another_try_for_a_node_without_a_port() -> None:
    """When its port is free, the node gets it, with the node's address; until then nothing changes."""
    addresses, ports = mapped(OffsetPorts(9093), 9094)
    with pytest.raises(NoPortError):
        addresses.learn([A])
    addresses.retry(None)
    assert list(addresses.unmapped) == [1]
    ports.taken.clear()
    addresses.retry([1])
    assert (addresses.upstream(1), whys(addresses)) == (("a", 9092), {})


def test_a_node_without_a_port_that_is_gone() -> None:
    """It is forgotten when the topology does not have it, however it became known."""
    addresses, _ = mapped(OffsetPorts(9093), 9094)
    with pytest.raises(NoPortError):
        addresses.learn([A])
    addresses.retry([2, 3])
    assert whys(addresses) == {}


def test_another_mapping_gives_a_port_to_a_node_without_one() -> None:
    """A mapping that lacks another node takes that one's port away, and the node is remembered."""
    addresses, _ = mapped(OffsetPorts(9093, ((1, 1),)))
    with pytest.raises(NoPortError):
        addresses.learn([A, B])
    with pytest.raises(NoPortError, match="node 1"):
        addresses.remap(OffsetPorts(9093, ((2, 2),)), now=5.0)
    assert (list(addresses.nodes), list(addresses.unmapped)) == ([2], [1])
    assert addresses.upstream(2) == ("b", 9092)


def test_nodes_that_are_not_advertised_need_no_port() -> None:
    """A node known only from old ranges and a missed node may lack a port in the new mapping without an error."""
    addresses, _ = mapped(OffsetPorts(9093, ((1, 3),)))
    addresses.bind_known()
    addresses.learn([A, B])
    addresses.miss([2], now=4.0)
    addresses.remap(OffsetPorts(9093, ((1, 1),)), now=5.0)
    assert (list(addresses.nodes), whys(addresses)) == ([1], {})
    addresses.remap(OffsetPorts(9193, ((1, 1),)), now=5.0)
    assert (addresses.nodes[1].place, addresses.upstream(1)) == (9193, ("a", 9092))


def test_a_missed_node_stays_missed_by_another_mapping() -> None:
    """Its new listener closes when its grace is over, as the old one would."""
    addresses, _ = mapped(OffsetPorts(9093))
    addresses.learn([A])
    addresses.miss([1], now=4.0)
    addresses.remap(OffsetPorts(9193), now=5.0)
    assert (addresses.nodes[1].place, addresses.nodes[1].gone_since) == (9194, 4.0)


@pytest.mark.parametrize(
    ("strategy", "ports"),
    [(OffsetPorts(9093), {1: 9094, 3: 9096}), (AutomaticPorts(9093), {1: 9093, 3: 9095})],
)
def test_what_is_reserved_is_taken_by_its_nodes(strategy: OffsetPorts | AutomaticPorts, ports: dict[int, int]) -> None:
    """The new topology binds nothing more, and listeners that it does not take are closed."""
    addresses, machine = mapped(strategy)
    assert addresses.reserve([1, 2, 3]) == []
    assert addresses.nodes == {}
    addresses.renew([C, A], now=1.0)
    addresses.release()
    assert {node_id: node.place for node_id, node in addresses.nodes.items()} == ports
    assert len(machine.bound) == 3
    assert [node_id for node_id, _ in machine.closed] == [2]


def test_a_reservation_that_is_given_up_leaves_nothing() -> None:
    """All nodes without a port are reported; listeners of present and retired nodes are unchanged."""
    addresses, machine = mapped(OffsetPorts(9093, ((1, 4),)), 9096)
    addresses.learn([A, B])
    addresses.renew([B], now=1.0)
    problems = addresses.reserve([1, 2, 3, 4, 9])
    assert list(map(str, problems)) == [
        "port 9096 of node 4 is taken by another process",
        "node 9 is in none of nodes.ranges",
    ]
    addresses.release()
    assert machine.closed == [(3, 9095)]
    assert (list(addresses.nodes), [listener.node_id for listener in addresses.retired], whys(addresses)) == (
        [2],
        [1],
        {},
    )


def test_a_reservation_for_another_mapping() -> None:
    """With one port for each node, an open listener of another node suffices; other ports are bound."""
    addresses, machine = mapped(OffsetPorts(9093, ((1, 2),)))
    addresses.learn([A, B])
    ranges = OffsetPorts(9093, ((2, 3), (1, 1)))
    assert addresses.reserve([1, 2, 3], ranges) == []
    assert machine.bound[2:] == [(1, 9095)]
    addresses.remap(ranges, now=5.0)
    addresses.learn([A, B, C])
    addresses.release()
    assert {node_id: node.place for node_id, node in addresses.nodes.items()} == {1: 9095, 2: 9093, 3: 9094}
    assert (len(machine.bound), machine.closed) == (3, [])


def test_automatic_reserves_no_port_of_another_node() -> None:
    """It reserves the port of neither a present nor a retired node."""
    addresses, machine = mapped(AutomaticPorts(65_533))
    addresses.learn([A, B])
    addresses.renew([B], now=1.0)
    assert list(map(str, addresses.reserve([3, 4]))) == ["no port from 65533 on is free for node 4"]
    addresses.release()
    assert machine.closed == [(3, 65_535)]


def test_nodes_elsewhere_keep_the_places_that_they_may_have() -> None:
    """The map of before stays as it is; whichever of the two is closed, the other's listeners are open."""
    addresses, ports = mapped(AutomaticPorts(9093))
    addresses.learn([A, B, C])
    addresses.renew([B, C], now=1.0)
    addresses.miss([3], now=2.0)
    other = Ports(9093, 9096)
    made = addresses.elsewhere(AutomaticPorts(9093, ((9094, 9094),), host="kafka.example"), other.bind)
    assert {node_id: node.place for node_id, node in made.nodes.items()} == {3: 9095, 2: 9097}
    assert (made.upstream(2), made.nodes[3].gone_since, made.retired) == (("b", 9092), 2.0, ())
    assert made.advertise(2, "b", 9092, "p") == ("kafka.example", 9097)
    assert {node_id: node.place for node_id, node in addresses.nodes.items()} == {2: 9094, 3: 9095}
    assert len(addresses.retired) == 1
    made.close()
    assert sorted(other.closed) == [(2, 9097), (3, 9095)]
    assert ports.closed == []
    addresses.close()
    assert sorted(ports.closed) == [(1, 9093), (2, 9094), (3, 9095)]


def test_nodes_elsewhere_begin_at_the_first_port() -> None:
    """Where it is another one, ports are given anew, as after a restart, though nodes might keep theirs."""
    addresses, _ = mapped(AutomaticPorts(9193))
    addresses.learn([A, B])
    made = addresses.elsewhere(AutomaticPorts(9093), Ports().bind)
    assert {node_id: node.place for node_id, node in made.nodes.items()} == {1: 9093, 2: 9094}
    offset = made.elsewhere(OffsetPorts(9093), Ports().bind)
    assert {node_id: node.place for node_id, node in offset.nodes.items()} == {1: 9094, 2: 9095}
    again = offset.elsewhere(AutomaticPorts(9093), Ports().bind)
    assert {node_id: node.place for node_id, node in again.nodes.items()} == {1: 9093, 2: 9094}


def test_nodes_elsewhere_without_a_port() -> None:
    """They are unmapped there, with the reason, as are those that were before; one that is gone is left out."""
    addresses, _ = mapped(OffsetPorts(9093), 9094)
    with pytest.raises(NoPortError):
        addresses.learn([A, B, C])
    addresses.miss([3], now=1.0)
    made = addresses.elsewhere(OffsetPorts(19_093), Ports(19_095, 19_096).bind)
    assert whys(made) == {2: "port 19095 of node 2 is taken by another process"}
    assert {node_id: node.place for node_id, node in made.nodes.items()} == {1: 19_094}
    assert made.upstream(1) == ("a", 9092)
    assert [str(problem) for problem in made.reserve([1, 3])] == ["port 19096 of node 3 is taken by another process"]
    assert whys(addresses) == {1: "port 9094 of node 1 is taken by another process"}


def test_no_descriptor_for_nodes_elsewhere() -> None:
    """A shortage is the reason of every node, also of one that would keep its place."""
    addresses, _ = mapped(AutomaticPorts(9093))
    addresses.learn([A, B])

    def bind(node_id: int, _: Place) -> None:
        raise NoPortError(Reason.OUT_OF_DESCRIPTORS, f"node {node_id}: none is left")

    assert whys(addresses.elsewhere(AutomaticPorts(9094), bind)) == {
        1: "node 1: none is left",
        2: "node 2: none is left",
    }


def test_what_would_lack_a_port_where_each_node_has_only_one() -> None:
    """The port is tried: one that another process has is named; afterwards nothing listens that did not before."""
    addresses, ports = mapped(OffsetPorts(9093, ((1, 4),)), 9095)
    addresses.learn([(1, "b1", 9092)])
    assert {node_id: str(why) for node_id, why in addresses.lacking([1, 2, 3, 7]).items()} == {
        3: "port 9095 of node 3 is taken by another process",
        7: "node 7 is in none of nodes.ranges",
    }
    assert ports.taken == {9093, 9095}


def test_what_would_lack_a_port_where_nodes_have_the_next_one() -> None:
    """No port is tried: those that this cluster's own nodes do not have count as free, each for one node."""
    addresses, ports = mapped(AutomaticPorts(65533), 65535)
    addresses.learn([(1, "b1", 9092)])
    assert {node_id: str(why) for node_id, why in addresses.lacking([1, 2, 3, 4]).items()} == {
        4: "no port from 65533 on is free for node 4"
    }
    assert ports.taken == {65533, 65535}
    anywhere, _ = mapped(AutomaticPorts(0))
    assert anywhere.lacking(range(100)) == {}
