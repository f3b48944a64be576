"""Hosted groups as the admin API shows them. `kproxy.app.view` calls it where groups are hosted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from heapq import nsmallest
from typing import TYPE_CHECKING, Final

import trio

from kproxy.admin.models import GroupMemberView, GroupView, PartitionLagView
from kproxy.coordinator.consumer_protocol import CONSUMER, assigned
from kproxy.coordinator.lag import Partition, PartitionLag
from kproxy.coordinator.lag import lag as asked_lag
from kproxy.errors import BackendError, NotFoundError, UpstreamError

if TYPE_CHECKING:
    from kproxy.coordinator.group import Group
    from kproxy.coordinator.hosted_groups import HostedGroups
    from kproxy.coordinator.member import Member
    from kproxy.upstream.client import UpstreamClient

Question = Callable[["UpstreamClient"], Awaitable[Sequence[PartitionLag]]]

_LAG_SECONDS: Final = 8.0
"""The most time that the brokers may take: who asks waits for them."""


def groups(hosted: HostedGroups, after: str | None, limit: int, now: float) -> Iterator[GroupView]:
    """At most `limit` groups with ids above `after`."""
    every = hosted.coordinator.groups
    for group_id in _present(every, after, limit):
        yield _group(every[group_id], now)


def group(hosted: HostedGroups, group_id: str, now: float) -> GroupView:
    """One group; raises `NotFoundError`."""
    return _group(_found(hosted, group_id), now)


def members(
    hosted: HostedGroups, group_id: str, after: str | None, limit: int, now: float
) -> Iterator[GroupMemberView]:
    """At most `limit` members of a group with ids above `after`; raises `NotFoundError`."""
    found = _found(hosted, group_id)
    return (_member(found, found.members[one], now) for one in _present(found.members, after, limit))


def _present(every: Collection[str], after: str | None, limit: int) -> Iterator[str]:
    """Yield at most `limit` ids above `after`, each while it is there; what goes meanwhile makes no page shorter."""
    last = after
    while limit and (ids := nsmallest(limit, (one for one in every if last is None or one > last))):
        for one in ids:
            if one in every:
                limit -= 1
                yield one
        last = ids[-1]


async def lag(
    hosted: HostedGroups, ask: Callable[[Question], Awaitable[Sequence[PartitionLag]]], group_id: str
) -> Iterator[PartitionLagView]:
    """The partitions of a group; raises `NotFoundError`, `BackendError`.

    `ask` puts a question to the backend. A group without members may have offsets, so kproxy need not know it.
    """
    if not hosted.hosts(group_id):
        raise _unknown(hosted, group_id)
    owners = _owners(hosted.coordinator.groups.get(group_id))
    try:
        with trio.fail_after(_LAG_SECONDS):
            found = await ask(partial(asked_lag, group_id=group_id, assigned=owners))
    except trio.TooSlowError:
        raise BackendError(f"the brokers did not say the offsets within {_LAG_SECONDS:g} s") from None
    except UpstreamError as error:
        raise BackendError(f"kproxy cannot ask the brokers: {error}") from error
    return (_lag(one, owners.get(one[:2])) for one in found)


def _owners(group: Group | None) -> Mapping[Partition, Member]:
    """Return the member that each partition is assigned to."""
    members = () if group is None or group.protocol_type != CONSUMER else group.members.values()
    return {
        (topic, number): member
        for member in members
        for topic, numbers in (assigned(member.assignment) or {}).items()
        for number in numbers
    }


def _lag(one: PartitionLag, owner: Member | None) -> PartitionLagView:
    return PartitionLagView(
        topic=one.topic,
        partition=one.partition,
        committed=one.committed,
        end=one.end,
        lag=one.lag,
        error=one.error,
        client_id=None if owner is None else owner.client_id,
        host=None if owner is None else owner.client_host.removeprefix("/"),
    )


def _found(hosted: HostedGroups, group_id: str) -> Group:
    found = hosted.coordinator.groups.get(group_id)
    if found is None:
        raise _unknown(hosted, group_id)
    return found


def _unknown(hosted: HostedGroups, group_id: str) -> NotFoundError:
    hint = "no member has joined it" if hosted.hosts(group_id) else "no entry of `groups` matches it"
    return NotFoundError(f"kproxy hosts no group {group_id!r}: {hint}")


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
