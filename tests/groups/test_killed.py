"""kproxy killed while it hosts a group: the group goes on, and no record is lost or assigned to two members."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Final

import pytest

from kproxy.coordinator.records import GroupRecord
from tests.support.disturbed_group import MEMBERS, PARTITIONS, DisturbedGroup
from tests.support.hosted_group import HEARTBEAT, SESSION
from tests.support.wait import until

KILLS: Final = int(os.environ.get("TEST_KILLS", "4"))
SEED: Final = 20
SOON: Final = 2.0
"""Seconds within which a group is stable after a restart, beyond a heartbeat's interval."""
pytestmark = pytest.mark.timeout(240 + 40 * KILLS)


def test_killed_at_random_moments(world: DisturbedGroup) -> None:
    """Half of the kills come while a ninth member joins or leaves."""
    rng = random.Random(SEED)
    for number in range(KILLS):
        killed(world, rng, disturbed=number % 2 == 1)
    world.check_records()


def killed(world: DisturbedGroup, rng: random.Random, *, disturbed: bool) -> None:
    """Kill kproxy and start it again; the group must be stable soon, and as it was where its assignments were kept."""
    with ExitStack() as others:
        if disturbed:
            others.enter_context(world.ninth(f"x{rng.getrandbits(32):08x}"))
            until(lambda: world.group.state() != "Stable", "the ninth disturbs", timeout=30, every=0.01)
        end = time.monotonic() + rng.uniform(0, 1.5)
        until(lambda: time.monotonic() > end, "a random moment")
        kept = world.kill()
        world.proxy.start()
        restarted = time.monotonic()
        if kept is not None and kept.assigned and not disturbed:
            check_undisturbed(world, kept, restarted)
        else:
            until(lambda: world.group.state() == "Stable", "stable again", timeout=60)
        world.group.check_owners(PARTITIONS)
        took = time.monotonic() - restarted
        print(f"{took:.1f} s after the restart; disturbed: {disturbed}")
    if disturbed:
        world.settle()


def check_undisturbed(world: DisturbedGroup, kept: GroupRecord, restarted: float) -> None:
    """Every member is heard of before its session ends; the group is stable, and does not rebalance.

    A Java leader that has forgotten its topics joins again; nobody else does, since it assigns as before.
    """
    group = world.group
    assert group.ids() == {member.id for member in kept.members}

    def ends() -> dict[str, float]:
        return {member["member"]: member["session_ends"] + time.monotonic() for member in group.members()}

    restored = ends()

    def silent() -> list[str]:
        now = ends()
        return [member for member, end in restored.items() if now.get(member, end) < end + 0.05]

    until(lambda: group.state() == "Stable", "stable", timeout=restarted + HEARTBEAT + SOON - time.monotonic())
    until(lambda: not silent(), "every member is heard of", timeout=SESSION)
    assert group.ids() == {member.id for member in kept.members}
    assert (group.generation(), world.proxy.metric("kproxy_group_transitions_total")) == (kept.generation, 0)


def joining(world: DisturbedGroup, before: int) -> GroupRecord | None:
    """While some have joined, and kproxy waits for the others."""
    del before
    until(lambda: world.group.state() == "PreparingRebalance", "the ninth has joined", timeout=30, every=0.005)
    return world.kill()


def joined(world: DisturbedGroup, before: int) -> GroupRecord | None:
    """All have joined; the generation is not kept, and nobody is answered."""
    world.disk.wait_held()
    assert (world.group.state(), world.group.generation()) == ("CompletingRebalance", before + 1)
    return world.kill()


def syncing(world: DisturbedGroup, before: int) -> GroupRecord | None:
    """The generation is kept and the leader has assigned; the assignments are not kept, and nobody has its own."""
    world.disk.wait_held()
    assert (world.group.state(), world.group.generation()) == ("CompletingRebalance", before + 1)
    return world.kill()


def synced(world: DisturbedGroup, before: int) -> GroupRecord | None:
    """The assignments are kept; members may have theirs, or not."""
    goal = world.disk.commits + 2

    def kept() -> bool:
        return world.disk.commits >= goal

    until(kept, "the assignments are kept", timeout=30, every=0.0005)
    return world.kill()


STEPS: Final[Sequence[tuple[Callable[[DisturbedGroup, int], GroupRecord | None], int | None, int, bool]]] = [
    (joining, None, 0, True),
    (joined, 0, 0, True),
    (syncing, 1, 1, False),
    (synced, None, 1, True),
]
"""Each step; how many commits may pass in it; how far the kept generation is beyond the one before; is it assigned?"""


def test_killed_at_each_step(world: DisturbedGroup) -> None:
    """Statements 1, 3 and 4 with real clients: what is kept at each step of a rebalance, and how the group goes on."""
    for number, (step, passing, beyond, assigned) in enumerate(STEPS):
        before = world.group.generation()
        if passing is not None:
            world.disk.let_pass(passing)
        with world.ninth(f"ninth{number}"):
            kept = step(world, before)
            assert kept is not None
            assert (kept.generation, kept.assigned) == (before + beyond, assigned), step.__name__
            world.proxy.start()
            until(lambda: whole(world), "stable with the ninth", timeout=60)
            world.group.check_owners(PARTITIONS)
            if step in (syncing, synced):
                # A member that had no answer to its SyncGroup joins again, under its id: so do Java and librdkafka.
                assert world.group.ids() == {member.id for member in kept.members}
        world.settle()
    world.check_records()


def whole(world: DisturbedGroup) -> bool:
    """Whether the group is stable, and the ninth is one of it."""
    return len(world.group.stable_members()) == MEMBERS + 1
