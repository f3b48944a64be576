# This module is pure (no I/O, no clock).
"""Builds the answer to a commit that gets an injected error: it is at each partition (see kproxy.faults.answers).

Version notes: OffsetCommit names topics by id from v10 on, TxnOffsetCommit from v6 on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from kproxy.wire.generated.offset_commit_request import OffsetCommitRequest
from kproxy.wire.generated.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kproxy.wire.generated.txn_offset_commit_request import TxnOffsetCommitRequest
from kproxy.wire.generated.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from kproxy.wire.primitives import Buffer

T = TypeVar("T")


def offset_commit(version: int, body: Buffer, code: int) -> OffsetCommitResponse:
    """Return the answer to an OffsetCommit request. Raises `MalformedMessageError`, as does the next."""
    request = OffsetCommitRequest.decode(body, version)
    topics = _refused(request.topics, OffsetCommitResponseTopic, OffsetCommitResponsePartition, code)
    return OffsetCommitResponse(topics=topics)


def txn_offset_commit(version: int, body: Buffer, code: int) -> TxnOffsetCommitResponse:
    """Return the answer to a TxnOffsetCommit request."""
    request = TxnOffsetCommitRequest.decode(body, version)
    topics = _refused(request.topics, TxnOffsetCommitResponseTopic, TxnOffsetCommitResponsePartition, code)
    return TxnOffsetCommitResponse(topics=topics)


def _refused(
    topics: Iterable[Any], topic: Callable[..., T], partition: Callable[[int, int], object], code: int
) -> list[T]:
    """Return the topics of a response to commits, of these types, with an error for each partition."""
    return [
        topic(
            name=each.name,
            topic_id=each.topic_id,
            partitions=[partition(one.partition_index, code) for one in each.partitions],
        )
        for each in topics
    ]
