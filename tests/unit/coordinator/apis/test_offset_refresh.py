"""kproxy.coordinator.apis.offset_refresh: what the broker is asked, and what is committed again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kproxy.coordinator.apis.group_request import Permissions
from kproxy.coordinator.apis.offset_refresh import Refresh, refreshing
from kproxy.coordinator.settings import GroupSettings
from kproxy.protocol.outcomes import AskBroker, Deferred
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.heartbeat_request import HeartbeatRequest
from kproxy.wire.generated.heartbeat_response import HeartbeatResponse
from kproxy.wire.generated.offset_commit_request import OffsetCommitRequest
from kproxy.wire.generated.offset_fetch_request import OffsetFetchRequest
from kproxy.wire.generated.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kproxy.wire.header import RequestHeader, decode_request_header, encode_response_header
from tests.unit.coordinator.apis.hosting import GROUP, Connection, Hosting, Response
from tests.unit.coordinator.world import DELAY

HEADER = RequestHeader(ApiKey.HEARTBEAT, 4, 7, "client")
ANSWER = b"what the broker says to a commit is not looked at"


def asked(frame: bytes) -> tuple[RequestHeader, memoryview]:
    """The header of a request, and its body."""
    header, body = decode_request_header(frame, 4, len(frame))
    return header, memoryview(frame)[body:]


def fetched(*topics: tuple[str, list[OffsetFetchResponsePartition]]) -> bytes:
    """The broker's answer to an OffsetFetch."""
    response = OffsetFetchResponse(topics=[OffsetFetchResponseTopic(name, some) for name, some in topics])
    return encode_response_header(7, ApiKey.OFFSET_FETCH, 7) + response.encode(7)


def test_offsets_are_committed_as_they_are() -> None:
    """With leader epoch and metadata; but for those that are missing, or that a transaction is about to commit."""
    steps = refreshing(HEADER, "g", {"a": [0, 1, 2], "b": [5]})
    header, body = asked(next(steps))
    assert header[:4] == (ApiKey.OFFSET_FETCH, 7, 7, "client")
    fetch = OffsetFetchRequest.decode(body, 7)
    assert (fetch.group_id, fetch.require_stable) == ("g", True)
    assert [(topic.name, topic.partition_indexes) for topic in fetch.topics or ()] == [("a", [0, 1, 2]), ("b", [5])]
    kept = OffsetFetchResponsePartition(0, 12, 3, "note")
    none = OffsetFetchResponsePartition(1, -1, -1, "")
    unstable = OffsetFetchResponsePartition(2, 40, 3, "", ErrorCode.UNSTABLE_OFFSET_COMMIT)
    header, body = asked(steps.send(fetched(("a", [kept, none, unstable]), ("b", [none]))))
    assert header[:4] == (ApiKey.OFFSET_COMMIT, 8, 7, "client")
    commit = OffsetCommitRequest.decode(body, 8)
    assert (commit.group_id, commit.generation_id_or_member_epoch, commit.member_id) == ("g", -1, "")
    [topic] = commit.topics
    [partition] = topic.partitions
    assert topic.name == "a"
    assert (partition.partition_index, partition.committed_offset) == (0, 12)
    assert (partition.committed_leader_epoch, partition.committed_metadata) == (3, "note")
    assert list(answered(steps, ANSWER)) == []


def test_nothing_to_commit() -> None:
    """Where no offset is there, or the broker's answer cannot be read, nothing is committed."""
    for answer in (fetched(("a", [OffsetFetchResponsePartition(0, -1)])), b"", b"\0\0\0\7\0\xff"):
        steps = refreshing(HEADER, "g", {"a": [0]})
        next(steps)
        assert list(answered(steps, answer)) == []


def test_many_partitions_are_asked_for_in_parts() -> None:
    """Each answer is decoded at once."""
    steps, counts = refreshing(HEADER, "g", {"a": list(range(1200))}), []
    question: bytes | None = next(steps)
    while question is not None:
        fetch = OffsetFetchRequest.decode(asked(question)[1], 7)
        counts.append(sum(len(topic.partition_indexes) for topic in fetch.topics or ()))
        question = next(answered(steps, fetched()), None)
    assert counts == [500, 500, 200]


def answered(steps: Refresh, answer: bytes) -> Iterator[bytes]:
    """Yield the next question after an answer, if there is one."""
    try:
        yield steps.send(answer)
    except StopIteration:
        return


@pytest.mark.parametrize(
    ("error", "told", "again"),
    [
        (ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_COORDINATOR, 0.0),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NONE, 60.0),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.NONE, GroupSettings().offset_refresh),
    ],
)
def test_a_broker_that_refuses_the_group(error: int, told: int, again: float) -> None:
    """A member whose broker is no longer the coordinator is told so (16), and its offsets are due at the right one."""
    hosting = Hosting()
    (member,) = hosting.clients("one", group_id=GROUP)
    member.join()
    hosting.wait(DELAY)
    assert member.sync({member.member_id: ASSIGNED}).error == 0
    connection = Connection(hosting)
    connection.context.state(Permissions).add(GROUP, None, hosting.now)
    outcome = connection.outcome(
        ApiKey.HEARTBEAT, 4, HeartbeatRequest(GROUP, member.generation, member.member_id).encode(4)
    )
    assert isinstance(outcome, AskBroker)
    next(outcome.steps)
    answer = encode_response_header(7, ApiKey.OFFSET_FETCH, 7) + OffsetFetchResponse(error_code=error).encode(7)
    with pytest.raises(StopIteration) as end:
        outcome.steps.send(answer)
    assert Response(end.value.value, ApiKey.HEARTBEAT, 4, HeartbeatResponse).body.error_code == told
    assert hosting.coordinator.groups[GROUP].members[member.member_id].offsets_due == hosting.now + again


ASSIGNED = (0).to_bytes(2) + ConsumerProtocolAssignment([TopicPartition("t", [3])]).encode(0)


@pytest.mark.parametrize("permitted", [True, False])
def test_before_a_heartbeat_is_answered(permitted: bool) -> None:
    """A member's offsets are due at once; whether it may be a member is asked first, where that is not known."""
    hosting = Hosting()
    (member,) = hosting.clients("one", group_id=GROUP)
    member.join()
    hosting.wait(DELAY)
    assert member.sync({member.member_id: ASSIGNED}).error == 0
    connection = Connection(hosting)
    if permitted:
        connection.context.state(Permissions).add(GROUP, None, hosting.now)
    request = HeartbeatRequest(GROUP, member.generation, member.member_id)
    outcome = connection.outcome(ApiKey.HEARTBEAT, 4, request.encode(4))
    assert isinstance(outcome, AskBroker)
    question = next(outcome.steps)
    if not permitted:
        assert asked(question)[0].api_key == ApiKey.HEARTBEAT
        nobody = HeartbeatResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID).encode(0)
        question = outcome.steps.send(encode_response_header(7, ApiKey.HEARTBEAT, 0) + nobody)
    header, body = asked(question)
    assert header.api_key == ApiKey.OFFSET_FETCH
    fetch = OffsetFetchRequest.decode(body, 7)
    assert [(topic.name, topic.partition_indexes) for topic in fetch.topics or ()] == [("t", [3])]
    with pytest.raises(StopIteration) as end:
        outcome.steps.send(fetched())
    assert Response(end.value.value, ApiKey.HEARTBEAT, 4, HeartbeatResponse).body.error_code == ErrorCode.NONE
    again = connection.outcome(ApiKey.HEARTBEAT, 4, request.encode(4))
    assert isinstance(again, Deferred)
    assert again.frame is not None
