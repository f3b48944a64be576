"""The disk that hosted groups are kept on is full, or hangs: nothing moves, nothing is half-written, and it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kproxy.coordinator.states import Cause, GroupState
from tests.support.disturbed_group import MEMBERS, PARTITIONS, DisturbedGroup
from tests.support.wait import until

pytestmark = pytest.mark.timeout(240)


@contextmanager
def without_disk(world: DisturbedGroup, trouble: str) -> Iterator[None]:
    """No commit comes to the disk."""
    if trouble == "full":
        world.disk.fill()
    else:
        world.disk.let_pass(0)
    try:
        yield
    finally:
        world.disk.let_all_pass()


def not_stored(world: DisturbedGroup) -> bool:
    """Whether kproxy has said that the disk did not take the group."""
    preparing = GroupState.PREPARING
    return world.proxy.metric("kproxy_group_transitions_total", state=preparing, cause=Cause.NOT_STORED) > 0


@pytest.mark.parametrize("trouble", ["full", "held"])
def test_it_goes_on_when_the_disk_does(world: DisturbedGroup, trouble: str) -> None:
    """No generation begins meanwhile, and clients join on; then all nine are stable, and no record is lost."""
    with world.ninth("ninth"):
        with without_disk(world, trouble):
            until(lambda: not_stored(world), "it is said", timeout=60)
            assert world.group.state() != "Stable"
        until(lambda: len(world.group.stable_members()) == MEMBERS + 1, "nine members", timeout=60)
        world.group.check_owners(PARTITIONS)
    world.settle()
    world.check_records()


@pytest.mark.parametrize("trouble", ["full", "held"])
def test_nothing_is_half_written(world: DisturbedGroup, trouble: str) -> None:
    """Killed meanwhile, kproxy begins with the generation that was kept last, which its members go on with."""
    before = world.group.generation()
    with world.ninth("ninth"):
        with without_disk(world, trouble):
            until(lambda: not_stored(world), "it is said", timeout=60)
            kept = world.kill()
        assert kept is not None
        assert (kept.generation, kept.assigned, len(kept.members)) == (before, True, MEMBERS)
        world.proxy.start()
        until(lambda: len(world.group.stable_members()) == MEMBERS + 1, "nine members", timeout=60)
        world.group.check_owners(PARTITIONS)
    world.check_records()
