# This module is pure (no I/O, no clock).
"""DeleteGroups (42): the broker deletes a group's offsets, kproxy what it knows of a hosted group.

The broker has no member of a hosted group, so that any is empty to it. One with members is not named to it: the answer
is 68, if the principal may delete the group at all.

The results come in no order, and once for a group that is named twice: a broker's do the same.

Version notes: v3 has an error message for each group.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Final

from kproxy.coordinator.apis.admin_request import Pace, asked, walk_of
from kproxy.coordinator.states import GroupState
from kproxy.protocol.answer import response_frame
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import Incremental, Steps
from kproxy.wire.generated.delete_groups_response import DeletableGroupResult, DeleteGroupsResponse
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.group_walks import DeletedGroups, GroupWalk, NamedGroups
from kproxy.wire.header import RequestHeader
from kproxy.wire.primitives import frame as framed
from kproxy.wire.reader import Reader

if TYPE_CHECKING:
    from kproxy.coordinator.coordinator import Coordinator
    from kproxy.coordinator.hosting import Hosting
    from kproxy.wire.generated.describe_groups_response import DescribedGroup

_DELETE: Final = 6
"""Kafka's number of the operation."""
_DELETED: Final = frozenset({ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND})
"""The broker's errors for a group that the principal may delete, and of which the broker has nothing any more."""


def deleting(groups: Hosting, context: Context, header: RequestHeader, frame: bytes, named: NamedGroups) -> Steps:
    """Deal with a request that names hosted groups."""
    kept = {one.group_id: error for one in named.found if (error := _hindrance(groups.coordinator, one.group_id))}
    described = yield from asked(header, kept)
    rest = _without(kept, frame, named) if kept else frame
    if rest is None:
        answer, walk = _empty(header)
    else:
        answer = yield framed(rest)
        walk = walk_of(context)
    return Incremental(_answer(groups, answer, walk, kept, described))


def _without(kept: Mapping[str, int], frame: bytes, named: NamedGroups) -> bytes | None:
    """Return the request without the groups that are kept; None if it names no others."""
    rest = [None if one.group_id in kept else frame[one.begin : one.end] for one in named.found]
    return named.replaced(frame, rest) if rest.count(None) < named.count else None


def _hindrance(coordinator: Coordinator, group_id: str) -> int:
    """Return the error for whoever may delete a group; 0 where nothing stands in the way."""
    group = coordinator.groups.get(group_id)
    if coordinator.refuses or group is None:
        return coordinator.refuses
    return ErrorCode.NONE if group.state is GroupState.EMPTY else ErrorCode.NON_EMPTY_GROUP


def _verdict(described: DescribedGroup | None, hindrance: int) -> int:
    """Return the error of a group that is kept, by what the broker says of it."""
    if described is None:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if described.error_code:
        return described.error_code
    return hindrance if described.authorized_operations >> _DELETE & 1 else ErrorCode.GROUP_AUTHORIZATION_FAILED


def _empty(header: RequestHeader) -> tuple[bytes, GroupWalk]:
    """Return a response without groups, and the walk over it."""
    answer = response_frame(header, DeleteGroupsResponse())[4:]
    walk = DeletedGroups(lambda _: False, header.api_key, header.api_version)
    walk.look(answer, 0, len(answer))
    return answer, walk


def _answer(
    groups: Hosting,
    answer: bytes,
    walk: GroupWalk,
    kept: Mapping[str, int],
    described: Mapping[str, DescribedGroup],
) -> Generator[None, None, bytes]:
    """Delete here what the broker has deleted; return its response together with the errors of what is kept."""
    pace = Pace()
    results: list[bytes] = []
    for found in walk.found:
        result = DeletableGroupResult.read(Reader(answer[found.begin : found.end]), walk.version)
        if result.error_code in _DELETED:
            _delete(groups, result)
        results.append(result.written(walk.version))
        if pace.over(2):
            yield
    added: list[bytes] = []
    for group_id, hindrance in kept.items():
        verdict = _verdict(described.get(group_id), hindrance)
        added.append(DeletableGroupResult(group_id, verdict).written(walk.version))
        if pace.over(1):
            yield
    return framed(walk.replaced(answer, results, added))


def _delete(groups: Hosting, result: DeletableGroupResult) -> None:
    """Delete a hosted group, and say so, though the broker may have known nothing of it."""
    with groups.acting() as now:
        error = groups.coordinator.delete(result.group_id, now)
    if error != ErrorCode.GROUP_ID_NOT_FOUND:
        result.error_code, result.error_message = error, None
