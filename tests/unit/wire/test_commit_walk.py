"""Commits of any size are refused without being decoded; tests/property compares their responses with the codecs'."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.wire.commit_walk import MOST_NAMED, CommitWalk
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kproxy.wire.generated.offset_commit_response import OffsetCommitResponse
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.primitives import MAX_TAGS, uvarint
from tests.support.every import every
from tests.unit.relay import frames

OFFSET, TXN = ApiKey.OFFSET_COMMIT, ApiKey.TXN_OFFSET_COMMIT
EACH = [(key, version) for key in (OFFSET, TXN) for version in frames.versions(key)]
READ = 128 << 10


def commit(key: int, version: int, partitions: int, topics: int = 1) -> bytes:
    """A commit without its size."""
    offsets = [{"PartitionIndex": index} for index in range(partitions)]
    named = [{"Name": "orders", "TopicId": b"i" * 16, "Partitions": offsets}] * topics
    return frames.request(key, version, 5, {"GroupId": "group", "Topics": named}, client_id="a client")[4:]


def head(key: int, version: int) -> bytes:
    return bytes(encode_request_header(RequestHeader(key, version, 5, "a client")))


def walked(key: int, version: int, frame: bytes) -> CommitWalk:
    """The walk when the frame arrives in reads."""
    walk = CommitWalk(key, version)
    for end in range(READ, len(frame) + READ, READ):
        walk.look(frame, 0, min(end, len(frame)))
    walk.finish(len(frame))
    return walk


@pytest.mark.parametrize("version", [7, 8])
def test_tens_of_thousands_of_partitions(version: int) -> None:
    """Each has the error, in the commit's order."""
    walk = walked(OFFSET, version, commit(OFFSET, version, 30_000))
    (topic,) = OffsetCommitResponse.decode(walk.refused(27), version).topics
    assert (topic.name, walk.named) == ("orders", 30_001)
    assert [one.partition_index for one in topic.partitions] == list(range(30_000))
    assert {one.error_code for one in topic.partitions} == {27}


@every(("key", "version"), EACH)
def test_what_is_kept(key: int, version: int) -> None:
    """Less than the frame has, so that memory is bounded as that of frames is."""
    for partitions, topics in ((10_000, 1), (1, 5_000), (0, 5_000)):
        frame = commit(key, version, partitions, topics)
        walk = walked(key, version, frame)
        assert len(walk.refused(22)) <= walk.kept <= 1.2 * len(frame)
        assert CommitWalk(key, version).kept <= 4


@every(("key", "version"), [(OFFSET, 8), (OFFSET, 10), (TXN, 3), (TXN, 6)])
def test_thousands_of_tagged_fields(key: int, version: int) -> None:
    """They are as malformed as in a message that is decoded, in each section."""
    few, many = (uvarint(count) + b"\0\0" * count for count in (MAX_TAGS, MAX_TAGS + 1))
    by_id = version in {10, 6}
    front = b"\2g" + bytes(4) + b"\2m" + b"\0" if key == OFFSET else b"\2t" + b"\2g" + bytes(14) + b"\2m" + b"\0"
    topic, partition = (b"i" * 16 if by_id else b"\2t") + b"\2", bytes(16) + b"\1"
    for section in range(3):
        for tags, right in ((few, True), (many, False)):
            of = [tags if each == section else b"\0" for each in range(3)]
            frame = head(key, version) + front + b"\2" + topic + partition + of[0] + of[1] + of[2]
            if right:
                assert walked(key, version, frame).named == 2
            else:
                with pytest.raises(MalformedMessageError):
                    walked(key, version, frame)


@every(("key", "version"), EACH)
def test_a_commit_of_nothing(key: int, version: int) -> None:
    """Its response has no topics, as a broker's."""
    said = walked(key, version, commit(key, version, 0, topics=0)).refused(25)
    assert frames.understood(key, version, frames.raw_response(key, version, 5, said)[4:])["Topics"] == []


@pytest.mark.parametrize(("partitions", "topics"), [(MOST_NAMED, 1), (0, MOST_NAMED + 1)])
@pytest.mark.parametrize("version", [7, 8])
def test_too_many_are_not_looked_at(version: int, partitions: int, topics: int) -> None:
    """The walk ends at the first topic or partition too many: what it keeps is bounded, and the rest is not read."""
    named = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition()] * partitions)] * topics
    body = OffsetCommitRequest("group", topics=named).encode(version)
    walk = walked(OFFSET, version, head(OFFSET, version) + body + b"\xff" * 100)
    assert walk.named == MOST_NAMED + 1


@every(("key", "version"), EACH)
def test_what_is_no_commit_is_told_at_its_end(key: int, version: int) -> None:
    """While it arrives nothing is raised: the group may be the broker's, who judges its commits."""
    frame = head(key, version) + b"\xff\xfe" * 40
    walk = CommitWalk(key, version)
    walk.look(frame, 0, len(frame) - 1)
    walk.look(frame, 0, len(frame))
    with pytest.raises(MalformedMessageError):
        walk.finish(len(frame))
