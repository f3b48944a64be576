"""JoinGroup: ids that are given out, members that join again in each state, room, and protocols."""

from __future__ import annotations

import pytest

from kproxy.coordinator.messages import Joined, Protocols
from kproxy.coordinator.settings import EMPTY_KEPT, GroupSettings
from kproxy.coordinator.states import Cause, GroupState
from kproxy.coordinator.usage import MOST_GROUPS
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.coordinator.world import RANGE, REBALANCE, SESSION, Client, World

UNKNOWN, AGAIN, FULL, NEEDS_ID, INCONSISTENT = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.GROUP_MAX_SIZE_REACHED,
    ErrorCode.MEMBER_ID_REQUIRED,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
)
SMALL = GroupSettings(max_members=2)


def test_a_new_member_is_told_its_id_first() -> None:
    """The id begins with the client's id (KIP-394), a static member's with its instance id; that one needs no id."""
    world = World()
    one, two, three = Client(world, "one"), Client(world, "two", needs_member_id=False), Client(world, "three", "i")
    told = one.ask()
    assert told.answer == Joined(NEEDS_ID, "one-001")
    for client in (two, three):
        assert client.ask().waits
    world.wait(6.0)
    assert (two.member_id, three.member_id) == ("two-002", "i-003")
    assert list(world.group.members) == ["two-002", "i-003"]


def test_pending_ids_hold_up_completion() -> None:
    """The group waits for an id that was given out until it joins, leaves, or its session timeout is over."""
    for over in ("joins", "leaves", "times out"):
        world = World()
        one, new = world.clients("one", "new")
        world.stable(one)
        new.member_id = new.ask().answer.member_id
        waiting = one.join()
        assert waiting.waits
        if over == "joins":
            new.ask()
        elif over == "leaves":
            assert world.leave((new.member_id, None)) == [0]
        else:
            world.wait(SESSION - 0.001)
            assert waiting.waits
            world.wait(0.001)
        assert waiting.answer.generation == 2
        assert len(one.joined.members) == 1 + (over == "joins")


def test_a_pending_id_disturbs_no_stable_group() -> None:
    """Neither when it is given out nor when it is gone."""
    world = World()
    one, new = world.clients("one", "new")
    world.stable(one)
    new.ask()
    assert (one.heartbeat(), world.state) == (0, GroupState.STABLE)
    world.wait(SESSION / 2)
    one.heartbeat()
    world.wait(SESSION / 2)
    assert (one.heartbeat(), world.state, world.group.pending) == (0, GroupState.STABLE, {})


def test_a_group_of_pending_ids_is_forgotten_with_the_last() -> None:
    """Unless it has had members: their generation is kept for a while, and longer while an id is out."""
    world = World()
    clients = world.clients("one", "two")
    for client in clients:
        client.member_id = client.ask().answer.member_id
    assert world.leave((clients[0].member_id, None)) == [0]
    assert list(world.coordinator.groups) == ["g"]
    world.wait(SESSION)
    assert world.coordinator.groups == {}

    (one,) = world.clients("one")
    world.stable(one)
    one.leave()
    world.wait(EMPTY_KEPT - 1)
    late = world.clients("late")[0]
    late.ask()
    world.wait(EMPTY_KEPT - 1)
    assert world.group.generation == 2
    world.wait(2)
    assert world.coordinator.groups == {}


def test_a_pending_id_is_no_member_yet() -> None:
    """Its heartbeats, syncs and commits are those of a member that is unknown; an instance id is not its own."""
    world = World()
    one, new = world.clients("one", "new")
    world.stable(one)
    new.member_id = new.ask().answer.member_id
    new.generation = one.generation
    assert (new.heartbeat(), new.sync().error, new.commit()) == (UNKNOWN, UNKNOWN, UNKNOWN)
    assert new.ask(instance_id="i").error == UNKNOWN
    new.join()
    one.join()
    assert new.generation == 2


def test_pending_ids_do_not_count_to_the_groups_size() -> None:
    """Any number of ids is given out while there is room; who joins first has it."""
    world = World(SMALL)
    clients = world.clients("a", "b", "c")
    for client in clients:
        client.member_id = client.ask().answer.member_id
    joins = [client.ask() for client in clients]
    assert joins[2].error == FULL
    world.wait(9.0)
    assert [each.error for each in joins] == [0, 0, FULL]


