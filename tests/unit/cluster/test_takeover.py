"""What a failover would mean: two clusters compared, and the clients that cannot follow."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kproxy.cluster.takeover import Asked, Finding, Weight, findings, refused

WARNS, NOTES = Weight.WARNS, Weight.NOTES


def cluster(
    cluster_id: str | None = "here",
    topics: Mapping[str, int] | None = None,
    offsets: Mapping[str, int] | None = None,
    **unknown: str,
) -> Asked:
    """A cluster that has two topics of three partitions and one group, by default."""
    own = {"orders": 3, "stock": 3} if topics is None else topics
    return Asked(cluster_id, own, {"app": 6} if offsets is None else offsets, unknown)


def test_nothing_to_say() -> None:
    """More partitions, topics and groups there are no trouble; a group without offsets here needs none there."""
    there = cluster("there", {"orders": 6, "stock": 3, "more": 1}, {"app": 1, "more": 3})
    assert not [*findings(cluster(offsets={"app": 6, "new": 0}), there, {}, [])]
    assert not [*findings(cluster(None), cluster(None), {}, [])]


@pytest.mark.parametrize(
    ("here", "there", "found"),
    [
        (
            cluster(),
            cluster(),
            Finding(WARNS, "cluster", "both clusters have the id here: they may be the same"),
        ),
        (cluster(), cluster("there", {"stock": 3}), Finding(WARNS, "topics", "are not there: orders")),
        (
            cluster(topics={f"t{number}": 1 for number in range(7)}),
            cluster("there", {}),
            Finding(WARNS, "topics", "are not there: t0, t1, t2, t3, t4, and 2 more"),
        ),
        (
            cluster(),
            cluster("there", {"orders": 1, "stock": 3}),
            Finding(WARNS, "topics", "have fewer partitions there: orders (1 of 3)"),
        ),
        (
            cluster(),
            cluster("there", None, {"app": 0}),
            Finding(WARNS, "groups", "have no committed offsets there, so auto.offset.reset decides: app"),
        ),
        (
            Asked("here", {}, {}, {"topics": "no answer"}),
            cluster("there"),
            Finding(NOTES, "topics", "were not compared: no answer"),
        ),
        (
            Asked("here", {}, {}, {"groups": "refused"}),
            Asked("there", {}, {}, {"groups": "away"}),
            Finding(NOTES, "groups", "were not compared: refused; away"),
        ),
    ],
)
def test_one_finding(here: Asked, there: Asked, found: Finding) -> None:
    """Each has its weight, what it is about, and names; of many names the number."""
    assert [*findings(here, there, {}, [])] == [found]


def test_nodes_and_clients() -> None:
    """Nodes come with the reason, clients by name."""
    found = [*findings(cluster(), cluster("there"), {2: "connection refused"}, ["old at 10.0.0.1"])]
    assert found == [
        Finding(WARNS, "nodes", "node 2 cannot be connected to: connection refused"),
        Finding(WARNS, "clients", "cannot follow and must be restarted: old at 10.0.0.1"),
    ]


def test_what_refuses() -> None:
    """In the order in which it is found."""
    assert refused(["a", "b"]) == [Finding(Weight.REFUSES, "cluster", "a"), Finding(Weight.REFUSES, "cluster", "b")]
