"""Static members (KIP-345): fencing, taking a place again in each state, and who leads after that."""

from __future__ import annotations

import pytest

from kproxy.coordinator.messages import Joined
from kproxy.coordinator.settings import NEW_MEMBER_TIMEOUT
from kproxy.coordinator.states import Cause, GroupState
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.coordinator.world import REBALANCE, SESSION, Client, World

UNKNOWN, FENCED, ILLEGAL, AGAIN, NOT_STORED = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
)


def grown() -> tuple[World, Client, Client]:
    """A stable group of two static members, of which the first leads."""
    world = World()
    one, two = Client(world, "one", instance_id="i"), Client(world, "two", instance_id="j")
    world.stable(one, two)
    return world, one, two


def restarted(client: Client, **said: object) -> Client:
    """The same instance in a new process, which knows no id."""
    return Client(client.world, client.name, instance_id=client.instance_id, **said)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("instance_id", "member_id", "generation", "error"),
    [
        ("k", "right", "right", UNKNOWN),
        ("k", "wrong", "wrong", UNKNOWN),
        ("j", "right", "right", FENCED),
        ("i", "wrong", "wrong", FENCED),
        ("i", "", "right", FENCED),
        (None, "wrong", "wrong", UNKNOWN),
        ("i", "right", "wrong", ILLEGAL),
        (None, "right", "wrong", ILLEGAL),
        ("i", "right", "right", 0),
        (None, "right", "right", 0),
    ],
)
def test_the_order_of_fencing(instance_id: str | None, member_id: str, generation: str, error: int) -> None:
    """Unknown instance 25, another's 82, unknown member 25, generation 22; a request without an instance is let in."""
    world, one, _ = grown()
    member_id = {"right": one.member_id, "wrong": "wrong", "": ""}[member_id]
    said = Client(world, "one", instance_id, member_id=member_id, generation=1 if generation == "right" else 7)
    assert [said.heartbeat(), said.sync().error, said.commit()] == [error] * 3
    in_transaction = world.coordinator.may_commit_in_transaction(
        "g", member_id, instance_id, said.generation, world.now
    )
    assert in_transaction == error


@pytest.mark.parametrize(("instance_id", "error"), [("k", UNKNOWN), ("j", FENCED), ("i", 0), (None, 0)])
def test_a_join_and_a_leave_are_fenced_too(instance_id: str | None, error: int) -> None:
    """By the instance and the member id; neither has a generation."""
    for said in ("join", "leave"):
        _, one, _ = grown()
        if said == "join":
            joined = one.ask(instance_id=instance_id)
            assert joined.waits if error == 0 else joined.answer == Joined(error, one.member_id)
        else:
            assert one.world.leave((one.member_id, instance_id)) == [error]


def test_a_member_that_comes_back_to_a_stable_group_disturbs_nobody() -> None:
    """It gets a new id and its old assignment; the old id is fenced everywhere."""
    world, one, two = grown()
    again = restarted(two)
    joined = again.join().answer
    assert (joined.error, joined.generation, joined.leader, joined.members) == (0, 1, one.member_id, ())
    assert joined.skip_assignment is False
    assert again.member_id != two.member_id
    assert again.sync().answer.assignment == one.assigned(two.member_id)
    assert (world.state, one.heartbeat(), again.heartbeat()) == (GroupState.STABLE, 0, 0)
    assert [two.heartbeat(), two.sync().error, two.commit(), two.ask().error, two.leave()] == [FENCED] * 5
    two.instance_id = None
    assert two.heartbeat() == UNKNOWN


def test_a_leader_that_comes_back_is_told_not_to_assign() -> None:
    """From v9 on it is named as the leader, sees the members, and skips the assignment (KIP-814)."""
    world, one, two = grown()
    again = restarted(one)
    joined = again.join().answer
    assert (joined.leader, joined.skip_assignment) == (again.member_id, True)
    assert [each.member_id for each in joined.members] == [again.member_id, two.member_id]
    assert again.sync({}).answer.assignment == one.assigned(one.member_id), "the stored assignment counts"
    assert two.sync().answer.assignment == one.assigned(two.member_id)
    assert again.join().waits, "it leads, so that it can begin a rebalance"
    assert world.state is GroupState.PREPARING


def test_an_old_leader_that_comes_back_is_told_of_another_leader() -> None:
    """Below v9 the old leader's id is named, which nobody has, so that nobody assigns."""
    _, one, two = grown()
    again = restarted(one, skips_assignment=False)
    joined = again.join().answer
    assert (joined.leader, joined.members, joined.skip_assignment) == (one.member_id, (), False)
    assert again.sync().answer.assignment == one.assigned(one.member_id)
    follower = restarted(two, skips_assignment=False)
    assert follower.join().answer.leader == again.member_id


def test_other_metadata_alone_begins_no_rebalance() -> None:
    """The member's new metadata is for the next generation, as long as the chosen protocol stays."""
    world, one, two = grown()
    again = restarted(two, protocols=(("range", b"more topics"),))
    assert (again.join().error, world.state) == (0, GroupState.STABLE)
    one.join(), again.join()
    assert [each.metadata for each in one.joined.members] == [b"topics", b"more topics"]


def test_another_protocol_that_is_chosen_begins_a_rebalance() -> None:
    """The group's protocol and its assignments must fit."""
    world = World()
    both = (("range", b""), ("sticky", b""))
    one, two = (Client(world, name, instance_id=name, protocols=both) for name in ("i", "j"))
    world.stable(one, two)
    again = restarted(two, protocols=(("sticky", b""),))
    waiting = again.join()
    assert (waiting.waits, world.state, world.moves[-1].cause) == (True, GroupState.PREPARING, Cause.MEMBER_REPLACED)
    assert one.join().answer.protocol_name == "sticky"
    world.settle([one, again])


