# This module is pure (no I/O, no clock).
"""ConsumerGroupHeartbeat (68), ShareGroupHeartbeat (76) and StreamsGroupHeartbeat (88), where a rule matches the group.

KIP-848, share and Streams groups are the brokers', whatever their id. A heartbeat passes, and its answer tells who is a
member at the broker. Where kproxy coordinates members of the classic protocol under the same id, whoever came first
stays, since the broker would give the other kind the same partitions:

- A newer member that wants to join (epoch 0) is refused, with INCONSISTENT_GROUP_PROTOCOL and the reason, and its
  client ends. Kafka itself says GROUP_ID_NOT_FOUND where a group is of another kind. librdkafka shows nothing but the
  code's own text, and "The group id does not exist" would lead its users astray.
- A newer member that the broker has nevertheless was there before: kproxy did not know it yet, for instance after a
  restart. Then the hosted group gives way.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from kproxy.coordinator.apis.group_request import if_permitted
from kproxy.protocol.answer import response_frame
from kproxy.protocol.api_table import ApiPolicy, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import MAX_NAME, Context
from kproxy.protocol.group_errors import AT_THE_TOP
from kproxy.protocol.outcomes import AskBroker
from kproxy.protocol.reading import well_formed
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.header import RequestHeader, decode_request_header, decode_response_header
from kproxy.wire.reader import Reader

if TYPE_CHECKING:
    from kproxy.coordinator.hosting import Hosting

APIS_OF_NEWER: Final = (
    ApiKey.CONSUMER_GROUP_HEARTBEAT,
    ApiKey.SHARE_GROUP_HEARTBEAT,
    ApiKey.STREAMS_GROUP_HEARTBEAT,
)
CLASSIC, NEWER = "a member of the classic protocol", "a member of a KIP-848, share or Streams group"
_HELD: Final = 8 << 20
"""Bytes held of a request: a Streams member sends its whole topology."""
_JOINS: Final = 0
_LEAVES: Final = -1
"""The member epoch of who leaves for good. A static member that is to come back says -2, and its broker keeps it."""
_NOT_THERE: Final = frozenset({ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND})
"""The answers to who leaves that show that it is no member any more.

None of them counts for others: a member that is told 25 or 110 comes back under its id, so nobody takes its place.
"""
_CORRELATION_ID: Final = Struct(">i")


class _Said(NamedTuple):
    """What begins the request of each of the three APIs."""

    group_id: str
    member_id: str
    """Empty where the broker is to make it (ConsumerGroupHeartbeat v0)."""
    epoch: int


class _Asked:
    """The heartbeats of a connection that its broker has: each has one answer, and these come in order.

    Each has an entry, whatever its group: a client may use a correlation id twice at a time, and would have the answer
    to another group's heartbeat count for one that the broker refuses.
    """

    def __init__(self) -> None:
        self.waiting: deque[tuple[int, _Said | None]] = deque()
        """Correlation id and what was said; None where it is nothing to note."""


def policy(groups: Hosting) -> ApiPolicy:
    """Return the policy of each of the three APIs."""

    def request(context: Context, frame: memoryview) -> AskBroker | None:
        return _take(groups, context, frame)

    def response(route: Route) -> Respond:
        return _noting(groups, route.api_key, route.version)

    return ApiPolicy(
        on_request=OnRequest.WHOLE,
        request=request,
        request_limit=_HELD,
        on_response=OnResponse.WHOLE,
        response=response,
    )


def _take(groups: Hosting, context: Context, frame: memoryview) -> AskBroker | None:
    header, body = decode_request_header(frame, 0, len(frame))
    with well_formed("head of a heartbeat"):
        reader = Reader(frame[body:])
        said = _Said(reader.string(True), reader.string(True), reader.int32())
    hosted = groups.hosts(said.group_id)
    if hosted and said.epoch == _JOINS and groups.coordinator.has_members(said.group_id):
        refusal = partial(_refusal, groups, header, said.group_id)
        return AskBroker(if_permitted(groups, context, header, said.group_id, refusal))
    noted = (
        said._replace(member_id=said.member_id[: MAX_NAME + 1]) if hosted and len(said.group_id) <= MAX_NAME else None
    )
    context.state(_Asked).waiting.append((header.correlation_id, noted))
    return None


def _refusal(groups: Hosting, header: RequestHeader, group_id: str) -> bytes:
    groups.clash(group_id, NEWER)
    answer = AT_THE_TOP[header.api_key](header.api_version, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    answer.error_message = (  # type: ignore[attr-defined]
        "kproxy hosts this group for live members of the classic protocol. Stop them all, then start this member, or "
        "choose another group id."
    )
    return response_frame(header, answer)


def _noting(groups: Hosting, key: int, version: int) -> Respond:
    def respond(context: Context, frame: memoryview) -> None:
        waiting = context.state(_Asked).waiting
        if not waiting or waiting[0][0] != _CORRELATION_ID.unpack_from(frame)[0]:
            return
        _, said = waiting.popleft()
        if said is None:
            return
        _, body = decode_response_header(frame, 0, len(frame), key, version)
        with well_formed("head of a heartbeat's response"):
            reader = Reader(frame[body:])
            reader.int32()  # throttle time
            error = reader.int16()
            reader.nullable_string(True)  # the error's message
            member_id = reader.nullable_string(True) or said.member_id
        _note(groups, said._replace(member_id=member_id), error)

    return respond


def _note(groups: Hosting, said: _Said, error: int) -> None:
    coordinator = groups.coordinator
    if said.epoch == _LEAVES:
        if error in _NOT_THERE:
            coordinator.newer.gone(said.group_id, said.member_id)
        return
    if error:
        return
    with groups.acting() as now:
        if len(said.member_id) <= MAX_NAME:
            coordinator.newer.heard(said.group_id, said.member_id, now)
        if said.epoch < _JOINS or said.group_id not in coordinator.groups:
            return
        if coordinator.has_members(said.group_id):
            groups.clash(said.group_id, CLASSIC)
        coordinator.give_way(said.group_id, now)
