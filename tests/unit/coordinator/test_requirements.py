"""Statements R15-R24 of seed 004 that a coordinator alone can show.

R14 (ListGroups) and R18 (FindCoordinator) are in tests/groups/test_admin.py. Rediscovery (R20, R23) and offsets (R21)
need real clients, which all of tests/groups has.
"""

from __future__ import annotations

import pytest

from kproxy.coordinator.settings import EMPTY_KEPT, GroupSettings
from kproxy.coordinator.states import GroupState
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.coordinator.world import SESSION, World

UNKNOWN, ILLEGAL, AGAIN = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
)


@pytest.mark.parametrize(("session", "refused"), [(5.999, True), (6.0, False), (30.0, False), (30.001, True)])
def test_r15_a_groups_bounds_of_the_session_timeout(session: float, refused: bool) -> None:
    """One outside of the rule's bounds is refused (26), and no group comes of it."""
    world = World(GroupSettings(min_session_timeout=6.0, max_session_timeout=30.0))
    (one,) = world.clients("one", session=session)
    expected = ErrorCode.INVALID_SESSION_TIMEOUT if refused else ErrorCode.MEMBER_ID_REQUIRED
    assert (one.ask().error, len(world.coordinator.groups)) == (expected, int(not refused))


def test_r15_a_group_vanishes_after_its_last_client() -> None:
    """It is kept for a while, so that its generations go on, and then forgotten."""
    world = World()
    (one,) = world.clients("one")
    world.stable(one)
    one.leave()
    world.wait(EMPTY_KEPT - 1)
    assert list(world.coordinator.groups) == ["g"]
    world.wait(1)
    assert world.coordinator.groups == {}


def test_r16_only_a_group_without_members_is_deleted() -> None:
    """One with members stays (68); one that is not there is not found (69)."""
    world = World()
    (one,) = world.clients("one")
    assert world.coordinator.delete("g", world.now) == ErrorCode.GROUP_ID_NOT_FOUND
    world.stable(one)
    assert world.coordinator.delete("g", world.now) == ErrorCode.NON_EMPTY_GROUP
    assert (world.state, one.heartbeat()) == (GroupState.STABLE, 0)
    one.leave()
    pending = world.clients("pending")[0]
    pending.member_id = pending.ask().answer.member_id
    assert world.coordinator.delete("g", world.now) == ErrorCode.NONE
    assert (world.coordinator.groups, world.journal.kept) == ({}, {})
    assert pending.ask().error == UNKNOWN, "the id that was given out is gone, too"
    world.wait(EMPTY_KEPT)


def test_r17_a_heartbeat_within_the_session_with_the_generation() -> None:
    """More often is allowed; none in time, and the member is out."""
    world = World()
    (one,) = world.clients("one")
    world.stable(one)
    for pause in (SESSION - 0.001, 0.0, 0.0, SESSION - 0.001, 1.0):
        world.wait(pause)
        assert one.heartbeat() == 0
    one.generation += 1
    assert one.heartbeat() == ILLEGAL
    one.generation -= 1
    world.wait(SESSION)
    assert one.heartbeat() == UNKNOWN


def test_r19_a_registration_is_told_to_every_live_member() -> None:
    """By their heartbeats; the newcomer waits for all of them."""
    world = World()
    members = world.clients("one", "two", "three")
    world.stable(*members)
    waiting = world.clients("new")[0].join()
    assert [member.heartbeat() for member in members] == [AGAIN] * 3
    for member in members:
        assert waiting.waits
        member.join()
    assert waiting.answer.generation == 2


def test_r20_a_member_that_was_told_commits_and_registers_again() -> None:
    """It keeps its id, and its place in the group."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    before = [one.member_id, two.member_id]
    world.clients("new")[0].join()
    for member in (one, two):
        assert (member.heartbeat(), member.commit()) == (AGAIN, 0)
        member.join()
    assert [one.member_id, two.member_id] == before
    assert (one.generation, two.generation) == (2, 2)


def test_r21_when_all_are_registered_each_gets_its_partitions() -> None:
    """What the leader has assigned to it."""
    world = World()
    clients = world.clients("one", "two", "three")
    for client in clients:
        client.join()
    world.wait(9)
    waiting = [client.sync() for client in reversed(clients)]
    assert [each.answer.assignment for each in waiting] == [
        clients[0].assigned(client.member_id) for client in reversed(clients)
    ]


def test_r22_only_the_current_generation_counts() -> None:
    """A heartbeat, a sync and a commit of an earlier or a future one are refused (22)."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    for generation in (0, 2, 2**31 - 1, -1):
        one.generation = generation
        assert (one.heartbeat(), one.sync().error, one.commit()) == (ILLEGAL, ILLEGAL, ILLEGAL)
    assert two.heartbeat() == 0


def test_r23_who_waits_is_sent_to_look_for_the_coordinator() -> None:
    """Requests that wait are answered (16); a member that comes back in time has lost nothing."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    new = world.clients("new")[0]
    waiting = [new.join(), one.join()]
    world.wait(SESSION - 0.001)
    two.heartbeat()
    world.coordinator.send_away(ErrorCode.NOT_COORDINATOR, world.now)
    assert [each.error for each in waiting] == [ErrorCode.NOT_COORDINATOR] * 2
    world.wait(SESSION - 0.001)
    assert (one.heartbeat(), two.heartbeat()) == (AGAIN, AGAIN)
    for client in (one, two, new):
        client.join()
    world.settle([one, two, new])
    assert new.generation == 2


def test_r23_a_new_member_that_does_not_know_its_id() -> None:
    """By JoinGroup up to v3 it comes back as another one: nobody waits for the first, which cannot join again."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    (new,) = world.clients("new", needs_member_id=False)
    waiting = [new.join(), one.join()]
    world.coordinator.send_away(ErrorCode.NOT_COORDINATOR, world.now)
    assert [each.error for each in waiting] == [ErrorCode.NOT_COORDINATOR] * 2
    joined = [client.join() for client in (new, one, two)]
    assert [each.error for each in joined] == [0, 0, 0]
    world.settle([one, two, new])
    assert set(world.group.members) == {one.member_id, two.member_id, new.member_id}
    (alone,) = world.clients("alone", needs_member_id=False, group_id="h")
    alone.join()
    world.coordinator.send_away(ErrorCode.NOT_COORDINATOR, world.now)
    world.wait(SESSION * 100)
    assert "h" not in world.coordinator.groups


def test_r24_new_partitions_reach_the_group_by_its_leader() -> None:
    """The leader joins again, and assigns what it has found, in the next generation."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    one.join(), two.join()
    waiting = two.sync()
    one.sync({two.member_id: b"partition 7, too"})
    assert (waiting.answer.assignment, world.group.generation) == (b"partition 7, too", 2)
