# This module is pure (no I/O, no clock).
"""Decodes what members send, within bounds: a request of 8 MiB may have a million elements, which takes seconds.

Each function is a `Decode` for `of_members`. It reads the fields in front of the list first, and how long that is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.protocol.reading import well_formed
from kproxy.wire.apis import APIS
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.join_group_request import JoinGroupRequest
from kproxy.wire.generated.leave_group_request import LeaveGroupRequest
from kproxy.wire.generated.sync_group_request import SyncGroupRequest
from kproxy.wire.reader import Reader

if TYPE_CHECKING:
    from kproxy.coordinator.hosting import Hosting

MOST_PROTOCOLS: Final = 64
"""Protocols of one member. Consumers have one for each of their assignors."""
MOST_LEAVING: Final = 1000
"""Members that one LeaveGroup may name: an administrator removes so many static ones at a time."""
SPARE: Final = 100
"""Assignments that a leader may send beyond one for each member, who may have left since it was told of them."""


def decode_join(body: memoryview, version: int) -> JoinGroupRequest:
    """Decode a JoinGroup request; raises `Fault` for more than `MOST_PROTOCOLS`."""
    reader, flexible = Reader(body), version >= APIS[ApiKey.JOIN_GROUP].flexible_from
    with well_formed("JoinGroup request"):
        reader.string(flexible)  # the group id
        reader.int32()
        if version >= 1:
            reader.int32()
        reader.string(flexible)  # the member id
        if version >= 5:
            reader.nullable_string(flexible)
        reader.string(flexible)  # the protocol type
        _refuse_beyond(MOST_PROTOCOLS, "protocols", _length(reader, flexible), ApiKey.JOIN_GROUP)
    return JoinGroupRequest.decode(body, version)


def decode_leave(body: memoryview, version: int) -> LeaveGroupRequest:
    """Decode a LeaveGroup request; raises `Fault` for more than `MOST_LEAVING`."""
    reader, flexible = Reader(body), version >= APIS[ApiKey.LEAVE_GROUP].flexible_from
    with well_formed("LeaveGroup request"):
        reader.string(flexible)  # the group id
        if version >= 3:
            _refuse_beyond(MOST_LEAVING, "members", _length(reader, flexible), ApiKey.LEAVE_GROUP)
    return LeaveGroupRequest.decode(body, version)


def decoding_sync(groups: Hosting) -> Callable[[memoryview, int], SyncGroupRequest]:
    """Return the decoder of SyncGroup requests, which raises `Fault` for many more assignments than there are members.

    Many assignments of a member that does not lead are not even decoded: they are ignored.
    """

    def decode(body: memoryview, version: int) -> SyncGroupRequest:
        reader, flexible = Reader(body), version >= APIS[ApiKey.SYNC_GROUP].flexible_from
        with well_formed("SyncGroup request"):
            request = _head(reader, version, flexible)
            length = _length(reader, flexible)
        if length > SPARE:
            group = groups.coordinator.groups.get(request.group_id)
            if group is None or group.leader != request.member_id:
                return request
            _refuse_beyond(len(group.members) + SPARE, "assignments", length, ApiKey.SYNC_GROUP)
        return SyncGroupRequest.decode(body, version)

    return decode


def _head(reader: Reader, version: int, flexible: bool) -> SyncGroupRequest:
    group_id, generation, member_id = reader.string(flexible), reader.int32(), reader.string(flexible)
    instance_id = reader.nullable_string(flexible) if version >= 3 else None
    protocol = (reader.nullable_string(flexible), reader.nullable_string(flexible)) if version >= 5 else (None, None)
    return SyncGroupRequest(group_id, generation, member_id, instance_id, *protocol)


def _length(reader: Reader, flexible: bool) -> int:
    """Return the length of the list that begins here."""
    return reader.uvarint() - 1 if flexible else reader.int32()


def _refuse_beyond(most: int, what: str, length: int, key: int) -> None:
    if length > most:
        raise Fault(Reason.FRAME_TOO_LARGE, f"{length} {what} in a request; the limit is {most}", key)
