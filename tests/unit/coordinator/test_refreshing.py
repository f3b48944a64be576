"""When the offsets of a live member are to be committed again, and what becomes of groups that are given up."""

from __future__ import annotations

from kproxy.coordinator.settings import GroupSettings
from kproxy.coordinator.states import Cause
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.coordinator.world import DELAY, Client, World

REFRESH = 600.0
SETTINGS = GroupSettings(initial_rebalance_delay=DELAY, offset_refresh=REFRESH)


def due(world: World, client: Client) -> bytes | None:
    """The assignment of a member whose offsets are due."""
    return world.coordinator.offsets_due("g", client.member_id, world.now)


def test_members_have_their_turns() -> None:
    """The first one at once, the second half an interval later, and then each in its interval."""
    world = World(SETTINGS)
    one, two = world.clients("one", "two")
    world.stable(one, two)
    first, second = (one, two) if world.group.members[one.member_id].offsets_due <= world.now else (two, one)
    assert due(world, first) == world.group.members[first.member_id].assignment
    assert due(world, first) is due(world, second) is None
    world.group.members[first.member_id].session.drop()
    world.group.members[second.member_id].session.drop()
    world.wait(REFRESH / 2)
    assert (due(world, first), due(world, second) is None) == (None, False)
    world.wait(REFRESH / 2)
    assert (due(world, first) is None, due(world, second)) == (False, None)


def test_nothing_is_due_while_a_group_rebalances_or_of_other_groups_than_consumers() -> None:
    """A member's partitions may be another's soon; only consumers' assignments can be read."""
    world = World(SETTINGS)
    (one,) = world.clients("one")
    world.stable(one)
    one.ask(protocols=(("range", b"changed"),))
    assert due(world, one) is None
    other = World(SETTINGS)
    (connect,) = other.clients("connect", protocol_type="connect")
    other.stable(connect)
    assert due(other, connect) is None


def test_after_a_restart_it_begins_anew() -> None:
    """A process that is restarted again and again refreshes, too: the first member at once."""
    world = World(SETTINGS)
    (one,) = world.clients("one")
    world.stable(one)
    assert due(world, one) is not None
    world.restart()
    assert due(world, one) is not None


def test_groups_that_are_given_up() -> None:
    """Whoever waits is answered that it is unknown (25); nothing is left, here or in the journal."""
    world = World(SETTINGS)
    one, two = world.clients("one", "two")
    world.stable(one, two)
    waits = one.ask(protocols=(("range", b"changed"),))
    world.coordinator.abandon(["g"], world.now)
    assert waits.error == ErrorCode.UNKNOWN_MEMBER_ID
    assert (world.coordinator.groups, world.journal.kept) == ({}, {})
    assert two.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    world.wait(10_000)


def test_another_cluster() -> None:
    """Members stay, but their generation is over at once: it neither commits nor is stable; they join again."""
    world = World(SETTINGS)
    one, two = world.clients("one", "two")
    world.stable(one, two)
    ids = set(world.group.members)
    world.coordinator.change_cluster(world.now)
    illegal = ErrorCode.ILLEGAL_GENERATION
    assert (one.heartbeat(), one.commit(), one.sync().error) == (illegal, illegal, illegal)
    assert world.moves[-1].cause is Cause.CLUSTER_CHANGED
    world.restart()
    assert (one.heartbeat(), two.commit()) == (illegal, illegal)
    waits = one.join()
    assert two.join().error == waits.error == 0
    world.settle([one, two])
    assert set(world.group.members) == ids


def test_another_cluster_while_members_join() -> None:
    """Who waits is sent away (16) and joins again; a group without members is left alone."""
    world = World(SETTINGS)
    one, two = world.clients("one", "two")
    world.stable(one, two)
    waits = one.ask(protocols=(("range", b"changed"),))
    moves = len(world.moves)
    world.coordinator.change_cluster(world.now)
    assert waits.error == ErrorCode.NOT_COORDINATOR
    assert len(world.moves) == moves
    assert one.join().waits
    assert two.join().error == 0
    empty = World(SETTINGS)
    (gone,) = empty.clients("gone")
    empty.stable(gone)
    gone.leave()
    generation = empty.group.generation
    empty.coordinator.change_cluster(empty.now)
    assert empty.group.generation == generation
