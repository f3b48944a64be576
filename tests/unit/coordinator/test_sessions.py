"""The timers of members and groups: sessions, first joins, the initial delay, and the time to join and to sync."""

from __future__ import annotations

import pytest

from kproxy.coordinator.settings import LEAST_WAIT, NEW_MEMBER_TIMEOUT, GroupSettings
from kproxy.coordinator.states import Cause, GroupState
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.coordinator.world import REBALANCE, SESSION, Client, World

UNKNOWN, AGAIN = ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.REBALANCE_IN_PROGRESS
LITTLE = 0.001


def alive(world: World, seconds: float, *clients: Client) -> None:
    """Let time pass while clients send heartbeats."""
    while seconds > 0:
        for client in clients:
            client.heartbeat()
        world.wait(min(seconds, SESSION / 2))
        seconds -= SESSION / 2


def test_the_rebalance_timeout_is_the_longest_of_the_members() -> None:
    """So long the others have to join again; it changes with who is there, and what they say."""
    world = World()
    one, two = Client(world, "one", rebalance=20.0, session=200.0), Client(world, "two", rebalance=90.0, session=200.0)
    world.stable(one, two)
    two.rebalance = 40.0
    two.protocols = (("range", b"other"),)
    waiting = two.join()
    world.wait(40.0 - LITTLE)
    assert waiting.waits
    world.wait(LITTLE)
    assert (waiting.error, one.heartbeat()) == (0, UNKNOWN)


def test_the_first_join_of_a_member_waits_for_five_minutes_at_most() -> None:
    """It is then answered that it is unknown (25): its session does not count while it cannot know its id."""
    world = World()
    (one,) = world.clients("one", session=1000.0, rebalance=1000.0)
    world.stable(one)
    new = world.clients("new")[0]
    waiting = new.join()
    world.wait(NEW_MEMBER_TIMEOUT - LITTLE)
    assert waiting.waits
    world.wait(LITTLE)
    assert waiting.error == UNKNOWN
    assert list(world.group.members) == [one.member_id]


def test_a_parked_join_counts_as_a_heartbeat() -> None:
    """Of a member that has been in a generation; its session begins anew when it is answered."""
    world = World()
    one, two = Client(world, "one"), Client(world, "two", session=1000.0, rebalance=100.0)
    world.stable(one, two)
    waiting = one.join()
    world.wait(95.0)
    assert waiting.waits
    two.join()
    assert waiting.error == 0
    world.wait(SESSION - LITTLE)
    assert one.heartbeat() == 0


@pytest.mark.parametrize("leader_dies", [False, True])
def test_a_parked_sync_counts_as_a_heartbeat(leader_dies: bool) -> None:
    """The session begins anew when it is answered, be it with an assignment or that a rebalance is in progress."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    one.join(), two.join()
    waiting = two.sync()
    alive(world, 5 * SESSION - 1, one)
    assert waiting.waits
    if leader_dies:
        one.leave()
    else:
        one.sync()
    assert waiting.error == (AGAIN if leader_dies else 0)
    world.wait(SESSION - LITTLE)
    assert two.heartbeat() == (AGAIN if leader_dies else 0)
    world.wait(SESSION)
    assert two.heartbeat() == UNKNOWN


def test_the_initial_delay_is_not_ended_early() -> None:
    """Everyone that is known has joined, but others may be on their way."""
    world = World()
    waiting = world.clients("one")[0].join()
    world.wait(3 - LITTLE)
    assert waiting.waits
    world.wait(LITTLE)
    assert waiting.error == 0


def test_each_new_member_prolongs_the_initial_delay() -> None:
    """By one delay from the end of the present one, up to the rebalance timeout."""
    world = World(GroupSettings(initial_rebalance_delay=3.0))
    waiting = [world.clients("first", rebalance=10.0)[0].join()]
    for _ in range(3):
        world.wait(2.9)
        waiting.append(world.clients("next", rebalance=10.0)[0].join())
        world.wait(0.1)
        assert all(each.waits for each in waiting)
    world.wait(1.0 - LITTLE)
    assert all(each.waits for each in waiting)
    world.wait(LITTLE)
    assert {each.answer.generation for each in waiting} == {1}


def test_the_initial_delay_is_not_prolonged_without_new_members() -> None:
    """A member that joins again, or a pending id, prolongs nothing."""
    world = World()
    one = world.clients("one")[0]
    one.join()
    world.wait(1.0)
    waiting = one.ask()
    world.clients("two")[0].ask()
    world.wait(2.0)
    assert waiting.error == 0


def test_an_initial_delay_that_is_longer_than_the_rebalance_timeout() -> None:
    """It passes once."""
    world = World(GroupSettings(initial_rebalance_delay=30.0))
    waiting = world.clients("one", rebalance=5.0)[0].join()
    world.wait(29.0)
    world.clients("two", rebalance=5.0)[0].join()
    assert waiting.waits
    world.wait(1.0)
    assert waiting.error == 0


def test_the_initial_delay_is_for_empty_groups_only() -> None:
    """A group with members rebalances as soon as all have joined; one that was left by all waits again."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one)
    waiting = [two.join(), one.join()]
    assert [each.error for each in waiting] == [0, 0]
    one.leave(), two.leave()
    assert world.state is GroupState.EMPTY
    late = world.clients("three")[0].join()
    assert late.waits
    world.wait(3.0)
    assert late.error == 0


