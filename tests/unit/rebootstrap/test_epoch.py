"""What raises the epoch, and that it cannot rise too often."""

from __future__ import annotations

import pytest

from kproxy.rebootstrap.actions import Cause
from kproxy.rebootstrap.epoch import FLOOR, Epoch, cause_of
from kproxy.topology.snapshot import Node, Snapshot, diff

A, B, C = Node(1, "a", 9092), Node(2, "b", 9092), Node(3, "c", 9092)


def test_it_begins_at_0_and_rises_by_1() -> None:
    """The first rise is immediate: clients from the beginning count like any other."""
    epoch = Epoch()
    assert (epoch.number, epoch.raised_at, epoch.cause, epoch.wait(5)) == (0, None, None, 0)
    epoch.raise_for(Cause.OPERATOR, 5)
    assert (epoch.number, epoch.raised_at, epoch.cause) == (1, 5, Cause.OPERATOR)


@pytest.mark.parametrize("cause", list(Cause))
def test_below_the_floor_it_says_how_long_to_wait(cause: Cause) -> None:
    """This holds behind every cause, also where the floor is changed meanwhile."""
    epoch = Epoch(floor=10)
    epoch.raise_for(cause, 100)
    assert [epoch.wait(now) for now in (100, 107.5, 110, 200)] == [10, 2.5, 0, 0]
    epoch.floor = 300
    assert epoch.wait(130) == 270


def test_it_rises_below_the_floor() -> None:
    """Whoever raises it has waited. A floor that grew since, by a reload, must not leave clients where they are."""
    epoch = Epoch(floor=10)
    epoch.raise_for(Cause.FAILOVER, 100)
    epoch.floor = 300
    epoch.raise_for(Cause.CONFIG, 130)
    assert (epoch.number, epoch.raised_at, epoch.cause) == (2, 130, Cause.CONFIG)


def test_the_default_floor() -> None:
    """Ten seconds."""
    epoch = Epoch()
    epoch.raise_for(Cause.DRAIN, 0)
    assert epoch.wait(0) == FLOOR == 10


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        (None, Snapshot.of([A], "x"), None),
        (Snapshot.of([A, B], "x"), Snapshot.of([A, B], "y"), Cause.CLUSTER_CHANGED),
        (Snapshot.of([A, B], "x"), Snapshot.of([C], "y"), Cause.CLUSTER_CHANGED),
        (Snapshot.of([A, B], "x"), Snapshot.of([C], "x"), Cause.ALL_NODES_REPLACED),
        (Snapshot.of([A, B]), Snapshot.of([C], "x"), Cause.ALL_NODES_REPLACED),
        (Snapshot.of([A, B], "x"), Snapshot.of([B, C], "x"), None),
        (Snapshot.of([A], "x"), Snapshot.of([A, B, C], "x"), None),
        (Snapshot.of([A, B], "x"), Snapshot.of([A], "x"), None),
        (Snapshot.of([A], "x"), Snapshot.of([A._replace(host="z", port=1)], "x"), None),
        (Snapshot.of([A], "x"), Snapshot.of([A], "x"), None),
    ],
)
def test_statement_what_counts_as_a_change_that_needs_it(
    old: Snapshot | None, new: Snapshot, cause: Cause | None
) -> None:
    """rebootstrap.md: another cluster, or every known broker gone; not one added, gone, moved or back with its id."""
    assert cause_of(diff(old, new)) is cause
