# This module is pure (no I/O, no clock).
"""JoinGroup (11), Heartbeat (12), LeaveGroup (13) and SyncGroup (14) of hosted groups, in every version.

Version notes: JoinGroup v0 has one timeout; up to v3 a new member needs no id first (KIP-394); v9 can skip the
assignment. LeaveGroup has one member up to v2, and its error at the top. SyncGroup must name its protocol from v5 on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from kproxy.coordinator.apis.group_request import Permissions, permission
from kproxy.coordinator.apis.newer_groups import CLASSIC
from kproxy.coordinator.apis.offset_refresh import refreshing
from kproxy.coordinator.consumer_protocol import assigned
from kproxy.coordinator.messages import Join, Joined, Leaving, Sync, Synced
from kproxy.protocol.context import Context
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.heartbeat_request import HeartbeatRequest
from kproxy.wire.generated.heartbeat_response import HeartbeatResponse
from kproxy.wire.generated.join_group_request import JoinGroupRequest
from kproxy.wire.generated.join_group_response import JoinGroupResponse, JoinGroupResponseMember
from kproxy.wire.generated.leave_group_request import LeaveGroupRequest
from kproxy.wire.generated.leave_group_response import LeaveGroupResponse, MemberResponse
from kproxy.wire.generated.sync_group_request import SyncGroupRequest
from kproxy.wire.generated.sync_group_response import SyncGroupResponse
from kproxy.wire.header import RequestHeader

if TYPE_CHECKING:
    from kproxy.coordinator.apis.group_request import Questions, Reply
    from kproxy.coordinator.hosting import Hosting

_TWO_TIMEOUTS: Final = 1
"""The first version of JoinGroup with a rebalance timeout; before, it is the session timeout."""
_NEEDS_MEMBER_ID: Final = 4
_PROTOCOL_TYPE: Final = 7
"""The first version of JoinGroup whose response has a protocol type, and a protocol name that may be null."""
_SKIPS_ASSIGNMENT: Final = 9
_NAMES_PROTOCOL: Final = 5
"""The first version of SyncGroup with the protocol."""
_LOADING_SECONDS: Final = 60.0
"""Until a broker is asked again that was loading the group's offsets."""
_MANY_MEMBERS: Final = 3
"""The first version of LeaveGroup with a list of members."""


def join(groups: Hosting, context: Context, header: RequestHeader, request: JoinGroupRequest, reply: Reply) -> None:
    """Take a JoinGroup request to the coordinator."""
    version = header.api_version
    said = Join(
        group_id=request.group_id,
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        client_id=header.client_id or "",
        client_host=f"/{context.host}",
        session_timeout=request.session_timeout_ms / 1000,
        rebalance_timeout=(request.rebalance_timeout_ms if version >= _TWO_TIMEOUTS else request.session_timeout_ms)
        / 1000,
        protocol_type=request.protocol_type,
        protocols=tuple((one.name, one.metadata) for one in request.protocols),
        needs_member_id=version >= _NEEDS_MEMBER_ID,
        skips_assignment=version >= _SKIPS_ASSIGNMENT,
    )
    with groups.acting() as now:
        if not groups.coordinator.refuses and groups.coordinator.is_newer(said.group_id, now):
            groups.clash(said.group_id, CLASSIC)
        groups.coordinator.join(said, lambda joined: reply(_joined(joined, version)), now)


def _joined(joined: Joined, version: int) -> JoinGroupResponse:
    name = joined.protocol_name
    return JoinGroupResponse(
        error_code=joined.error,
        generation_id=joined.generation,
        protocol_type=joined.protocol_type if version >= _PROTOCOL_TYPE else None,
        protocol_name=name if version >= _PROTOCOL_TYPE else name or "",
        leader=joined.leader,
        skip_assignment=joined.skip_assignment,
        member_id=joined.member_id,
        members=[JoinGroupResponseMember(*member) for member in joined.members],
    )