def test_a_full_group_refuses_newcomers() -> None:
    """In every state but Empty; its own members may join again."""
    world = World(SMALL)
    one, two = world.clients("one", "two")
    world.stable(one, two)
    assert world.clients("three")[0].join().error == FULL
    one.join()
    assert world.state is GroupState.PREPARING
    two.join()
    assert (world.state, world.clients("three")[0].join().error) == (GroupState.COMPLETING, FULL)
    world.settle([one, two])


def test_an_id_that_is_refused_holds_up_nobody() -> None:
    """The group has got full since it was given out; it does not wait for it any longer."""
    world = World(SMALL)
    one, two, three = world.clients("one", "two", "three")
    world.stable(one)
    three.member_id = three.ask().answer.member_id
    waiting = [two.join(), one.join()]
    assert [each.waits for each in waiting] == [True, True]
    assert three.ask().error == FULL
    assert [each.error for each in waiting] == [0, 0]


def test_members_above_a_lowered_limit_are_out_when_they_join() -> None:
    """The first that join have the room; who comes later is refused, and the others do not wait for it."""
    world = World()
    clients = world.clients("a", "b", "c", "d")
    world.stable(*clients)
    world.settings = SMALL
    world.coordinator.adopt()
    assert [client.heartbeat() for client in clients] == [0] * 4, "until the group rebalances"
    joins = [client.join() for client in clients]
    assert [each.error for each in joins] == [0, 0, FULL, FULL]
    world.settle(clients[:2])
    assert clients[2].heartbeat() == UNKNOWN


def test_an_id_that_nobody_has_does_not_count_where_there_is_no_room() -> None:
    """It is refused as a newcomer is, and nothing else happens."""
    world = World(SMALL)
    one, two = world.clients("one", "two")
    world.stable(one, two)
    assert world.clients("ghost", member_id="ghost-1")[0].ask().error == FULL
    assert (one.heartbeat(), two.heartbeat()) == (0, 0)


def test_an_empty_group_takes_more_than_its_limit_only_until_it_is_not_empty() -> None:
    """The first member always has room."""
    world = World(GroupSettings(max_members=1))
    one, two = world.clients("one", "two")
    assert one.join().waits
    assert two.join().error == FULL


def test_a_static_member_takes_its_place_in_a_full_group() -> None:
    """It needs no room besides its own, whether it comes with its id or without one."""
    world = World(SMALL)
    one, two = world.clients("one")[0], Client(world, "two", instance_id="i")
    world.stable(one, two)
    two.member_id = ""
    assert two.join().error == 0
    waiting = one.join()
    two.member_id = ""
    two.join()
    assert (waiting.error, two.generation) == (0, 2)
    assert Client(world, "three", instance_id="j").join().error == FULL


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"group_id": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"session_timeout": 5.9}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"session_timeout": 1800.1}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"member_id": "one-1"}, UNKNOWN),
        ({"protocol_type": ""}, INCONSISTENT),
        ({"protocols": ()}, INCONSISTENT),
    ],
)
def test_a_request_that_begins_no_group(changes: dict[str, object], error: int) -> None:
    """It is refused, and leaves nothing behind."""
    world = World()
    assert world.clients("one")[0].ask(**changes).answer == Joined(error, str(changes.get("member_id", "")))
    assert (world.coordinator.groups, world.timers.next) == ({}, None)


def test_an_empty_group_takes_any_protocol() -> None:
    """A group whose members have all left begins anew, with another type if need be; none at all is refused."""
    world = World()
    (one,) = world.clients("one")
    world.stable(one)
    one.leave()
    for changes in ({"protocol_type": ""}, {"protocols": ()}):
        assert world.clients("two")[0].ask(**changes).error == INCONSISTENT
    two = world.clients("two", protocol_type="connect", protocols=(("default", b""),))
    world.stable(*two)
    assert (world.group.protocol_type, two[0].joined.protocol_type) == ("connect", "connect")


def test_no_more_than_so_many_groups() -> None:
    """A further one is refused (44); groups that are there go on."""
    world = World()
    for number in range(MOST_GROUPS):
        world.clients("c", group_id=str(number))[0].ask()
    assert world.clients("c")[0].ask().error == ErrorCode.POLICY_VIOLATION
    assert world.clients("c", group_id="7")[0].ask().error == NEEDS_ID


