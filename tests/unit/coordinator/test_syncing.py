"""SyncGroup and LeaveGroup: errors in their order, what the leader's assignments become, and who leaves how."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.coordinator.states import GroupState
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.coordinator.world import SESSION, Client, World

UNKNOWN, FENCED, ILLEGAL, AGAIN, INCONSISTENT = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
)


def completing() -> tuple[World, Client, Client]:
    """A group of a leader and a static follower that have joined and not synced."""
    world = World()
    one, two = Client(world, "one"), Client(world, "two", instance_id="j")
    one.join(), two.join()
    world.wait(6.0)
    assert world.state is GroupState.COMPLETING
    return world, one, two


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"group_id": "other"}, UNKNOWN),
        ({"member_id": "other"}, UNKNOWN),
        ({"instance_id": "k"}, UNKNOWN),
        ({"instance_id": "j", "generation": 9}, FENCED),
        ({"generation": 9, "protocol_name": "sticky"}, ILLEGAL),
        ({"protocol_name": "sticky"}, INCONSISTENT),
        ({"protocol_type": "connect", "protocol_name": "range"}, INCONSISTENT),
        ({"protocol_type": "consumer", "protocol_name": "range"}, 0),
        ({}, 0),
    ],
)
def test_the_order_of_a_syncs_errors(changes: dict[str, Any], error: int) -> None:
    """Group, instance, member, generation, protocol: the first that is wrong is told."""
    _, one, _ = completing()
    assert one.sync(**changes).error == error


def test_an_empty_group_knows_no_member() -> None:
    """A member that left is unknown to a sync and a heartbeat, though the generation may fit."""
    world, one, two = completing()
    one.leave(), two.leave()
    assert world.state is GroupState.EMPTY
    one.generation = world.group.generation
    assert (one.sync().error, one.heartbeat(), one.leave()) == (UNKNOWN, UNKNOWN, UNKNOWN)


def test_members_that_the_leader_left_out_get_nothing() -> None:
    """Empty bytes; those that it invented are ignored."""
    world, one, two = completing()
    waiting = two.sync()
    assert one.sync({one.member_id: b"all", "ghost-1": b"some"}).answer.assignment == b"all"
    assert (waiting.answer.assignment, waiting.error) == (b"", 0)
    assert {each.id: each.assignment for each in world.journal.kept["g"].members} == {
        one.member_id: b"all",
        two.member_id: b"",
    }


def test_a_member_that_is_left_out_loses_what_it_had() -> None:
    """Its assignment of an earlier generation belongs to somebody else by now."""
    world, one, two = completing()
    world.settle([one, two])
    one.join(), two.join()
    waiting = two.sync()
    one.sync({one.member_id: b"all"})
    assert (waiting.answer.assignment, two.sync().answer.assignment) == (b"", b"")


def test_a_leader_without_assignments() -> None:
    """As one that assigns nothing to anybody: the group is stable."""
    world, one, two = completing()
    assert one.sync({}).answer.assignment == b""
    assert (two.sync().answer.assignment, world.state) == (b"", GroupState.STABLE)


def test_a_leaders_later_assignments_are_ignored() -> None:
    """Those that are being kept count, and those that the group has when it is stable."""
    world, one, two = completing()
    world.journal.holds = True
    first, again = one.sync(), one.sync({one.member_id: b"other", two.member_id: b"other"})
    waiting = two.sync()
    assert (first.error, again.waits, waiting.waits, world.journal.waiting) == (AGAIN, True, True, 1)
    world.finish()
    assert again.answer.assignment == one.assigned(one.member_id)
    assert waiting.answer.assignment == one.assigned(two.member_id)
    assert one.sync({two.member_id: b"other"}).answer.assignment == one.assigned(one.member_id)
    assert two.sync().answer.assignment == one.assigned(two.member_id)


def test_a_sync_is_answered_with_the_groups_protocol() -> None:
    """Its type and name, and none with an error."""
    _, one, two = completing()
    waiting = two.sync()
    one.sync()
    assert (waiting.answer.protocol_type, waiting.answer.protocol_name) == ("consumer", "range")
    refused = two.sync(generation=9).answer
    assert (refused.protocol_type, refused.protocol_name, refused.assignment) == (None, None, b"")


def test_each_member_of_a_leave_has_its_own_error() -> None:
    """An administrator names the instance only; a stale id is fenced, a second leave is unknown."""
    world, one, two = completing()
    three = Client(world, "three", instance_id="k")
    three.join(), one.join(), two.join()
    assert world.leave(
        ("", "j"), ("", "j"), (two.member_id, "j"), ("stale", "k"), ("", "l"), ("", None), (one.member_id, None)
    ) == [0, UNKNOWN, UNKNOWN, FENCED, UNKNOWN, UNKNOWN, 0]
    assert world.coordinator.leave("other", [], world.now) == []
    assert one.world.coordinator.groups["g"].static == {"k": three.member_id}
    assert Client(world, "x", group_id="other", member_id="x").leave() == UNKNOWN


def test_a_member_that_leaves_while_it_waits() -> None:
    """Its parked Join and Sync are answered that it is unknown (25)."""
    world, _, two = completing()
    syncing = two.sync()
    assert (two.leave(), syncing.error) == (0, UNKNOWN)
    new = world.clients("new")[0]
    joining = new.join()
    (new_id,) = world.group.rejoined
    assert (world.leave((new_id, None)), joining.error) == ([0], UNKNOWN)


def test_many_that_leave_at_once_are_one_rebalance() -> None:
    """An administrator removes members that have joined already, and the one that was waited for."""
    world = World()
    one, two, three = world.clients("one", "two", "three")
    world.stable(one, two, three)
    waiting = [one.join(), three.join()]
    assert world.leave((two.member_id, None), (three.member_id, None)) == [0, 0]
    assert [each.error for each in waiting] == [0, UNKNOWN]
    assert (one.generation, world.state) == (2, GroupState.COMPLETING)
    assert [each.member_id for each in one.joined.members] == [one.member_id]


def test_the_last_members_leave_at_once() -> None:
    """The group is empty, in the next generation, and is kept for a while."""
    world, one, _ = completing()
    assert world.leave((one.member_id, None), ("", "j")) == [0, 0]
    assert (world.state, world.group.generation, world.group.leader) == (GroupState.EMPTY, 2, None)


def test_pending_ids_that_leave() -> None:
    """Two at once, and with them the group that never had a member."""
    world = World()
    clients = world.clients("one", "two")
    for client in clients:
        client.member_id = client.ask().answer.member_id
    assert world.leave(*((client.member_id, None) for client in clients), ("ghost", None)) == [0, 0, UNKNOWN]
    assert world.coordinator.groups == {}
    world.wait(SESSION)


def test_a_leader_that_leaves_is_replaced() -> None:
    """The others join again, under the one that is there longest."""
    world = World()
    one, two, three = world.clients("one", "two", "three")
    world.stable(one, two, three)
    one.leave()
    three.join(), two.join()
    assert (two.leads, three.leads) == (True, False)
