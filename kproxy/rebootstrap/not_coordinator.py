# This module is pure (no I/O, no clock).
"""Builds the body of a response with NOT_COORDINATOR (16) for each group API, as Kafka's own brokers do.

`coordinators` calls it for each group request that it answers on a stale connection, whose client must bootstrap again.

Version notes: JoinGroup names no protocol, which is "" before v7 and null from there on; LeaveGroup names no member,
though v3 has an error for each; OffsetCommit names topics by id from v10 on, TxnOffsetCommit from v6 on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import Buffer

_NULL_PROTOCOL: Final = 7
"""The first version of JoinGroup with a protocol name in the response that may be null."""


# Each codec is imported when it is needed: all of them together would delay every connection by 30 ms and more.
def _join_group(version: int) -> WireMessage:
    from kproxy.wire.generated.join_group_response import JoinGroupResponse

    return JoinGroupResponse(
        error_code=ErrorCode.NOT_COORDINATOR, protocol_name=None if version >= _NULL_PROTOCOL else ""
    )


def _heartbeat(_: int) -> WireMessage:
    from kproxy.wire.generated.heartbeat_response import HeartbeatResponse

    return HeartbeatResponse(error_code=ErrorCode.NOT_COORDINATOR)


def _leave_group(_: int) -> WireMessage:
    from kproxy.wire.generated.leave_group_response import LeaveGroupResponse

    return LeaveGroupResponse(error_code=ErrorCode.NOT_COORDINATOR)


def _sync_group(_: int) -> WireMessage:
    from kproxy.wire.generated.sync_group_response import SyncGroupResponse

    return SyncGroupResponse(error_code=ErrorCode.NOT_COORDINATOR)


def _consumer_group_heartbeat(_: int) -> WireMessage:
    from kproxy.wire.generated.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse

    return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.NOT_COORDINATOR)


def _share_group_heartbeat(_: int) -> WireMessage:
    from kproxy.wire.generated.share_group_heartbeat_response import ShareGroupHeartbeatResponse

    return ShareGroupHeartbeatResponse(error_code=ErrorCode.NOT_COORDINATOR)


def _streams_group_heartbeat(_: int) -> WireMessage:
    from kproxy.wire.generated.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse

    return StreamsGroupHeartbeatResponse(error_code=ErrorCode.NOT_COORDINATOR)


AT_THE_TOP: Final[Mapping[int, Callable[[int], WireMessage]]] = MappingProxyType(
    {
        ApiKey.JOIN_GROUP: _join_group,
        ApiKey.HEARTBEAT: _heartbeat,
        ApiKey.LEAVE_GROUP: _leave_group,
        ApiKey.SYNC_GROUP: _sync_group,
        ApiKey.CONSUMER_GROUP_HEARTBEAT: _consumer_group_heartbeat,
        ApiKey.SHARE_GROUP_HEARTBEAT: _share_group_heartbeat,
        ApiKey.STREAMS_GROUP_HEARTBEAT: _streams_group_heartbeat,
    }
)
"""Builders of responses with one error for the whole request, by api key."""


def at_the_top(key: int, version: int) -> bytes:
    """Return the body with one error for the whole request, whatever that contains."""
    return AT_THE_TOP[key](version).encode(version)


def for_each_partition(key: int, version: int, request: Buffer) -> bytes:
    """Return the body with an error for each partition of the request's body; raises `MalformedMessageError`."""
    return FOR_EACH_PARTITION[key](version, request).encode(version)


def _offset_commit(version: int, body: Buffer) -> WireMessage:
    from kproxy.wire.generated.offset_commit_request import OffsetCommitRequest
    from kproxy.wire.generated.offset_commit_response import (
        OffsetCommitResponse,
        OffsetCommitResponsePartition,
        OffsetCommitResponseTopic,
    )

    request = OffsetCommitRequest.decode(body, version, exact=False)
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(each.partition_index, ErrorCode.NOT_COORDINATOR)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _txn_offset_commit(version: int, body: Buffer) -> WireMessage:
    from kproxy.wire.generated.txn_offset_commit_request import TxnOffsetCommitRequest
    from kproxy.wire.generated.txn_offset_commit_response import (
        TxnOffsetCommitResponse,
        TxnOffsetCommitResponsePartition,
        TxnOffsetCommitResponseTopic,
    )

    request = TxnOffsetCommitRequest.decode(body, version, exact=False)
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    TxnOffsetCommitResponsePartition(each.partition_index, ErrorCode.NOT_COORDINATOR)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


FOR_EACH_PARTITION: Final[Mapping[int, Callable[[int, Buffer], WireMessage]]] = MappingProxyType(
    {ApiKey.OFFSET_COMMIT: _offset_commit, ApiKey.TXN_OFFSET_COMMIT: _txn_offset_commit}
)