def test_a_member_that_joins_again_while_members_join() -> None:
    """It waits again, with what it says now; its request before is answered that it is to join again (27)."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    two.protocols = (("range", b"newer"),)
    first = two.join()
    two.protocols = RANGE
    second = two.join()
    assert (first.error, second.waits) == (AGAIN, True)
    one.join()
    assert second.error == 0
    assert [each.metadata for each in one.joined.members] == [RANGE[0][1]] * 2


@pytest.mark.parametrize(
    "changed",
    [
        (("range", b"other topics"),),
        (("range", b"topics"), ("sticky", b"")),
        (("sticky", b""), ("range", b"topics")),
    ],
)
def test_metadata_is_the_same_only_in_its_order_and_bytes(changed: Protocols) -> None:
    """In CompletingRebalance the answer is repeated to who says the same; who says anything else begins a rebalance."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    one.join(), two.join()
    leader, follower = one.joined, two.joined
    assert (one.ask().answer, two.ask().answer, world.state) == (leader, follower, GroupState.COMPLETING)
    assert len(leader.members) == 2
    two.protocols = changed
    assert two.ask().waits
    assert (world.state, world.moves[-1].cause) == (GroupState.PREPARING, Cause.METADATA_CHANGED)


def test_a_follower_that_joins_a_stable_group_again() -> None:
    """With the same metadata it gets the present generation, without the members."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    again = two.join().answer
    assert (again.error, again.generation, again.leader, again.members) == (0, 1, one.member_id, ())
    assert two.sync().answer.assignment == one.assigned(two.member_id)
    assert [move.after for move in world.moves][-1] is GroupState.STABLE


def test_the_leader_of_a_stable_group_always_begins_a_rebalance() -> None:
    """With the same metadata, too; alone it is through at once."""
    world = World()
    (one,) = world.clients("one")
    world.stable(one)
    assert one.join().answer.generation == 2


def test_a_leader_that_does_not_join_in_time_is_replaced() -> None:
    """By the member that is there longest of those that have joined, though a static leader stays a member."""
    world = World()
    one = Client(world, "one", instance_id="i", session=500.0)
    two, three, new = world.clients("two", "three", "new", session=500.0)
    world.stable(one, two, three)
    assert one.leads
    three.protocols = (("range", b"other"),)
    for client in (new, three, two):
        client.join()
    world.wait(REBALANCE)
    assert (two.leads, three.leads, new.leads) == (True, False, False)
    assert one.member_id in {each.member_id for each in two.joined.members}


def test_only_dynamic_members_that_do_not_join_in_time_are_removed() -> None:
    """The watch is told of them."""
    world = World()
    one, two = world.clients("one", "two", session=500.0)
    kept = Client(world, "kept", instance_id="i", session=500.0)
    world.stable(one, two, kept)
    one.join()
    world.wait(REBALANCE)
    assert list(world.group.members) == [one.member_id, kept.member_id]
    assert world.moves[-1].late == (two.member_id,)


def test_a_group_of_which_nobody_joins_in_time_is_empty() -> None:
    """Its members are told to begin anew by their next requests; the generation rises."""
    world = World()
    one, two = world.clients("one", "two", session=500.0)
    world.stable(one, two)
    new = world.clients("new")[0]
    new.join()
    assert world.leave((next(reversed(world.group.members)), None)) == [0]
    world.wait(REBALANCE)
    assert (world.state, world.group.generation) == (GroupState.EMPTY, 2)
    assert world.moves[-1].late == (one.member_id, two.member_id)
    assert [one.heartbeat(), two.heartbeat()] == [UNKNOWN, UNKNOWN]


def test_a_static_group_that_was_sent_away_during_its_initial_delay() -> None:
    """When its members come back after the delay, the last one completes the join."""
    world = World()
    clients = [Client(world, name, instance_id=name, session=500.0) for name in ("i", "j")]
    for client in clients:
        client.join()
    world.coordinator.send_away(ErrorCode.NOT_COORDINATOR, world.now)
    world.wait(6.0)
    assert world.state is GroupState.PREPARING
    joins = [client.join() for client in clients]
    assert [each.error for each in joins] == [0, 0]
    world.settle(clients)
