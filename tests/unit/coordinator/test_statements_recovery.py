"""Statements 1-7 of seed 000: what a group does when its coordinator fails, loads, or has no members."""

from __future__ import annotations

from kproxy.coordinator.settings import EMPTY_KEPT
from kproxy.coordinator.states import Cause, GroupState
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.coordinator.world import SESSION, Client, World

UNKNOWN, FENCED, REBALANCE = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.REBALANCE_IN_PROGRESS,
)


def completing(world: World, *clients: Client) -> None:
    """Have new clients join; none of them syncs."""
    for client in clients:
        client.join()
    world.wait(3 * len(clients))
    assert world.state is GroupState.COMPLETING


def test_statement_01_a_crash_before_all_have_joined() -> None:
    """Nothing was kept of a first join: members are unknown, join anew, and the group completes."""
    world = World()
    one, two = world.clients("one", "two")
    one.join(), two.join()
    world.restart()
    assert [client.join().error for client in (one, two)] == [UNKNOWN, UNKNOWN]
    one.member_id = two.member_id = ""
    world.stable(one, two)
    assert (one.generation, two.generation) == (1, 1)


def test_statement_01_a_crash_before_the_generation_is_persisted() -> None:
    """No member was answered; all send their JoinGroup again, and the generation that nobody knew begins anew."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    world.journal.holds = True
    joins = [one.join(), two.join()]
    assert (world.state, [join.waits for join in joins]) == (GroupState.COMPLETING, [True, True])
    world.restart()
    world.journal.holds = False
    assert (world.state, world.group.generation) == (GroupState.STABLE, 1)
    again = [one.join(), two.join()]
    assert [join.answer.generation for join in again] == [2, 2]
    world.settle([one, two])


def test_statement_02_a_join_that_was_not_answered_aborts_the_sync() -> None:
    """A member that never learned its id comes as a new one: the leader's sync is answered 27, and all join again."""
    world = World()
    one, two = world.clients("one", "two", needs_member_id=False)
    completing(world, one, two)
    world.restart()
    world.journal.holds = True
    syncing = one.sync()
    two.member_id, two.generation = "", -1
    again = two.join()
    assert (world.state, syncing.error, one.heartbeat()) == (GroupState.PREPARING, REBALANCE, REBALANCE)
    world.finish()
    assert (world.state, again.waits) == (GroupState.PREPARING, True), "assignments that come too late change nothing"
    world.journal.holds = False
    one.join()
    world.wait(SESSION)
    assert (again.answer.generation, one.generation) == (2, 2), "without the id that nobody has"
    world.settle([one, two])


def test_statement_02_a_member_that_knows_its_id_is_answered_as_before_the_crash() -> None:
    """The lost answer is repeated, so that nobody is left out of the generation and nobody has to join again."""
    world = World()
    one, two = world.clients("one", "two")
    completing(world, one, two)
    before = two.joined
    world.restart()
    one.sync()
    assert two.join().answer == before
    world.settle([two])


def test_statement_03_a_crash_before_the_assignments_are_persisted() -> None:
    """No sync was answered; all send their SyncGroup again, and it completes in the same generation."""
    world = World()
    one, two = world.clients("one", "two")
    completing(world, one, two)
    world.journal.holds = True
    assert [one.sync().waits, two.sync().waits] == [True, True]
    world.restart()
    world.journal.holds = False
    assert world.state is GroupState.COMPLETING
    world.settle([one, two])
    assert world.group.generation == 1


def test_statement_04_a_crash_after_the_assignments_are_persisted() -> None:
    """Each member gets its own assignment at once, whoever asks first; the others are undisturbed."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    world.restart()
    for client in (two, one):
        assert client.heartbeat() == 0
        assert client.sync().answer.assignment == client.assigned(client.member_id)
    assert (world.state, world.group.generation) == (GroupState.STABLE, 1)
    assert [move.after for move in world.moves].count(GroupState.PREPARING) == 1, "the first one only"


def test_statement_04_assignments_that_were_not_persisted() -> None:
    """A full resync: the leader's new assignments count, not those that it sent before the crash."""
    world = World()
    one, two = world.clients("one", "two")
    completing(world, one, two)
    world.journal.holds = True
    one.sync({one.member_id: b"lost", two.member_id: b"lost"})
    world.restart()
    world.journal.holds = False
    waiting = two.sync()
    assert waiting.waits
    one.sync()
    assert waiting.answer.assignment == one.assigned(two.member_id)


def test_statement_05_without_persistence_all_rejoin() -> None:
    """A coordinator that has kept nothing knows no member: each is told so, and joins anew."""
    world = World()
    one, two = world.clients("one", "two", instance_id=None)
    world.stable(one, two)
    world.journal.kept.clear()
    world.restart()
    assert [client.heartbeat() for client in (one, two)] == [UNKNOWN, UNKNOWN]
    assert [client.join().error for client in (one, two)] == [UNKNOWN, UNKNOWN]
    for client in (one, two):
        client.member_id = ""
    world.stable(one, two)


def test_statement_06_not_ready_while_the_groups_are_read() -> None:
    """Every request is answered to ask again (14), and changes nothing."""
    world = World()
    world.coordinator.refuses = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    client = Client(world, "one", member_id="one-1", generation=3)
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert [client.ask().error, client.ask(member_id="").error, client.sync().error] == [loading] * 3
    assert [client.heartbeat(), client.commit(), world.commit(), client.leave()] == [loading] * 4
    assert world.coordinator.may_commit_in_transaction("g", "", None, -1) == loading
    assert world.coordinator.delete("g", world.now) == loading
    assert world.coordinator.groups == {}
    world.coordinator.restore([], world.now)
    world.coordinator.refuses = ErrorCode.NONE
    world.stable(*world.clients("two"))


def test_statement_07_a_group_without_members_awaits_its_first_join() -> None:
    """Its generations go on when a member comes back in time; later the group is forgotten, in the journal, too."""
    world = World()
    (one,) = world.clients("one")
    world.stable(one)
    assert one.leave() == 0
    assert (world.state, world.group.generation, one.heartbeat()) == (GroupState.EMPTY, 2, UNKNOWN)
    world.wait(EMPTY_KEPT - 1)
    (two,) = world.clients("two")
    world.stable(two)
    assert two.generation == 3
    two.leave()
    world.wait(EMPTY_KEPT)
    assert (world.coordinator.groups, world.journal.kept) == ({}, {})
    assert world.moves[-1][:3] == (GroupState.EMPTY, GroupState.DEAD, Cause.REMOVED)


def test_statement_07_a_restart_keeps_the_generation_of_an_empty_group() -> None:
    """The next generation is a new one after a restart, too."""
    world = World()
    (one,) = world.clients("one")
    world.stable(one)
    one.leave()
    world.restart()
    assert world.state is GroupState.EMPTY
    (two,) = world.clients("two")
    world.stable(two)
    assert two.generation == 3
