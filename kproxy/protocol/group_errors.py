# This module is pure (no I/O, no clock).
"""Builds a response with one error for each group API, as Kafka's own brokers do.

kproxy.rebootstrap answers group requests on stale connections with it, kproxy.coordinator those that it refuses.

Version notes: JoinGroup names no protocol, which is "" before v7 and null from there on; LeaveGroup names no member,
though v3 has an error for each; OffsetCommit names topics by id from v10 on, TxnOffsetCommit from v6 on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import RequestHeader, encode_response_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import Buffer
from kproxy.wire.primitives import frame as framed

T = TypeVar("T")

MOST_DECODED: Final = 64 << 10
"""Bytes of a request that is decoded to answer for each of its partitions: 3,000 of them, which takes 10 ms."""
_NULL_PROTOCOL: Final = 7
"""The first version of JoinGroup with a protocol name in the response that may be null."""


# Each codec is imported when it is needed: all of them together would delay every connection by 30 ms and more.
def _join_group(version: int, code: int) -> WireMessage:
    from kproxy.wire.generated.join_group_response import JoinGroupResponse

    return JoinGroupResponse(error_code=code, protocol_name=None if version >= _NULL_PROTOCOL else "")


def _heartbeat(_: int, code: int) -> WireMessage:
    from kproxy.wire.generated.heartbeat_response import HeartbeatResponse

    return HeartbeatResponse(error_code=code)


def _leave_group(_: int, code: int) -> WireMessage:
    from kproxy.wire.generated.leave_group_response import LeaveGroupResponse

    return LeaveGroupResponse(error_code=code)


def _sync_group(_: int, code: int) -> WireMessage:
    from kproxy.wire.generated.sync_group_response import SyncGroupResponse

    return SyncGroupResponse(error_code=code)


def _consumer_group_heartbeat(_: int, code: int) -> WireMessage:
    from kproxy.wire.generated.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse

    return ConsumerGroupHeartbeatResponse(error_code=code)


def _share_group_heartbeat(_: int, code: int) -> WireMessage:
    from kproxy.wire.generated.share_group_heartbeat_response import ShareGroupHeartbeatResponse

    return ShareGroupHeartbeatResponse(error_code=code)


def _streams_group_heartbeat(_: int, code: int) -> WireMessage:
    from kproxy.wire.generated.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse

    return StreamsGroupHeartbeatResponse(error_code=code)


AT_THE_TOP: Final[Mapping[int, Callable[[int, int], WireMessage]]] = MappingProxyType(
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


def at_the_top(key: int, version: int, correlation_id: int, code: int) -> bytes:
    """Return the response, a frame with its size, with one error for the whole request, whatever that contains."""
    return framed(encode_response_header(correlation_id, key, version), AT_THE_TOP[key](version, code).encode(version))


def for_each_partition(header: RequestHeader, request: Buffer, code: int) -> bytes:
    """Return the response, as above, with an error for each partition of the request's body.

    Raises `MalformedMessageError`. A request of more than `MOST_DECODED` bytes must not come here.
    """
    key, version = header.api_key, header.api_version
    response = FOR_EACH_PARTITION[key](version, request, code).encode(version)
    return framed(encode_response_header(header.correlation_id, key, version), response)


def _offset_commit(version: int, body: Buffer, code: int) -> WireMessage:
    from kproxy.wire.generated.offset_commit_request import OffsetCommitRequest
    from kproxy.wire.generated.offset_commit_response import (
        OffsetCommitResponse,
        OffsetCommitResponsePartition,
        OffsetCommitResponseTopic,
    )

    request = OffsetCommitRequest.decode(body, version, exact=False)
    return OffsetCommitResponse(
        topics=_refused(request.topics, OffsetCommitResponseTopic, OffsetCommitResponsePartition, code)
    )


def _txn_offset_commit(version: int, body: Buffer, code: int) -> WireMessage:
    from kproxy.wire.generated.txn_offset_commit_request import TxnOffsetCommitRequest
    from kproxy.wire.generated.txn_offset_commit_response import (
        TxnOffsetCommitResponse,
        TxnOffsetCommitResponsePartition,
        TxnOffsetCommitResponseTopic,
    )

    request = TxnOffsetCommitRequest.decode(body, version, exact=False)
    return TxnOffsetCommitResponse(
        topics=_refused(request.topics, TxnOffsetCommitResponseTopic, TxnOffsetCommitResponsePartition, code)
    )


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


FOR_EACH_PARTITION: Final[Mapping[int, Callable[[int, Buffer, int], WireMessage]]] = MappingProxyType(
    {ApiKey.OFFSET_COMMIT: _offset_commit, ApiKey.TXN_OFFSET_COMMIT: _txn_offset_commit}
)
