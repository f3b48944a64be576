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


def test_a_group_that_rebalances_more_often_than_it_refreshes() -> None:
    """Each member's turn comes all the same, once in its interval; a member that is new has its own soon."""
    world = World(SETTINGS)
    members = world.clients("one", "two", "three")
    world.stable(*members)
    for member in members:
        world.group.members[member.member_id].session.drop()
    for _ in range(2):
        refreshed = [0, 0, 0]
        for _ in range(12):
            rebalance(world, members)
            for number, member in enumerate(members):
                refreshed[number] += due(world, member) is not None
            world.wait(REFRESH / 12)
        assert refreshed == [1, 1, 1]
    (late,) = world.clients("late")
    late.join()
    rebalance(world, members)
    assert late.sync().error == 0
    assert due(world, late) is not None


def rebalance(world: World, members: list[Client]) -> None:
    """Have all members join again, and get their assignments."""
    changed = (("range", str(world.now).encode()),)
    waiting = [member.ask(protocols=changed) for member in members]
    assert [one.error for one in waiting] == [0] * len(members)
    world.settle(members)
    for member in members:
        world.group.members[member.member_id].session.drop()


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


def transacts(world: World, client: Client) -> int:
    """The error of a commit in a transaction."""
    return world.coordinator.may_commit_in_transaction("g", client.member_id, None, client.generation, world.now)


def test_a_group_that_commits_in_transactions() -> None:
    """A refresh waits for a pause, and commits in transactions wait for it (14): it would undo one in between."""
    world = World(SETTINGS)
    (one,) = world.clients("one")
    world.stable(one)
    assert transacts(world, one) == 0
    assert due(world, one) is None, "it may not have reached the broker yet"
    world.wait(2)
    assert due(world, one) is not None
    with world.coordinator.refreshing("g"):
        assert transacts(world, one) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert transacts(world, one) == 0


def test_a_group_that_never_pauses() -> None:
    """Its offsets are committed again twice a day all the same: partitions without traffic would else be lost."""
    world = World(SETTINGS)
    (one,) = world.clients("one")
    world.stable(one)
    world.group.members[one.member_id].session.drop()
    refreshed = 0
    for _ in range(50):
        assert transacts(world, one) == 0
        refreshed += due(world, one) is not None
        world.wait(1800)
    assert refreshed == 2


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
    assert waits.waits, "a generation that was fenced is joined by nobody: it has no protocol"
    assert two.join().error == waits.error == 0
    assert (waits.answer.protocol_name, waits.answer.generation) == ("range", world.group.generation)
    world.settle([one, two])
    assert set(world.group.members) == ids


def test_a_member_that_does_not_come_back_from_another_cluster() -> None:
    """A restart meanwhile changes nothing: the others go on once its session is over."""
    world = World(SETTINGS)
    one, two = world.clients("one", "two")
    world.stable(one, two)
    world.coordinator.change_cluster(world.now)
    world.restart()
    waits = one.join()
    world.wait(world.group.members[two.member_id].session_timeout + 1)
    assert (waits.error, waits.answer.protocol_name) == (0, "range")
    assert set(world.group.members) == {one.member_id}


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
