# This module is pure (no I/O, no clock).
"""OffsetDelete (47): offsets that members of a hosted group use are kept, the broker deletes the others.

The broker has no member of a hosted group, so that nobody subscribes to anything by what it knows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Final

from kproxy.coordinator.apis.group_request import group_in
from kproxy.coordinator.consumer_protocol import CONSUMER, subscribed
from kproxy.coordinator.states import GroupState
from kproxy.observe.reasons import Reason
from kproxy.protocol.answer import response_frame
from kproxy.protocol.ask_broker import request_frame
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Answer, AskBroker, Steps
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.offset_delete_request import OffsetDeleteRequest, OffsetDeleteRequestTopic
from kproxy.wire.generated.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from kproxy.wire.header import RequestHeader, decode_request_header, decode_response_header

if TYPE_CHECKING:
    from kproxy.coordinator.group import Group
    from kproxy.coordinator.hosting import Hosting

_DECODED: Final = 32 << 10
"""The most bytes of a request for a group with members: 8,000 partitions, which takes 5 ms."""


def offset_delete(groups: Hosting, context: Context, frame: memoryview) -> Answer | AskBroker | None:
    """Deal with a request; None for a group that is not hosted, or has no members."""
    del context
    header, body = decode_request_header(frame, 0, len(frame))
    group_id = group_in(frame, body, header)
    refuses = groups.coordinator.refuses
    if refuses and groups.hosts(group_id):
        return Answer(response_frame(header, OffsetDeleteResponse(error_code=refuses)))
    group = groups.coordinator.groups.get(group_id)
    if group is None or group.state is GroupState.EMPTY:
        return None
    if len(frame) - body > _DECODED:
        detail = f"{len(frame) - body} bytes of partitions of a group with members; the limit is {_DECODED}"
        raise Fault(Reason.FRAME_TOO_LARGE, detail, header.api_key)
    request = OffsetDeleteRequest.decode(frame[body:], header.api_version)
    return AskBroker(_steps(header, request, group))


def _steps(header: RequestHeader, request: OffsetDeleteRequest, group: Group) -> Steps:
    """Ask the broker whether the principal may, then have it delete what no member uses."""
    response = yield from _asked(header, request.group_id, [])
    if response.error_code == ErrorCode.NONE and group.protocol_type != CONSUMER:
        response.error_code = ErrorCode.NON_EMPTY_GROUP
    if response.error_code:
        return response_frame(header, response)
    in_use = _in_use({topic.name for topic in request.topics}, group)
    used = [topic for topic in request.topics if topic.name in in_use]
    unused = [topic for topic in request.topics if topic.name not in in_use]
    if unused:
        response = yield from _asked(header, request.group_id, unused)
    if response.error_code == ErrorCode.NONE:
        response.topics += _results(used, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)
    return response_frame(header, response)


def _asked(
    header: RequestHeader, group_id: str, topics: list[OffsetDeleteRequestTopic]
) -> Generator[bytes, bytes, OffsetDeleteResponse]:
    """Return the broker's response. Without topics, it only says whether the principal may delete offsets.

    To a broker that keeps no offset of the group, it may not exist (69): there is nothing to delete then.
    """
    key, version = header.api_key, header.api_version
    answer = yield request_frame(header, (key, version, OffsetDeleteRequest(group_id, topics)))
    _, body = decode_response_header(answer, 0, len(answer), key, version)
    response = OffsetDeleteResponse.decode(memoryview(answer)[body:], version)
    if response.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
        return OffsetDeleteResponse(ErrorCode.NONE, response.throttle_time_ms, _results(topics, ErrorCode.NONE))
    return response


def _in_use(topics: set[str], group: Group) -> set[str]:
    """Return the topics that members subscribe to: all where it cannot be told, as before the first generation."""
    if group.protocol_name is None:
        return topics
    used: set[str] = set()
    seen: set[bytes] = set()
    for member in group.members.values():
        if used == topics:
            break
        metadata = member.metadata(group.protocol_name)
        if metadata in seen:
            continue
        seen.add(metadata)
        found = subscribed(metadata)
        if found is None:
            return topics
        used |= topics & found
    return used


def _results(topics: Iterable[OffsetDeleteRequestTopic], error: int) -> list[OffsetDeleteResponseTopic]:
    """Return an error for each partition, each of them once."""
    partitions: dict[str, dict[int, None]] = {}
    for topic in topics:
        partitions.setdefault(topic.name, {}).update((each.partition_index, None) for each in topic.partitions)
    return [
        OffsetDeleteResponseTopic(name, [OffsetDeleteResponsePartition(index, error) for index in indexes])
        for name, indexes in partitions.items()
    ]
