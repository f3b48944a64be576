"""Statements 1-7 of seed 000: what a group does when its coordinator fails, loads, or has no members."""

from __future__ import annotations

import pytest

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
    two.protocols = (("range", b"more topics"),)
    joins = [one.join(), two.join()]
    assert (world.state, [join.waits for join in joins]) == (GroupState.COMPLETING, [True, True])
    world.restart()
    world.journal.holds = False
    assert (world.state, world.group.generation) == (GroupState.STABLE, 1)
    again = [two.join(), one.join()]
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


def restarted(count: int = 1) -> tuple[World, Client, Client]:
    """A stable group of a leader and another member, after a restart; the leader has joined again so many times."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    world.restart()
    for _ in range(count):
        assert one.join().answer.generation == 1
        assert one.leads
    return world, one, two


@pytest.mark.parametrize("count", [1, 2], ids=["once", "again, as its answer was lost"])
def test_statement_04_a_leader_that_joins_again_disturbs_nobody(count: int) -> None:
    """It assigns as before: it has forgotten its topics (KIP-899), and no topic has changed."""
    world, one, two = restarted(count)
    assert [member.member_id for member in one.joined.members] == [one.member_id, two.member_id]
    assert (world.state, two.heartbeat()) == (GroupState.STABLE, 0)
    assert one.sync().answer.assignment == one.assigned(one.member_id)
    assert (world.state, world.group.generation, two.heartbeat()) == (GroupState.STABLE, 1, 0)


def test_statement_04_a_leader_that_says_something_else_disturbs_nobody() -> None:
    """What a leader says differs with each generation that it has been in: what it assigns counts."""
    world, one, two = restarted(0)
    one.protocols = (("range", b"topics, in generation 1"),)
    assert one.join().answer.generation == 1
    assert one.sync().error == 0
    assert (world.state, two.heartbeat()) == (GroupState.STABLE, 0)
    assert world.group.members[one.member_id].protocols == one.protocols


def test_statement_04_a_leader_that_assigns_nothing_changes_nothing() -> None:
    """It gets what was kept, as does a member that only asks for it."""
    world, one, two = restarted()
    assert two.sync().answer.assignment == one.assigned(two.member_id)
    assert one.sync({}).answer.assignment == one.assigned(one.member_id)
    assert world.state is GroupState.STABLE


def test_statement_04_a_leader_that_assigns_otherwise_has_all_join_again() -> None:
    """A topic changed while kproxy was away: no member is given what is not kept, and the group rebalances."""
    world, one, two = restarted()
    changed = {one.member_id: b"more", two.member_id: one.assigned(two.member_id)}
    assert one.sync(changed).error == REBALANCE
    assert (world.state, world.moves[-1].cause, two.heartbeat()) == (
        GroupState.PREPARING,
        Cause.LEADER_JOINED,
        REBALANCE,
    )
    one.join(), two.join()
    world.settle([one, two])
    assert world.group.generation == 2


def test_statement_24_a_leader_that_joins_again_later_has_all_join_again() -> None:
    """Once it has assigned as before, whatever has it join again is a change."""
    world, one, two = restarted()
    one.sync()
    assert one.join().waits
    assert (world.state, two.heartbeat()) == (GroupState.PREPARING, REBALANCE)


def test_statement_20_a_leader_that_comes_back_with_another_protocol_has_all_join_again() -> None:
    """The group must choose its protocol anew, which needs a generation."""
    world = World()
    one, two = world.clients("one", "two", protocols=(("range", b"r"), ("sticky", b"s")))
    world.stable(one, two)
    world.restart()
    one.protocols = (("sticky", b"s"),)
    assert one.join().waits
    assert (world.state, two.heartbeat()) == (GroupState.PREPARING, REBALANCE)


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
    assert world.coordinator.may_commit_in_transaction("g", "", None, -1, world.now) == loading
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
