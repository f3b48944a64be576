# This module is pure (no I/O, no clock).
"""OffsetCommit (8) and TxnOffsetCommit (28) of hosted groups: fenced here, kept by the broker.

The broker knows no members of a hosted group. It takes a commit that names none, as those of consumers without a group:
generation -1, no member id, no instance id. These three fields are replaced in the request, which then goes on.

A member of a group that is not here may be one at the broker, of a KIP-848 group for instance: it is fenced there, and
its commit passes as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kproxy.coordinator.messages import NO_GENERATION, UNKNOWN_MEMBER
from kproxy.observe.reasons import Reason
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.group_errors import for_each_partition
from kproxy.protocol.outcomes import Answer, Forward
from kproxy.protocol.reading import well_formed
from kproxy.wire.apis import APIS
from kproxy.wire.commit_walk import MOST_NAMED
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.header import RequestHeader, decode_request_header
from kproxy.wire.primitives import frame as framed
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer

if TYPE_CHECKING:
    from kproxy.coordinator.hosting import Hosting

_FLEXIBLE: Final = APIS[ApiKey.OFFSET_COMMIT].flexible_from
_OFFSET_COMMIT_MEMBER: Final = 1
"""The first version of OffsetCommit with a member."""
_OFFSET_COMMIT_INSTANCE: Final = 7
"""The first version of OffsetCommit with an instance id."""
_PASSES: Final = (ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND)
_TXN_MEMBER: Final = 3
"""The first version of TxnOffsetCommit with a member."""


@dataclass(frozen=True, slots=True)
class _Head:
    """The fields in front of a commit's offsets, and the positions in the frame between which the member is named."""

    group_id: str
    generation: int
    member_id: str
    instance_id: str | None
    begin: int
    end: int
    flexible: bool
    named: bool
    """The version has an instance id."""


def commit(groups: Hosting, context: Context, frame: memoryview) -> Answer | Forward | None:
    """Deal with an OffsetCommit request; None where it is the broker's."""
    header, body = decode_request_header(frame, 0, len(frame))
    if header.api_version < _OFFSET_COMMIT_MEMBER:
        return None  # v0 is from before groups: brokers keep its offsets in ZooKeeper, or refuse it
    flexible, named = header.api_version >= _FLEXIBLE, header.api_version >= _OFFSET_COMMIT_INSTANCE
    head = _read(frame, body, lambda reader: reader.string(flexible), flexible, named)
    if not groups.hosts(head.group_id):
        return None
    with groups.acting() as now:
        error = groups.coordinator.may_commit(head.group_id, head.member_id, head.instance_id, head.generation, now)
    return _decided(context, header, frame, head, error)


def commit_in_transaction(groups: Hosting, context: Context, frame: memoryview) -> Answer | Forward | None:
    """Deal with a TxnOffsetCommit request; None where it is the broker's."""
    header, body = decode_request_header(frame, 0, len(frame))
    if header.api_version < _TXN_MEMBER:
        return _commit_of_nobody(groups, context, header, frame, body)
    head = _read(frame, body, _group_of_transaction, flexible=True, named=True)
    if not groups.hosts(head.group_id):
        return None
    with groups.acting() as now:
        error = groups.coordinator.may_commit_in_transaction(
            head.group_id, head.member_id, head.instance_id, head.generation, now
        )
    return _decided(context, header, frame, head, error)


def _commit_of_nobody(
    groups: Hosting, context: Context, header: RequestHeader, frame: memoryview, body: int
) -> Answer | None:
    """Deal with a TxnOffsetCommit request of a version that names no member: it passes as it is, or waits."""
    reader = Reader(frame[body:])
    with well_formed("head of a commit"):
        reader.string(False)  # the transactional id
        group_id = reader.string(False)
    if not groups.hosts(group_id):
        return None
    with groups.acting() as now:
        error = groups.coordinator.may_commit_in_transaction(group_id, UNKNOWN_MEMBER, None, NO_GENERATION, now)
    return _refused(context, header, frame, error) if error not in _PASSES else None


def _group_of_transaction(reader: Reader) -> str:
    reader.string(True)  # the transactional id
    group_id = reader.string(True)
    reader.int64()  # producer id and epoch
    reader.int16()
    return group_id


def _read(frame: memoryview, body: int, group: Callable[[Reader], str], flexible: bool, named: bool) -> _Head:
    reader = Reader(frame[body:])
    with well_formed("head of a commit"):
        group_id = group(reader)
        begin = len(frame) - reader.remaining()
        generation, member_id = reader.int32(), reader.string(flexible)
        instance_id = reader.nullable_string(flexible) if named else None
    end = len(frame) - reader.remaining()
    return _Head(group_id, generation, member_id, instance_id, begin, end, flexible, named)


def _decided(
    context: Context, header: RequestHeader, frame: memoryview, head: _Head, error: int
) -> Answer | Forward | None:
    if error == ErrorCode.GROUP_ID_NOT_FOUND:
        return None
    if error:
        return _refused(context, header, frame, error)
    writer = Writer()
    writer.int32(NO_GENERATION)
    writer.string(UNKNOWN_MEMBER, head.flexible)
    if head.named:
        writer.nullable_string(None, head.flexible)
    return Forward(framed(frame[: head.begin], writer.value(), frame[head.end :]))


def _refused(context: Context, header: RequestHeader, frame: memoryview, error: int) -> Answer:
    answer = for_each_partition(context, frame, error)
    if answer is None:
        detail = f"a refused commit of {len(frame)} bytes; up to {MOST_NAMED} topics and partitions are answered"
        raise Fault(Reason.FRAME_TOO_LARGE, detail, header.api_key)
    return Answer(answer)