def test_members_that_leave_during_the_initial_delay() -> None:
    """The delay goes on; the group is empty at its end, in a new generation, and still works."""
    world = World()
    one = world.clients("one")[0]
    waiting = one.join()
    member_id = next(iter(world.group.members))
    assert world.leave((member_id, None)) == [0]
    assert (waiting.error, world.state) == (UNKNOWN, GroupState.PREPARING)
    world.wait(3.0)
    assert (world.state, world.group.generation) == (GroupState.EMPTY, 1)
    world.stable(*world.clients("two"))


def test_the_time_to_sync_goes_on_when_the_group_is_stable() -> None:
    """A follower that only sends heartbeats is expelled after one rebalance timeout, and the group rebalances."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    one.join(), two.join()
    one.sync()
    alive(world, REBALANCE - LITTLE, one, two)
    assert (world.state, two.heartbeat()) == (GroupState.STABLE, 0)
    world.wait(LITTLE)
    assert [one.heartbeat(), two.heartbeat()] == [AGAIN, UNKNOWN]
    assert world.moves[-1].cause is Cause.NOT_SYNCED


def test_a_static_member_that_was_kept_and_does_not_sync_is_expelled_too() -> None:
    """It was part of the generation without joining, as long as its session lasted."""
    world = World()
    one = Client(world, "one")
    two = Client(world, "two", instance_id="i", session=1000.0)
    world.stable(one, two)
    one.join()
    world.wait(REBALANCE)
    assert (world.state, list(world.group.static)) == (GroupState.COMPLETING, ["i"])
    one.sync()
    alive(world, REBALANCE - LITTLE, one)
    assert (world.state, list(world.group.static)) == (GroupState.STABLE, ["i"])
    world.wait(LITTLE)
    assert (one.heartbeat(), two.heartbeat(), world.group.static) == (AGAIN, UNKNOWN, {})


def test_the_time_to_sync_ends_when_all_have_synced() -> None:
    """Nobody is expelled later."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    alive(world, 3 * REBALANCE, one, two)
    assert (world.state, world.group.generation) == (GroupState.STABLE, 1)


def test_the_time_to_sync_ends_with_a_rebalance() -> None:
    """Members that have not synced are to join now, and have the whole time for it."""
    world = World()
    one, two = world.clients("one", "two", session=500.0)
    world.stable(one, two)
    one.join(), two.join()
    world.wait(REBALANCE - 1)
    waiting = world.clients("three")[0].join()
    world.wait(REBALANCE - 1)
    assert waiting.waits
    one.join(), two.join()
    assert waiting.error == 0


@pytest.mark.parametrize(
    ("state", "heartbeat", "commit"),
    [(GroupState.STABLE, 0, 0), (GroupState.PREPARING, AGAIN, 0), (GroupState.COMPLETING, 0, AGAIN)],
)
def test_heartbeats_and_commits_prolong_the_session(state: GroupState, heartbeat: int, commit: int) -> None:
    """A heartbeat in every state with members, a commit only where it is taken."""
    for request, expected in (("heartbeat", heartbeat), ("commit", commit)):
        world = World()
        one, two = Client(world, "one", session=500.0), Client(world, "two")
        world.stable(one, two)
        if state is not GroupState.STABLE:
            one.join()
        if state is GroupState.COMPLETING:
            two.join()
        assert world.state is state
        world.wait(SESSION - 1)
        assert (two.heartbeat() if request == "heartbeat" else two.commit()) == expected
        world.wait(SESSION - 1)
        lives = request == "heartbeat" or commit == 0
        assert (two.heartbeat() == UNKNOWN) is not lives


def test_a_new_session_timeout_counts_from_the_next_request_on() -> None:
    """A member may name another one whenever it joins."""
    world = World()
    (one,) = world.clients("one")
    world.stable(one)
    one.session = 50.0
    one.join()
    world.settle([one])
    world.wait(50.0 - LITTLE)
    assert one.heartbeat() == 0


def test_static_members_that_do_not_join_are_waited_for_again() -> None:
    """While nobody has joined there is no new generation; each rebalance timeout another one begins."""
    world = World()
    one, two = Client(world, "one", instance_id="i", session=500.0), Client(world, "two")
    world.stable(one, two)
    two.leave()
    for _ in range(3):
        world.wait(REBALANCE)
        assert (world.state, world.group.generation) == (GroupState.PREPARING, 1)
    one.join()
    world.settle([one])
    assert one.generation == 2


@pytest.mark.parametrize("rebalance", [0.0, -0.001])
def test_static_members_without_time_to_join_hold_up_nobody_else(rebalance: float) -> None:
    """A client may name a rebalance timeout of 0 or less: the group waits a little all the same."""
    world = World()
    one = Client(world, "one", instance_id="i", session=50.0, rebalance=rebalance)
    two = Client(world, "two")
    world.stable(one, two)
    two.leave()
    for _ in range(2):
        world.timers.fire(world.now)
    assert (world.state, world.timers.next) == (GroupState.PREPARING, world.now + LEAST_WAIT)
    world.wait(50.0)
    assert world.state is GroupState.EMPTY
