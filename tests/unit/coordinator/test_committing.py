"""OffsetCommit and TxnOffsetCommit: who may commit for a group, by state, generation and member."""

from __future__ import annotations

import pytest

from kproxy.coordinator.states import GroupState
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.coordinator.world import SESSION, Client, World

UNKNOWN, FENCED, ILLEGAL, AGAIN, NOT_FOUND = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.GROUP_ID_NOT_FOUND,
)


def in_state(state: GroupState | None) -> tuple[World, Client]:
    """A group in a state, None for no group; and its static leader, or one that was."""
    world = World()
    one, two = Client(world, "one", instance_id="i"), Client(world, "two", instance_id="j")
    if state is None:
        one.member_id, one.generation = "one-1", 1
        return world, one
    world.stable(one, two)
    if state is GroupState.EMPTY:
        one.leave(), two.leave()
    elif state is not GroupState.STABLE:
        one.join()
        if state is GroupState.COMPLETING:
            two.join()
    assert world.state is state
    return world, one


STATES = [None, GroupState.EMPTY, GroupState.PREPARING, GroupState.COMPLETING, GroupState.STABLE]


@pytest.mark.parametrize(
    ("state", "member", "nobody"),
    list(zip(STATES, [NOT_FOUND, UNKNOWN, 0, AGAIN, 0], [NOT_FOUND, 0, UNKNOWN, UNKNOWN, UNKNOWN], strict=True)),
)
def test_a_commit_in_each_state(state: GroupState | None, member: int, nobody: int) -> None:
    """Of a member of the present generation, and of nobody, as consumers without a group and administrators send it."""
    world, one = in_state(state)
    assert (one.commit(), world.commit()) == (member, nobody)


@pytest.mark.parametrize("state", STATES[2:])
def test_a_commit_of_nobody_with_a_generation_or_of_a_member_without_one(state: GroupState) -> None:
    """A group with members takes neither."""
    world, one = in_state(state)
    assert world.commit(generation=one.generation) == UNKNOWN
    assert world.commit(one.member_id) == ILLEGAL
    assert world.commit(one.member_id, instance_id="j") == FENCED


@pytest.mark.parametrize("state", STATES)
def test_a_commit_in_a_transaction_of_nobody(state: GroupState | None) -> None:
    """It is always allowed: older producers name no member. Where no group is here it is the broker's."""
    world, _ = in_state(state)
    expected = NOT_FOUND if state is None else 0
    assert world.coordinator.may_commit_in_transaction("g", "", None, -1, world.now) == expected


def test_a_commit_while_nobody_has_been_a_member() -> None:
    """An id that was given out makes no group: the committer may be a member at the broker."""
    world = World()
    (client,) = world.clients("one")
    assert client.ask().error == ErrorCode.MEMBER_ID_REQUIRED
    assert world.commit("theirs", 7) == NOT_FOUND
    assert world.coordinator.may_commit_in_transaction("g", "theirs", None, 7, world.now) == NOT_FOUND


@pytest.mark.parametrize(("state", "error"), list(zip(STATES, [NOT_FOUND, UNKNOWN, 0, 0, 0], strict=True)))
def test_a_commit_in_a_transaction_of_a_member(state: GroupState | None, error: int) -> None:
    """It is fenced by member and generation, not by the group's state; an unknown group is the broker's."""
    world, one = in_state(state)
    may = world.coordinator.may_commit_in_transaction
    assert may("g", one.member_id, "i", one.generation, world.now) == error
    if error == 0:
        assert may("g", "other", None, one.generation, world.now) == UNKNOWN
        assert may("g", one.member_id, "j", one.generation, world.now) == FENCED
        assert may("g", one.member_id, "i", one.generation + 1, world.now) == ILLEGAL
        assert may("g", "", None, one.generation, world.now) == UNKNOWN


def test_a_commit_in_a_transaction_prolongs_no_session() -> None:
    """It is the producer's request, not the member's."""
    world, one = in_state(GroupState.STABLE)
    world.wait(SESSION - 1)
    assert world.coordinator.may_commit_in_transaction("g", one.member_id, "i", one.generation, world.now) == 0
    world.wait(1)
    assert one.heartbeat() == UNKNOWN