def sync(groups: Hosting, context: Context, header: RequestHeader, request: SyncGroupRequest, reply: Reply) -> None:
    """Take a SyncGroup request to the coordinator."""
    del context
    version = header.api_version
    if version >= _NAMES_PROTOCOL and (request.protocol_type is None or request.protocol_name is None):
        reply(SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        return
    said = Sync(
        group_id=request.group_id,
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id,
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignments={one.member_id: one.assignment for one in request.assignments},
    )
    with groups.acting() as now:
        groups.coordinator.sync(said, lambda synced: reply(_synced(synced, version)), now)


def _synced(synced: Synced, version: int) -> SyncGroupResponse:
    named = version >= _NAMES_PROTOCOL
    return SyncGroupResponse(
        error_code=synced.error,
        protocol_type=synced.protocol_type if named else None,
        protocol_name=synced.protocol_name if named else None,
        assignment=synced.assignment,
    )


def heartbeat(
    groups: Hosting, context: Context, header: RequestHeader, request: HeartbeatRequest, reply: Reply
) -> Questions | None:
    """Take a Heartbeat request to the coordinator; now and then the broker is asked something before the answer."""
    if error := _beat(groups, request):
        reply(HeartbeatResponse(error_code=error))
        return None
    due = groups.coordinator.offsets_due(request.group_id, request.member_id, groups.now)
    assignment = None if due is None else assigned(due)
    if assignment:
        return _refreshed(groups, header, request, reply, assignment)
    if context.state(Permissions).are_due(request.group_id, groups.now):
        return _permitted_again(groups, context, header, request, reply)
    reply(HeartbeatResponse())
    return None


def _beat(groups: Hosting, request: HeartbeatRequest) -> int:
    with groups.acting() as now:
        return groups.coordinator.heartbeat(
            request.group_id, request.member_id, request.group_instance_id, request.generation_id, now
        )


@contextmanager
def _kept(groups: Hosting, request: HeartbeatRequest) -> Iterator[None]:
    """Keep a member while its broker is asked something: its next heartbeats are read after the broker's answer."""
    with groups.acting() as now:
        groups.coordinator.keep(request.group_id, request.member_id, now)
    try:
        yield
    finally:
        _beat(groups, request)


def _permitted_again(
    groups: Hosting, context: Context, header: RequestHeader, request: HeartbeatRequest, reply: Reply
) -> Questions:
    with _kept(groups, request):
        refused = yield from permission(groups, context, header, request.group_id)
    reply(HeartbeatResponse(error_code=refused or _beat(groups, request)))


def _refreshed(
    groups: Hosting,
    header: RequestHeader,
    request: HeartbeatRequest,
    reply: Reply,
    assignment: Mapping[str, Sequence[int]],
) -> Questions:
    """Have a member's offsets committed again, then answer its heartbeat.

    A member whose broker is not the group's coordinator any more is told so (16), as by that broker: else its commits
    would meet that only when it has something to commit.
    """
    with _kept(groups, request), groups.coordinator.refreshing(request.group_id):
        given_up = yield from refreshing(header, request.group_id, assignment)
    moved = given_up == ErrorCode.NOT_COORDINATOR
    if moved or given_up == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        with groups.acting() as now:
            again = now if moved else now + _LOADING_SECONDS
            groups.coordinator.not_refreshed(request.group_id, request.member_id, again)
    reply(HeartbeatResponse(error_code=ErrorCode.NOT_COORDINATOR if moved else ErrorCode.NONE))


def leave(groups: Hosting, context: Context, header: RequestHeader, request: LeaveGroupRequest, reply: Reply) -> None:
    """Take a LeaveGroup request to the coordinator."""
    del context
    many = header.api_version >= _MANY_MEMBERS
    leaving = (
        [Leaving(one.member_id, one.group_instance_id) for one in request.members]
        if many
        else [Leaving(request.member_id, None)]
    )
    with groups.acting() as now:
        errors = groups.coordinator.leave(request.group_id, leaving, now)
    if not many:
        reply(LeaveGroupResponse(error_code=errors[0]))
        return
    members = [MemberResponse(*each, error_code=error) for each, error in zip(leaving, errors, strict=True)]
    reply(LeaveGroupResponse(members=members))
