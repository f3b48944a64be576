"""Properties of snapshots and their diff."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kproxy.errors import UpstreamError
from kproxy.topology.reachability import next_delay
from kproxy.topology.snapshot import Node, Snapshot, diff, from_metadata
from kproxy.wire.generated.metadata_response import MetadataResponse, MetadataResponseBroker

INT32 = st.integers(-(2**31), 2**31 - 1)
NODES = st.lists(st.builds(Node, st.integers(0, 6), st.sampled_from("ab"), st.sampled_from([9092, 9093])), max_size=8)
SNAPSHOTS = st.builds(Snapshot.of, NODES, st.sampled_from([None, "x", "y"]), st.none() | st.integers(0, 6))
BROKERS = st.builds(MetadataResponseBroker, INT32, st.text(max_size=3), INT32, st.none() | st.text(max_size=2))


@given(SNAPSHOTS, SNAPSHOTS)
def test_a_diff_leads_from_the_old_nodes_to_the_new(old: Snapshot, new: Snapshot) -> None:
    """Removing, adding and moving as the diff says gives the new addresses; each node is in one list at most."""
    change = diff(old, new)
    lists = [{node.id for node in nodes} for nodes in (change.added, change.removed, change.moved)]
    assert sum(map(len, lists)) == len(set().union(*lists))
    nodes = {node.id: node.address for node in old.nodes.values() if node.id not in lists[1]}
    nodes |= {node.id: node.address for node in change.added + change.moved}
    assert nodes == {node.id: node.address for node in new.nodes.values()}


@given(SNAPSHOTS)
def test_nothing_differs_from_itself(snapshot: Snapshot) -> None:
    """A poll that brings the same brings no change."""
    assert not diff(snapshot, snapshot)


@given(SNAPSHOTS, SNAPSHOTS)
def test_there_and_back(old: Snapshot, new: Snapshot) -> None:
    """What one way adds, the other removes; what moves, moves both ways."""
    there, back = diff(old, new), diff(new, old)
    assert (there.added, there.removed) == (back.removed, back.added)
    assert [node.id for node in there.moved] == [node.id for node in back.moved]
    assert there.cluster_changed == back.cluster_changed


@given(st.lists(BROKERS, max_size=5), INT32, st.sampled_from([0, 0, 0, 129, -1]))
def test_any_metadata_is_a_usable_snapshot_or_one_error(
    brokers: list[MetadataResponseBroker], controller: int, code: int
) -> None:
    """Whatever a broker answers: at least one node that can be dialled, or UpstreamError."""
    try:
        snapshot = from_metadata(MetadataResponse(brokers=brokers, controller_id=controller, error_code=code))
    except UpstreamError:
        return
    assert code == 0
    assert snapshot.nodes
    assert all(node.usable and node.id == node_id for node_id, node in snapshot.nodes.items())


@given(
    st.integers(0, 2**40),
    st.floats(0, 1, exclude_max=True),
    st.floats(0.1, 3600),
    st.floats(0, 1),
    st.floats(0.1, 10),
)
def test_a_poll_is_due_between_floor_and_jittered_interval(
    failures: int, rand: float, interval: float, jitter: float, floor: float
) -> None:
    """However many failures there are, and whatever the jitter is."""
    delay = next_delay(failures, rand, interval=interval, jitter=jitter, floor=floor)
    assert floor <= delay <= max(floor, interval * (1 + jitter))
