"""A journal that is slow, or fails: who waits meanwhile, what members are told, and what a restart goes on with."""

from __future__ import annotations

import pytest

from kproxy.coordinator.messages import Joined
from kproxy.coordinator.records import GroupRecord, MemberRecord
from kproxy.coordinator.settings import EMPTY_KEPT
from kproxy.coordinator.states import Cause, GroupState
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.coordinator.world import RANGE, REBALANCE, SESSION, Client, World

UNKNOWN, ILLEGAL, AGAIN, NOT_STORED = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
)


def grown(**said: object) -> tuple[World, Client, Client]:
    """A stable group of two; from now on writes wait."""
    world = World()
    one, two = world.clients("one", "two", **said)
    world.stable(one, two)
    world.journal.holds = True
    return world, one, two


def test_joins_are_answered_once_the_generation_is_kept() -> None:
    """However long that takes: who waits is alive, and has its whole session afterwards, and the time to sync."""
    world, one, two = grown()
    joins = [one.join(), two.join()]
    world.wait(3 * REBALANCE)
    assert [each.waits for each in joins] == [True, True]
    world.finish()
    assert [each.answer.generation for each in joins] == [2, 2]
    world.wait(SESSION - 0.001)
    assert (one.heartbeat(), two.heartbeat()) == (0, 0)
    world.journal.holds = False
    for _ in range(int(REBALANCE / SESSION) - 1):
        world.wait(SESSION - 0.001)
        assert (one.heartbeat(), two.heartbeat()) == (0, 0)
    world.settle([one, two])


def test_a_join_that_is_repeated_meanwhile_waits_as_well() -> None:
    """Both requests of the member are answered the same, once each."""
    world, one, two = grown()
    joins = [one.join(), two.join(), two.join()]
    assert all(each.waits for each in joins)
    world.finish()
    assert joins[1].answer == joins[2].answer


def test_a_generation_that_is_not_kept() -> None:
    """All are told to ask again (15); they join again, and the generation after it counts."""
    world, one, two = grown()
    joins = [one.join(), two.join()]
    world.finish("disk full")
    assert [each.answer for each in joins] == [
        Joined(NOT_STORED, one.member_id),
        Joined(NOT_STORED, two.member_id),
    ]
    assert (world.state, world.moves[-1].cause) == (GroupState.PREPARING, Cause.NOT_STORED)
    world.journal.holds = False
    one.join(), two.join()
    world.settle([one, two])
    assert one.generation == 3


def test_a_journal_that_fails_at_once() -> None:
    """Members are told the same, each time; when it works again the group becomes stable."""
    world, one, two = grown()
    world.journal.holds, world.journal.failure = False, "disk full"
    for _ in range(3):
        joins = [one.join(), two.join()]
        assert ([each.error for each in joins], world.state) == ([NOT_STORED] * 2, GroupState.PREPARING)
    assert world.journal.kept["g"].generation == 1
    world.journal.failure = None
    one.join(), two.join()
    world.settle([one, two])


def test_assignments_are_answered_once_they_are_kept() -> None:
    """Until then the group waits for them, and so do syncs; a heartbeat is answered."""
    world, one, two = grown()
    one.join(), two.join()
    world.finish()
    syncs = [one.sync(), two.sync()]
    world.wait(3 * REBALANCE)
    assert ([each.waits for each in syncs], world.state) == ([True, True], GroupState.COMPLETING)
    assert one.heartbeat() == 0
    world.finish()
    assert [each.answer.assignment for each in syncs] == [one.assigned(each.member_id) for each in (one, two)]
    world.wait(SESSION - 0.001)
    assert (one.heartbeat(), two.heartbeat()) == (0, 0)


def test_assignments_that_are_not_kept() -> None:
    """Syncs are told to ask again (15), and all join again; a later sync finds no assignment of them."""
    world, one, two = grown()
    one.join(), two.join()
    world.finish()
    syncs = [one.sync(), two.sync()]
    world.finish("disk full")
    assert [each.error for each in syncs] == [NOT_STORED, NOT_STORED]
    assert (world.state, world.moves[-1].cause, two.heartbeat()) == (GroupState.PREPARING, Cause.NOT_STORED, AGAIN)
    world.journal.holds = False
    one.join(), two.join()
    world.settle([one, two])


@pytest.mark.parametrize("failure", [None, "disk full"])
def test_a_rebalance_while_assignments_are_being_kept(failure: str | None) -> None:
    """They come too late, kept or not: members were told to join again, and the next leader's count."""
    world, one, two = grown()
    one.join(), two.join()
    world.finish()
    syncs = [one.sync(), two.sync()]
    two.leave()
    assert [each.error for each in syncs] == [AGAIN, UNKNOWN]
    world.finish(failure)
    assert world.state is GroupState.PREPARING
    world.journal.holds = False
    one.join()
    world.settle([one])
    assert one.sync().answer.assignment == one.assigned(one.member_id)


