"""Hosted groups as the admin API shows them. `kproxy.app.view` calls it where groups are hosted."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest
from typing import TYPE_CHECKING

from kproxy.admin.models import GroupMemberView, GroupView
from kproxy.coordinator.consumer_protocol import CONSUMER, assigned
from kproxy.errors import NotFoundError

if TYPE_CHECKING:
    from kproxy.coordinator.group import Group
    from kproxy.coordinator.hosted_groups import HostedGroups
    from kproxy.coordinator.member import Member


def groups(hosted: HostedGroups, after: str | None, limit: int, now: float) -> Iterator[GroupView]:
    """At most `limit` groups with ids above `after`."""
    every = hosted.coordinator.groups
    for group_id in nsmallest(limit, (one for one in every if after is None or one > after)):
        if group_id in every:
            yield _group(every[group_id], now)


def group(hosted: HostedGroups, group_id: str, now: float) -> GroupView:
    """One group; raises `NotFoundError`."""
    return _group(_found(hosted, group_id), now)


def members(
    hosted: HostedGroups, group_id: str, after: str | None, limit: int, now: float
) -> Iterator[GroupMemberView]:
    """At most `limit` members of a group with ids above `after`; raises `NotFoundError`."""
    found = _found(hosted, group_id)
    return _members(found, nsmallest(limit, (one for one in found.members if after is None or one > after)), now)


def _members(group: Group, ids: list[str], now: float) -> Iterator[GroupMemberView]:
    for member_id in ids:
        if member_id in group.members:
            yield _member(group, group.members[member_id], now)


def _found(hosted: HostedGroups, group_id: str) -> Group:
    found = hosted.coordinator.groups.get(group_id)
    if found is None:
        hint = "no member has joined it" if hosted.hosts(group_id) else "no entry of `groups` matches it"
        raise NotFoundError(f"kproxy hosts no group {group_id!r}: {hint}")
    return found


def _group(group: Group, now: float) -> GroupView:
    return GroupView(
        group=group.id,
        state=str(group.state),
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol_name,
        members=len(group.members),
        leader=group.leader,
        in_state_seconds=round(now - group.since, 3),
    )


def _member(group: Group, member: Member, now: float) -> GroupMemberView:
    ends = member.session.at
    return GroupMemberView(
        member=member.id,
        instance=member.instance_id,
        client_id=member.client_id,
        host=member.client_host.removeprefix("/"),
        leader=member.id == group.leader,
        waits="JoinGroup" if member.join is not None else "SyncGroup" if member.sync is not None else None,
        session_timeout=member.session_timeout,
        session_ends=None if ends is None else round(ends - now, 3),
        protocols=[name for name, _ in member.protocols],
        assignment=assigned(member.assignment) if group.protocol_type == CONSUMER else None,
        assignment_bytes=len(member.assignment),
    )
