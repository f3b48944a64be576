"""What stands against an upstream cluster as the target of a failover, after the looks that were taken at it."""

from __future__ import annotations

import pytest

from kproxy.topology.reachability import Reachability
from kproxy.topology.snapshot import Node, Snapshot
from kproxy.topology.standing import TOLD_SECONDS, Look, Objection, Replaced, Standing

INTERVAL = 60.0


def seen(at: float, cluster_id: str | None = "B", *silent: int) -> Look:
    """Return a look at which a cluster of the nodes 1 and 2 answered."""
    return Look(at, Snapshot.of([Node(1, "b1", 9092), Node(2, "b2", 9092)], cluster_id), silent=silent)


def noted(*looks: Look) -> Standing:
    """Return what is known after these looks, at which no node lacked a port."""
    standing = Standing()
    for look in looks:
        standing.note(look, {})
    return standing


def against(standing: Standing, now: float, active_id: str | None = "A") -> list[Objection]:
    """Return all objections."""
    return list(standing.objections(now, INTERVAL, active_id))


def test_one_that_was_not_looked_at_is_not_believed() -> None:
    """Nothing is known of it: not even that it is away."""
    standing = Standing()
    assert against(standing, 0) == [Objection("it was not looked at yet")]
    assert not standing.answers
    assert (standing.reachability, standing.answered_at, standing.cluster_id) == (None, None, None)


def test_one_that_answers_has_nothing_against_it() -> None:
    """What it answered, and since when it does, is known."""
    standing = noted(seen(10), seen(70))
    assert against(standing, 71) == []
    assert (standing.answers, standing.answered_at, standing.cluster_id) == (True, 70, "B")
    assert standing.reachability == Reachability(True, 10)


def test_one_that_is_away() -> None:
    """The newest error is the reason; when it answered last, and with what id, stays known."""
    standing = noted(seen(10), Look(70, error="refused"), Look(72, error="no route"))
    assert against(standing, 73) == [Objection("it does not answer: no route")]
    assert (standing.answers, standing.answered_at, standing.cluster_id) == (False, 10, "B")
    assert standing.reachability == Reachability(False, 70, "no route")
    standing.note(seen(80), {})
    assert against(standing, 81) == []
    assert standing.reachability == Reachability(True, 80)


def test_a_look_that_kproxy_could_not_take() -> None:
    """It forbids a failover, since nothing is known now; and it is no outage."""
    standing = noted(seen(10), Look(70, error="out of descriptors", own=True))
    assert against(standing, 71) == [Objection("kproxy cannot look at it: out of descriptors")]
    assert standing.reachability == Reachability(True, 10)


def test_a_fault_behind_an_answer_is_no_answer() -> None:
    """The answer of a look that failed counts for nothing."""
    standing = noted(seen(10), seen(70)._replace(error="a fault in kproxy", own=True))
    assert (standing.answers, standing.answered_at) == (False, 10)


def test_a_look_without_an_answer_or_an_error() -> None:
    """Nothing is taken from it."""
    standing = noted(Look(10))
    assert (standing.answered_at, standing.cluster_id) == (None, None)


@pytest.mark.parametrize(("now", "old"), [(160.0, False), (160.1, True)])
def test_a_look_counts_for_two_intervals_and_half_a_minute(now: float, old: bool) -> None:
    """A watch that hangs makes no standby well for ever."""
    assert against(noted(seen(10)), now) == ([Objection("it was last looked at 150 s ago")] if old else [])


def test_nodes_that_do_not_answer() -> None:
    """Some of them are a warning; when all are silent, its bootstrap server alone says little."""
    assert against(noted(seen(0, "B", 2)), 1) == [Objection("some of its nodes do not answer: 2", forbids=False)]
    assert against(noted(seen(0, "B", 1, 2)), 1) == [Objection("none of its nodes answers: 1, 2")]
    stranger = Look(0, Snapshot.of([Node(3, "b3", 9092)]), silent=(1,))
    assert against(noted(stranger), 1) == [Objection("some of its nodes do not answer: 1", forbids=False)]


