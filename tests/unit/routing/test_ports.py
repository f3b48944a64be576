"""kproxy.routing.ports: the port of a node."""

from __future__ import annotations

from itertools import islice

import pytest

from kproxy.observe.reasons import Reason
from kproxy.routing.places import NodePlaces, NoPortError
from kproxy.routing.ports import MAX_PORT, AutomaticPorts, OffsetPorts
from kproxy.routing.strategy import unmapped


def test_offset_without_ranges_is_first_port_and_node_id() -> None:
    """The port follows from the id alone, so replicas agree."""
    ports = OffsetPorts(9093)
    assert [list(ports.candidates(node_id)) for node_id in (0, 1, 1001)] == [[9093], [9094], [10094]]
    assert ports.known() == []


def test_offset_with_ranges_is_compact() -> None:
    """Each range's ports follow the range before, for any ids, and all nodes are known beforehand."""
    ports = OffsetPorts(9100, ((1001, 1003), (0, 1), (2147483646, 2147483646)))
    assert ports.known() == [1001, 1002, 1003, 0, 1, 2147483646]
    assert [next(iter(ports.candidates(node_id))) for node_id in ports.known()] == [*range(9100, 9106)]


@pytest.mark.parametrize("node_id", [999, 1004, 2, 2147483645, -1])
def test_offset_with_ranges_has_no_port_for_others(node_id: int) -> None:
    """The error for a node outside of all ranges has its id and the setting that would give it a port."""
    ports = OffsetPorts(9100, ((1001, 1003), (0, 1), (2147483646, 2147483646)))
    with pytest.raises(NoPortError, match=rf"^node {node_id} is in none of nodes.ranges$") as caught:
        ports.candidates(node_id)
    assert caught.value.reason is Reason.UNMAPPED_NODE


@pytest.mark.parametrize(("first", "node_id"), [(9093, 2147483646), (1, 65535), (65535, 1), (9093, -9093)])
def test_offset_never_leaves_the_ports_there_are(first: int, node_id: int) -> None:
    """A port that does not exist is refused, and the error says what to do."""
    with pytest.raises(NoPortError, match=r"give nodes\.ranges") as caught:
        OffsetPorts(first).candidates(node_id)
    assert str(first + node_id) in str(caught.value)
    assert caught.value.reason is Reason.UNMAPPED_NODE


def test_offset_reaches_the_highest_port() -> None:
    """65535 is a valid port."""
    assert list(OffsetPorts(9093).candidates(MAX_PORT - 9093)) == [MAX_PORT]


def test_automatic_tries_upwards_and_leaves_claimed_ports() -> None:
    """Claimed ports are skipped, single ones and runs, up to the highest port."""
    ports = AutomaticPorts(9093, ((9095, 9095), (9097, 9100), (9102, MAX_PORT)))
    assert list(ports.candidates(2147483646)) == [9093, 9094, 9096, 9101]
    assert list(AutomaticPorts(65533).candidates(0)) == [65533, 65534, 65535]
    assert list(islice(AutomaticPorts(9093).candidates(7), 2)) == [9093, 9094]
    assert ports.known() == ()


def test_automatic_from_zero_takes_any_free_port() -> None:
    """The kernel chooses."""
    assert list(AutomaticPorts(0).candidates(1)) == [0]


@pytest.mark.parametrize(
    ("ports", "says"),
    [
        (OffsetPorts(9093), "port 9098 of node 5 is taken by another process"),
        (AutomaticPorts(0), "no port is free for node 5"),
        (AutomaticPorts(9093), "no port from 9093 on is free for node 5"),
        (AutomaticPorts(9093, ((9094, 9094),)), "no port from 9093 on that no other setting claims is free for node 5"),
    ],
)
def test_exhausted_says_what_was_tried(ports: OffsetPorts | AutomaticPorts, says: str) -> None:
    """Each strategy has one line for people."""
    assert ports.exhausted(5) == says


@pytest.mark.parametrize(
    ("ports", "node_ids", "says"),
    [
        (OffsetPorts(9093, ((1, 3),)), [1, 2, 3], []),
        (
            OffsetPorts(9093, ((1, 3),)),
            [7, 2, 8],
            ["node 7 is in none of nodes.ranges", "node 8 is in none of nodes.ranges"],
        ),
        (
            OffsetPorts(60_000),
            [5535, 5536],
            ["node 5536 would get port 65536, 65535 is the highest: give nodes.ranges"],
        ),
        (AutomaticPorts(65_534), [7, 0, 9], ["no port from 65534 on is free for node 9"]),
        (
            AutomaticPorts(65_534, ((65_535, 65_535),)),
            [7, 8],
            ["no port from 65534 on that no other setting claims is free for node 8"],
        ),
        (AutomaticPorts(0), [7, 8, 9], []),
    ],
)
def test_nodes_without_a_port(ports: NodePlaces, node_ids: list[int], says: list[str]) -> None:
    """All of them are reported before any port is bound."""
    assert [str(problem) for problem in unmapped(ports, node_ids)] == says


def test_several_nodes_in_one_line() -> None:
    """The reason is the first one's."""
    problems = [NoPortError(Reason.NO_FREE_PORT, "node 1 …"), NoPortError(Reason.UNMAPPED_NODE, "node 2 …")]
    both = NoPortError.of_all(problems)
    assert (str(both), both.reason) == ("node 1 …; node 2 …", Reason.NO_FREE_PORT)
