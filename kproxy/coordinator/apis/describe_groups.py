# This module is pure (no I/O, no clock).
"""DescribeGroups (15): the broker describes its groups, kproxy those that it hosts.

The broker has no member of a hosted group. It says whether the principal may describe it, and what else it may do.

Version notes: authorized operations are in v3, instance ids in v4. Up to v5 a broker describes a group that it does not
know as Dead; from v6 on by an error (69), without operations.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from kproxy.coordinator.apis.admin_request import Pace, asked, walk_of
from kproxy.coordinator.states import GroupState
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import Incremental, Steps
from kproxy.wire.generated.describe_groups_response import DescribedGroup, DescribedGroupMember
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.group_walks import AUTHORIZED, FoundGroup, GroupWalk, NamedGroups
from kproxy.wire.header import RequestHeader
from kproxy.wire.primitives import INT16, INT32, uvarint
from kproxy.wire.primitives import frame as framed
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer

if TYPE_CHECKING:
    from kproxy.coordinator.group import Group
    from kproxy.coordinator.hosting import Hosting
    from kproxy.coordinator.member import Member

_UNKNOWN_IS_AN_ERROR: Final = 6
"""The first version in which a group that is not known is an error."""
_MEMBERS: Final = 100
"""How many members are encoded at once."""
_GROUP_COST: Final = 4
"""The cost of a group without members, in members."""
_AS_HOSTED: Final = frozenset({ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND})
"""The broker's errors for a group that the principal may describe here."""


def describing(groups: Hosting, context: Context, header: RequestHeader, frame: bytes, named: NamedGroups) -> Steps:
    """Deal with a request that names hosted groups."""
    answer = yield framed(frame)
    walk = walk_of(context)
    unknown: Mapping[str, DescribedGroup] = {}
    if _wants_operations(named, frame):
        unknown = yield from asked(header, [one.group_id for one in walk.found if _error(answer, one)])
    return Incremental(_answer(groups, answer, walk, unknown))


def _wants_operations(named: NamedGroups, frame: bytes) -> bool:
    """Return whether the principal's operations are wanted that the broker does not tell of a group unknown to it."""
    return named.version >= _UNKNOWN_IS_AN_ERROR and frame[named.end : named.end + 1] not in {b"", b"\0"}


def _error(answer: bytes, found: FoundGroup) -> int:
    error: int = INT16.unpack_from(answer, found.begin)[0]
    return error


def _answer(
    groups: Hosting, answer: bytes, walk: GroupWalk, unknown: Mapping[str, DescribedGroup]
) -> Generator[None, None, bytes]:
    encoded: list[bytes] = []
    pace = Pace()
    for found in walk.found:
        chunks: list[bytes] = []
        for cost, chunk in _parts(groups, answer, walk, found, unknown):
            chunks.append(chunk)
            if pace.over(cost):
                yield
        encoded.append(b"".join(chunks))
    return framed(walk.replaced(answer, encoded))


def _parts(
    groups: Hosting, answer: bytes, walk: GroupWalk, found: FoundGroup, unknown: Mapping[str, DescribedGroup]
) -> Iterator[tuple[int, bytes]]:
    """Return the cost and the bytes of each part of a group, as the client is to see it."""
    theirs = answer[found.begin : found.end]
    error, refused = _error(answer, found), groups.coordinator.refuses
    group = groups.coordinator.groups.get(found.group_id)
    if error not in _AS_HOSTED or (group is None and not refused):
        yield _GROUP_COST, theirs
        return
    described = DescribedGroup.read(Reader(theirs), walk.version)
    if error and found.group_id in unknown:
        described.authorized_operations = unknown[found.group_id].authorized_operations
    if refused or group is None:
        described.error_code, described.group_state = refused, ""
    else:
        _describe(described, group)
    described.error_message, described.members = None, []
    members = () if group is None or refused else _snapshot(group)
    head, tail = _around_members(described, walk, len(members))
    yield _GROUP_COST, head
    yield from _members(members, described.protocol_data, walk.version)
    yield 0, tail


def _describe(described: DescribedGroup, group: Group) -> None:
    described.error_code = ErrorCode.NONE
    described.group_state = str(group.state)
    described.protocol_type = group.protocol_type or ""
    described.protocol_data = (group.protocol_name or "") if group.state is GroupState.STABLE else ""


def _snapshot(group: Group) -> Sequence[tuple[Member, bytes]]:
    """Return the members with their assignments: the group may rebalance while it is described."""
    return [(member, member.assignment) for member in group.members.values()]


def _around_members(described: DescribedGroup, walk: GroupWalk, count: int) -> tuple[bytes, bytes]:
    """Return a group's bytes in front of its first member and behind its last; `described` has none."""
    encoded = described.written(walk.version)
    tail = len(encoded) - (INT32.size if walk.version >= AUTHORIZED else 0) - (1 if walk.flexible else 0)
    head = tail - (1 if walk.flexible else INT32.size)
    return encoded[:head] + (uvarint(count + 1) if walk.flexible else INT32.pack(count)), encoded[tail:]


def _members(members: Sequence[tuple[Member, bytes]], protocol: str, version: int) -> Iterator[tuple[int, bytes]]:
    """Return members in parts; without a protocol, which only a stable group has, their data is of no generation."""
    for at in range(0, len(members), _MEMBERS):
        writer = Writer()
        part = members[at : at + _MEMBERS]
        for member, assignment in part:
            DescribedGroupMember(
                member.id,
                member.instance_id,
                member.client_id,
                member.client_host,
                member.metadata(protocol) if protocol else b"",
                assignment if protocol else b"",
            ).write(writer, version)
        yield len(part), writer.value()