def test_nodes_without_a_port() -> None:
    """The newest answer's count."""
    standing = Standing()
    standing.note(seen(0), {7: "node 7 is in none", 8: "node 8 is in none"})
    assert against(standing, 1) == [Objection("node 7 is in none; node 8 is in none")]
    standing.note(Look(10, error="away"), {})
    assert list(standing.lacking) == [7, 8]
    standing.note(seen(20), {})
    assert against(standing, 21) == []


def test_a_cluster_of_many_nodes() -> None:
    """Ten are named, and the number of the others: a broker may claim as many as it likes."""
    standing = Standing()
    standing.note(seen(0, "B", *range(1000)), {node_id: f"node {node_id} has none" for node_id in range(1000)})
    silent, lacking = against(standing, 1)
    assert silent.why == "none of its nodes answers: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 990 more"
    assert lacking.why.endswith("node 8 has none; node 9 has none; 990 more")
    standing.note(seen(1, "B", *range(10)), {})
    assert against(standing, 2)[0].why.endswith(": 0, 1, 2, 3, 4, 5, 6, 7, 8, 9")


def test_the_active_cluster_by_another_name() -> None:
    """It is told, and may take over: another way to the cluster may be the one that works."""
    same = Objection("it is the active Kafka cluster itself, by its id B", forbids=False)
    assert against(noted(seen(0)), 1, "B") == [same]
    assert against(noted(seen(0)), 1, None) == []
    assert against(noted(seen(0, None)), 1, None) == []


def test_another_cluster_is_believed_when_three_looks_show_it() -> None:
    """Until then no failover goes there; it is told once, by the ids before and after, and warned of for an hour."""
    standing = Standing()
    for at in (0, 60):
        assert standing.note(seen(at), {}) is None
    changed = "its cluster id has changed from B to C"
    for at in (120, 121):
        assert standing.note(seen(at, "C"), {}) is None
        assert against(standing, at) == [Objection(changed)]
    assert standing.note(seen(122, "C"), {}) == Replaced("B", "C", 120)
    assert standing.note(seen(182, "C"), {}) is None
    assert against(standing, 183) == [Objection(changed, forbids=False)]
    standing.note(seen(120 + TOLD_SECONDS, "C"), {})
    assert against(standing, 120 + TOLD_SECONDS) == []


def test_two_clusters_that_answer_in_turn_are_never_believed() -> None:
    """Nothing is told of as done; the objection names both of them."""
    standing = Standing()
    for at, cluster_id in enumerate("BCBCBCCBB"):
        assert standing.note(seen(at, cluster_id), {}) is None
        assert [one.forbids for one in against(standing, at)] == [True] * (at > 0)
    assert against(standing, 8) == [Objection("its cluster id has changed from C to B")]


def test_one_that_is_itself_again() -> None:
    """A moment as another cluster is warned of; it is no other cluster in the end."""
    standing = noted(seen(0), seen(1, "C"))
    for at in (2, 3, 4, 5):
        assert standing.note(seen(at), {}) is None
    assert against(standing, 5) == [Objection("its cluster id has changed from C to B", forbids=False)]


def test_a_cluster_that_gives_no_id_is_no_other_one() -> None:
    """Brokers before Metadata v2 give none; between two of them the id may still change."""
    standing = noted(seen(0), seen(1, None), seen(2))
    assert (standing.replaced, standing.cluster_id) == (None, "B")
    assert standing.note(seen(3, None), {}) is None
    standing.note(seen(4, "C"), {})
    assert standing.is_doubtful


def test_several_changes_until_one_is_believed() -> None:
    """What is told is the way from the last one that was believed."""
    standing = noted(seen(0), seen(1, "C"), seen(2, "D"), seen(3, "D"))
    assert standing.note(seen(4, "D"), {}) == Replaced("B", "D", 2)
