# This module is pure (no I/O, no clock).
"""Builds a response with one error for each group API, as Kafka's own brokers do.

kproxy.rebootstrap answers group requests on stale connections with it, kproxy.coordinator those that it refuses.

Version notes: JoinGroup names no protocol, which is "" before v7 and null from there on; LeaveGroup names no member,
though v3 has an error for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from kproxy.protocol.context import Context
from kproxy.protocol.walked import walked
from kproxy.wire.commit_walk import MOST_NAMED, CommitWalk
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import decode_request_header, encode_response_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame as framed

COMMITS: Final = (ApiKey.OFFSET_COMMIT, ApiKey.TXN_OFFSET_COMMIT)
"""The APIs whose responses have an error for each partition. Their policies walk with `CommitWalk`."""
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


def for_each_partition(context: Context, frame: memoryview, code: int) -> bytes | None:
    """Return the response to a commit, as above, with an error for each partition. Raises `MalformedMessageError`.

    Returns None for a commit that names more than `MOST_NAMED` topics and partitions.
    """
    header, _ = decode_request_header(frame, 0, len(frame))
    key, version = header.api_key, header.api_version
    commit = walked(context, frame, CommitWalk, partial(CommitWalk, key, version))
    if commit.named > MOST_NAMED:
        return None
    return framed(encode_response_header(header.correlation_id, key, version), commit.refused(code))