@pytest.mark.parametrize("failure", [None, "disk full"])
def test_a_rebalance_while_the_generation_is_being_kept(failure: str | None) -> None:
    """Its members are answered when it is kept, or not, and then told to join again; nobody is lost."""
    world, one, two = grown()
    joins = [one.join(), two.join()]
    new = world.clients("new")[0]
    waiting = new.join()
    assert (world.state, [each.waits for each in (*joins, waiting)]) == (GroupState.PREPARING, [True] * 3)
    world.wait(2 * SESSION)
    world.finish(failure)
    assert [each.error for each in joins] == [0 if failure is None else NOT_STORED] * 2
    world.journal.holds = False
    if failure is None:
        assert [one.heartbeat(), one.sync().error] == [AGAIN, AGAIN]
    one.join(), two.join()
    assert waiting.answer.generation == 3
    world.settle([one, two, new])


def test_a_generation_that_is_kept_after_the_next_has_begun() -> None:
    """Members that only then hear of it are refused as of an old generation, and join again."""
    world, one, two = grown()
    joins = [one.join(), two.join()]
    new = world.clients("new")[0]
    waiting = new.join()
    world.wait(REBALANCE)
    assert (world.group.generation, list(world.group.members)) == (3, [new.member_id or "new-003"])
    world.finish(count=1)
    assert ([each.answer.generation for each in joins], waiting.waits) == ([2, 2], True)
    assert [one.sync().error, two.heartbeat()] == [UNKNOWN, UNKNOWN]
    world.finish()
    assert waiting.answer.generation == 3


def test_a_member_that_leaves_while_the_generation_is_being_kept() -> None:
    """Its join is answered all the same, once; after that it is unknown."""
    world, one, two = grown()
    joins = [one.join(), two.join()]
    assert two.leave() == 0
    world.finish()
    assert [each.error for each in joins] == [0, 0]
    assert two.sync().error == UNKNOWN
    world.wait(SESSION)


def test_sessions_do_not_end_while_a_generation_is_being_kept() -> None:
    """Nor begins the time to sync."""
    world, one, two = grown()
    joins = [one.join(), two.join()]
    world.wait(10 * REBALANCE)
    assert (world.state, len(world.group.members)) == (GroupState.COMPLETING, 2)
    world.finish()
    assert [each.error for each in joins] == [0, 0]
    world.wait(SESSION)
    assert world.state is GroupState.EMPTY


def test_an_empty_group_that_is_not_kept() -> None:
    """Nobody is there to be told; it goes on."""
    world, one, two = grown()
    one.leave(), two.leave()
    world.finish("disk full")
    assert (world.state, world.journal.kept["g"].generation) == (GroupState.EMPTY, 1)
    world.journal.holds = False
    world.stable(*world.clients("new"))
    assert world.group.generation == 3


def test_a_restored_group_lives_on() -> None:
    """Longer than an empty one is kept, as long as its members send heartbeats; one that does not expires."""
    world, one, two = grown(session=30.0)
    world.restart()
    for _ in range(int(2 * EMPTY_KEPT / 10)):
        world.wait(10.0)
        assert (one.heartbeat(), two.heartbeat()) == (0, 0)
    world.wait(29.0)
    one.heartbeat()
    world.wait(1.0)
    assert (one.heartbeat(), two.heartbeat()) == (AGAIN, UNKNOWN)


def test_a_restored_generation_must_sync_in_time() -> None:
    """The time for it begins with the restart; members that do not are expelled."""
    world, one, two = grown(session=500.0)
    one.join(), two.join()
    world.finish()
    world.restart()
    waiting = one.sync()
    world.wait(REBALANCE - 0.001)
    assert waiting.waits
    world.journal.finish(world.now)
    world.wait(0.001)
    assert (one.heartbeat(), two.heartbeat()) == (AGAIN, UNKNOWN)


def test_a_restored_group_knows_its_members_protocols() -> None:
    """A follower that says the same as before gets its generation; one that says something else begins a rebalance."""
    world, one, two = grown()
    world.restart()
    assert (two.join().answer.leader, world.state) == (one.member_id, GroupState.STABLE)
    world.journal.holds = False
    two.protocols = (("range", b"other"),)
    assert two.join().waits
    one.join()
    world.settle([one, two])


def test_a_restored_static_member_is_fenced_and_replaced_as_before() -> None:
    """Its instance id is kept."""
    world = World()
    one, two = world.clients("one")[0], Client(world, "two", instance_id="j")
    world.stable(one, two)
    world.restart()
    again = Client(world, "two", instance_id="j")
    assert (again.join().error, two.heartbeat()) == (0, ErrorCode.FENCED_INSTANCE_ID)
    assert again.sync().answer.assignment == one.assigned(two.member_id)


@pytest.mark.parametrize("leader", ["gone", None])
def test_a_record_whose_leader_is_no_member(leader: str | None) -> None:
    """The first member leads instead."""
    world = World()
    record = MemberRecord("a", None, "a", "/10.0.0.1", 10.0, 60.0, RANGE, b"mine")
    world.journal.kept["g"] = GroupRecord("g", 4, "consumer", "range", leader, True, (record,))
    world.restart()
    (one,) = world.clients("a", member_id="a", generation=4)
    assert (world.group.leader, one.sync().answer.assignment) == ("a", b"mine")


def test_a_group_that_is_read_without_members_or_type() -> None:
    """It is kept for a while, and any protocol may begin it."""
    world = World()
    world.journal.kept["g"] = GroupRecord("g", 4)
    world.restart()
    assert (world.state, world.commit()) == (GroupState.EMPTY, 0)
    (one,) = world.clients("one", protocol_type="connect")
    world.stable(one)
    assert one.generation == 5
