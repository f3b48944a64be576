"""kproxy.config.nodes: node ids and the ports that follow from them."""

from __future__ import annotations

import pytest

from kproxy.config import NodeRange, Nodes
from tests.unit.config.problems import problems_of

SNI = {"strategy": "sni", "pattern": "b$(node_id).example.com"}


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
    """Anything that is not a range of node ids is refused."""
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
        ({"strategy": "random"}, "strategy: must be 'offset', 'automatic' or 'sni', not 'random'"),
        ({"pattern": "b$(node_id).x"}, "pattern: needs strategy: sni"),
        ({"advertised_port": 9093}, "advertised_port: needs strategy: sni"),
        (
            {"strategy": "sni"},
            "pattern: is required by strategy: sni; write for instance broker-$(node_id).example.com",
        ),
        (SNI | {"first_port": 9093}, "first_port: cannot be with strategy: sni: all nodes are at the port of listen"),
        (SNI | {"ranges": "0-2"}, "ranges: cannot be with strategy: sni: every node has a name, whatever its id"),
        (SNI | {"advertised_first_port": 1}, "advertised_first_port: cannot be with strategy: sni: there is one port"),
        (SNI | {"pattern": "b.x"}, "pattern: 'b.x' must have $(node_id) once; write for instance broker-$(node_id)."),
        (SNI | {"pattern": "$(node_id).$(node_id).x"}, "pattern: '$(node_id).$(node_id).x' must have $(node_id) once"),
        (
            SNI | {"pattern": "10.0.0.$(node_id)"},
            "pattern: '10.0.0.$(node_id)' makes addresses: clients name no address",
        ),
        (SNI | {"pattern": "b_$(node_id)..x"}, "pattern: 'b_0..x' is neither a host name nor an IP address"),
        (SNI | {"pattern": f"{'b' * 54}$(node_id).x"}, "pattern: 'bbbb"),
        ({"first_port": -1}, "first_port: must be at least 0, not -1"),
        ({"advertised_first_port": 0}, "advertised_first_port: must be at least 1, not 0"),
        ({"first_port": 9093.5}, "first_port: must be a whole number, not 9093.5"),
    ],
)
def test_bad_nodes(data: object, problem: str) -> None:
    """Contradictory settings of nodes are refused at their key."""
    (line,) = problems_of(Nodes, data)
    assert line.startswith(problem)
