"""kproxy.coordinator.states: the tables are whole, and name what Kafka names."""

from __future__ import annotations

from kproxy.coordinator.states import ANSWERS, MOVES, GroupState
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode


def test_each_state_says_where_it_may_go() -> None:
    """A dead group stays dead, every other one can die; only a rebalance leads to a new generation."""
    assert set(MOVES) == set(GroupState)
    assert [state for state in GroupState if GroupState.DEAD not in MOVES[state]] == [GroupState.DEAD]
    before = {after: {state for state in GroupState if after in MOVES[state]} for after in GroupState}
    assert before[GroupState.COMPLETING] == {GroupState.PREPARING}
    assert before[GroupState.STABLE] == {GroupState.COMPLETING}
    assert before[GroupState.EMPTY] == {GroupState.PREPARING}


def test_each_api_answers_in_each_state() -> None:
    """Only members' requests in states with members are taken; 27 is said while members join, or are to sync."""
    assert set(ANSWERS) == {ApiKey.HEARTBEAT, ApiKey.SYNC_GROUP, ApiKey.OFFSET_COMMIT}
    for answers in ANSWERS.values():
        assert set(answers) == set(GroupState)
        assert answers[GroupState.EMPTY] == answers[GroupState.DEAD] == ErrorCode.UNKNOWN_MEMBER_ID
        assert answers[GroupState.STABLE] == ErrorCode.NONE


def test_the_states_have_kafkas_names() -> None:
    """DescribeGroups and ListGroups show them, and clients parse them."""
    assert list(GroupState) == ["Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"]
