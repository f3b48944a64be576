# This module is pure (no I/O, no clock).
"""Commits a member's committed offsets again, unchanged, so that the broker does not expire them.

To the broker a hosted group has no members. It expires such offsets by the time of their commit
(`offsets.retention.minutes`, a week), though members may just have nothing new to commit. So the offsets of a member's
partitions are read and committed again before one of its heartbeats is answered: on the connection by which it commits,
where nothing that it commits itself can come in between. `Coordinator.refreshing` sees to commits in transactions.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from kproxy.errors import MalformedMessageError
from kproxy.protocol.ask_broker import request_frame
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kproxy.wire.generated.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestTopic
from kproxy.wire.generated.offset_fetch_response import OffsetFetchResponse
from kproxy.wire.header import decode_response_header

if TYPE_CHECKING:
    from kproxy.wire.header import RequestHeader

Partition: TypeAlias = tuple[str, int]

_FETCH: Final = 7
"""The version of OffsetFetch, of Kafka 2.5: it leaves out (88) what a transaction is about to commit."""
_COMMIT: Final = 8
"""The version of OffsetCommit, of Kafka 2.4: the first flexible one, with topics by name."""
_AT_ONCE: Final = 500
"""The most partitions of a question: its answer is decoded at once, in 2 ms."""


Refresh: TypeAlias = Generator[bytes, bytes, int]
"""Yields requests to the broker, receives the response to each; returns the error for which it was given up."""


def refreshing(header: RequestHeader, group_id: str, assignment: Mapping[str, Sequence[int]]) -> Refresh:
    """Ask for the offsets of these partitions by topic, and commit those that there are.

    It is given up where the broker refuses the group: it is not its coordinator any more (16), or not yet (14). What it
    refuses of partitions is left as it is: the client meets the same error at its own next commit.
    """
    partitions = ((topic, partition) for topic, some in assignment.items() for partition in some)
    while some := list(islice(partitions, _AT_ONCE)):
        fetch = OffsetFetchRequest(group_id=group_id, topics=list(_topics(some)), require_stable=True)
        found = _found((yield request_frame(header, (ApiKey.OFFSET_FETCH, _FETCH, fetch))))
        if found is None:
            continue
        if found.error_code:
            return found.error_code
        if committed := _committed(found):
            commit = OffsetCommitRequest(group_id=group_id, topics=committed)
            yield request_frame(header, (ApiKey.OFFSET_COMMIT, _COMMIT, commit))
    return ErrorCode.NONE


def _topics(partitions: Sequence[Partition]) -> Iterator[OffsetFetchRequestTopic]:
    for topic in dict.fromkeys(topic for topic, _ in partitions):
        yield OffsetFetchRequestTopic(topic, [number for name, number in partitions if name == topic])


def _found(answer: bytes) -> OffsetFetchResponse | None:
    """Return the broker's answer; None where it cannot be read."""
    try:
        _, body = decode_response_header(answer, 0, len(answer), ApiKey.OFFSET_FETCH, _FETCH)
        return OffsetFetchResponse.decode(memoryview(answer)[body:], _FETCH)
    except MalformedMessageError:
        return None


def _committed(found: OffsetFetchResponse) -> list[OffsetCommitRequestTopic]:
    """Return what is to be committed again."""
    topics = (
        OffsetCommitRequestTopic(
            topic.name,
            partitions=[
                OffsetCommitRequestPartition(
                    one.partition_index,
                    one.committed_offset,
                    one.committed_leader_epoch,
                    committed_metadata=one.metadata,
                )
                for one in topic.partitions
                if not one.error_code and one.committed_offset >= 0
            ],
        )
        for topic in found.topics
    )
    return [topic for topic in topics if topic.partitions]
