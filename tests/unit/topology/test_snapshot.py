"""Snapshots and what changed between two."""

from __future__ import annotations

import pytest

from kproxy.topology.snapshot import Change, Node, Snapshot, diff

A, B, C = Node(1, "a", 9092), Node(1001, "b", 9092, "rack-1"), Node(2147483646, "c", 9092)


def test_a_snapshot_holds_nodes_by_id_in_order() -> None:
    """Nodes are in the order of their ids, whatever order the broker uses."""
    assert list(Snapshot.of([C, A, B]).nodes) == [1, 1001, 2147483646]


def test_a_snapshot_cannot_be_changed() -> None:
    """Neither its fields nor its nodes can be."""
    snapshot = Snapshot.of([A])
    with pytest.raises(TypeError):
        snapshot.nodes[2] = B  # type: ignore[index]
    with pytest.raises(AttributeError):
        snapshot.cluster_id = "other"  # type: ignore[misc]


@pytest.mark.parametrize("node", [Node(-1, "a", 9092), Node(1, "", 9092), Node(1, "a", 0), Node(1, "a", 65536)])
def test_a_node_that_cannot_be_dialled_is_left_out(node: Node) -> None:
    """It has a negative id, no host, or an impossible port."""
    assert not Snapshot.of([node]).nodes


def test_a_node_named_twice_is_one() -> None:
    """The last mention counts, also when only one of them has a rack."""
    assert Snapshot.of([Node(1, "a", 1, "r"), Node(1, "a", 1)]).nodes == {1: Node(1, "a", 1)}


def test_the_first_snapshot_adds_every_node() -> None:
    """Without an earlier snapshot all nodes are added, and no cluster has changed."""
    assert diff(None, Snapshot.of([A, B], "x")) == Change(added=(A, B))


def test_added_removed_moved() -> None:
    """Each node is in the list of what happened to it; a removed one as it was, a moved one as it is."""
    moved = Node(1, "a", 9999)
    assert diff(Snapshot.of([A, B]), Snapshot.of([moved, C])) == Change(added=(C,), removed=(B,), moved=(moved,))


@pytest.mark.parametrize("new", [Snapshot.of([A], "x", 7), Snapshot.of([A._replace(rack="r")], "x")])
def test_controller_and_rack_are_no_change(new: Snapshot) -> None:
    """Under KRaft any node may be named as controller; a rack moves no address."""
    assert not diff(Snapshot.of([A], "x", 1), new)


@pytest.mark.parametrize(
    ("old", "new", "changed"), [("x", "y", True), ("x", "x", False), (None, "x", False), ("x", None, False)]
)
def test_another_cluster_is_one_with_another_known_id(old: str | None, new: str | None, changed: bool) -> None:
    """An unknown id is no evidence."""
    change = diff(Snapshot.of([A], old), Snapshot.of([A], new))
    assert change.cluster_changed is changed
    assert bool(change) is changed