def test_a_member_that_comes_back_while_syncs_are_awaited() -> None:
    """The leader knows the old id only, so that all join again; the old one's sync is fenced, the others' told 27."""
    world, one, two = grown()
    three = Client(world, "three", instance_id="k")
    waiting = [three.join(), one.join(), two.join()]
    assert world.state is GroupState.COMPLETING
    syncs = [two.sync(), three.sync()]
    again = restarted(two)
    waiting = [again.join()]
    assert [each.error for each in syncs] == [FENCED, AGAIN]
    assert (waiting[0].waits, world.state) == (True, GroupState.PREPARING)
    one.join(), three.join()
    world.settle([one, again, three])
    assert again.generation == 3


def test_a_member_that_comes_back_while_members_join() -> None:
    """Its old request is fenced (82); it waits in its place, and completes the join if it is the last."""
    world, one, two = grown()
    old = one.join()
    again = restarted(one)
    waiting = again.join()
    assert (old.answer, waiting.waits) == (Joined(FENCED, one.member_id), True)
    two.join()
    assert (waiting.answer.leader, again.leads) == (again.member_id, True)
    world.settle([again, two])

    again.join()
    last = restarted(two)
    assert (last.join().answer.generation, again.generation) == (3, 3)


def test_a_member_that_comes_back_during_its_first_join() -> None:
    """Its request waits as long as it takes, for the group has heard of it before: the five minutes do not count."""
    world = World()
    (one,) = world.clients("one", session=1000.0, rebalance=900.0)
    world.stable(one)
    first = Client(world, "two", instance_id="j")
    first.join()
    world.wait(1.0)
    again = restarted(first)
    waiting = again.join()
    world.wait(2 * NEW_MEMBER_TIMEOUT)
    assert waiting.waits
    one.join()
    assert waiting.error == 0
    world.wait(SESSION - 0.001)
    assert again.heartbeat() == 0


def test_a_member_that_comes_back_has_its_whole_session() -> None:
    """And the timer of its old id is gone."""
    world, one, two = grown()
    world.wait(SESSION - 1)
    one.heartbeat()
    again = restarted(two)
    again.join()
    world.wait(SESSION - 1)
    one.heartbeat()
    assert again.heartbeat() == 0
    world.wait(SESSION - 1)
    assert (one.heartbeat(), world.state) == (0, GroupState.STABLE)
    world.wait(1)
    assert again.heartbeat() == UNKNOWN


def test_a_member_that_comes_back_must_still_fetch_its_assignment() -> None:
    """Where the old process had not done so, and under its new id."""
    world, one, two = grown()
    one.join(), two.join()
    one.sync()
    again = restarted(two)
    again.join()
    for _ in range(int(REBALANCE / 5)):
        assert (one.heartbeat(), again.heartbeat()) == (0, 0)
        world.wait(5)
    assert (one.heartbeat(), again.heartbeat()) == (AGAIN, UNKNOWN)


def test_a_new_id_is_answered_once_it_is_kept() -> None:
    """After a crash the record has the id that the client knows."""
    world, one, two = grown()
    world.journal.holds = True
    again = restarted(two)
    waiting = again.join()
    world.wait(2.0)
    assert waiting.waits
    world.finish()
    assert waiting.error == 0
    world.journal.holds = False
    world.restart()
    assert again.sync().answer.assignment == one.assigned(two.member_id)
    assert two.heartbeat() == FENCED


def test_a_new_id_that_is_not_kept() -> None:
    """The client is told to ask again (15), and then gets another one; the group is undisturbed."""
    world, one, two = grown()
    world.journal.holds = True
    again = restarted(two)
    waiting = again.join()
    world.finish("disk full")
    world.journal.holds = False
    assert (waiting.error, world.state, one.heartbeat()) == (NOT_STORED, GroupState.STABLE, 0)
    assert (again.join().error, again.sync().answer.assignment) == (0, one.assigned(two.member_id))


def test_two_processes_with_one_instance_id() -> None:
    """The later one has the place; the earlier one is fenced, though its new id was not kept yet."""
    world, _, two = grown()
    world.journal.holds = True
    second, third = restarted(two), restarted(two)
    waiting = [second.join(), third.join()]
    world.finish()
    assert [each.error for each in waiting] == [FENCED, 0]
    assert (third.sync().error, third.heartbeat()) == (0, 0)


def test_an_instance_that_is_removed_while_its_new_id_is_kept() -> None:
    """Its request is answered that it is unknown (25), so that it joins anew."""
    world, _, two = grown()
    world.journal.holds = True
    again = restarted(two)
    waiting = again.join()
    assert world.leave(("", "j")) == [0]
    assert waiting.error == UNKNOWN
    world.finish()


def test_a_rebalance_while_a_new_id_is_being_kept() -> None:
    """The member joins the next generation with the request that waits, or is told of it when its new id is kept."""
    for in_time in (True, False):
        world, one, two = grown()
        world.journal.holds = True
        again = restarted(two)
        waiting, leading = again.join(), one.join()
        if in_time:
            world.finish()
            assert (waiting.answer.generation, again.heartbeat(), again.join().waits) == (1, AGAIN, True)
        else:
            world.wait(REBALANCE)
        assert world.state is GroupState.COMPLETING
        world.finish()
        assert (leading.answer.generation, again.generation) == (2, 2)
        world.journal.holds = False
        world.settle([one, again])


def test_a_silent_static_member_expires_by_its_session() -> None:
    """As a dynamic one; its instance may join anew."""
    world, one, two = grown()
    world.wait(SESSION - 1)
    one.heartbeat()
    world.wait(1)
    assert (world.state, two.heartbeat(), list(world.group.static)) == (GroupState.PREPARING, UNKNOWN, ["i"])
