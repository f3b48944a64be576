# This module is pure (no I/O, no clock).
"""Which members of classic groups the clients are, as their requests say: at a failover they leave the old coordinator.

`kproxy.cluster.policies` composes the policies with those of other rooms; `kproxy.cluster.departures` takes the members
at a switch to another upstream.

Only the heads of requests are read, and every request passes unchanged. JoinGroup and SyncGroup name a group and a
member. A Heartbeat is read where the member's id is not in it that the connection has named: a member that had to
connect anew goes on with heartbeats, and franz-go, which joins by another connection, gets another id in between. A
head that is cut, since the request came in pieces, is not read; the next request has it again.

Static members (KIP-345) are noted like all others. A client that comes back has the member id of the other cluster: the
coordinator that still knows its instance id under the earlier one fences it (82), and consumers stop at that for good.
Members of KIP-848, share and streams groups are not noted: a client keeps its id, which it makes itself, and joins
again under it wherever it comes. Only that this is a connection to a coordinator is noted of them, too.

Ids are not checked. Who sends another member's, which only those know who may describe the group, can make that member
join anew at a cluster that clients have just been sent away from.

Version notes: JoinGroup has a rebalance timeout from v1 on; LeaveGroup v3 names its members behind the group.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from struct import Struct
from struct import error as StructError
from typing import Final, NamedTuple

from kproxy.errors import MalformedMessageError
from kproxy.protocol.api_table import ApiPolicy
from kproxy.protocol.context import MAX_NAME, Context
from kproxy.wire.apis import APIS
from kproxy.wire.arriving import text_at
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import request_body
from kproxy.wire.primitives import Buffer

CAPACITY: Final = 32_768
"""The most members that are remembered for a virtual cluster: 15 MB where names are of ordinary length."""
MOST_GROUPS: Final = 16
"""The most groups of one connection that are remembered; clients use a connection for one."""
SWEPT_AFTER: Final = 1024
"""Members that are noted, at least, between two searches for connections that have ended."""
_LOOKED_AT: Final = 2048
"""Bytes of a request that are looked at: client id, group id and member id of ordinary length."""
_NOBODY: Final[Mapping[str, str]] = {}
_KEY_AND_VERSION: Final = Struct(">hh")
_TIMEOUT: Final = 4
_REBALANCE_TIMEOUT: Final = 1
"""The first version of JoinGroup with a rebalance timeout."""


class Named(NamedTuple):
    """What a request says of its sender; the member id is "" before the coordinator has issued one."""

    group_id: str
    member_id: str


class GroupMembers:
    """The members of one virtual cluster's groups, by connection and group, in bounded memory.

    When it is full, newcomers are not noted. Nor is who has a long name.
    """

    def __init__(self, live: Callable[[], Collection[int]], capacity: int = CAPACITY) -> None:
        """`live` gives the ids of all connections that have not ended."""
        self._live = live
        self._capacity = capacity
        self._of: dict[int, dict[str, str]] = {}
        self._count = 0
        self._until_swept = SWEPT_AFTER

    def __len__(self) -> int:
        return self._count

    def is_named(self, connection: int, request: bytes) -> bool:
        """Return whether the request has the id of a member that is noted of the connection."""
        for member_id in self._of.get(connection, _NOBODY).values():  # noqa: SIM110 (`any` takes twice as long)
            if member_id.encode() in request:
                return True
        return False

    def note(self, connection: int, group_id: str, member_id: str) -> None:
        """Note a connection's member of a group, in place of an earlier one."""
        self._until_swept -= 1
        if not self._until_swept:
            self._sweep()
        if max(len(group_id), len(member_id)) > MAX_NAME:
            self.forget(connection, group_id)
            return
        groups = self._of.get(connection, {})
        if group_id not in groups:
            if self._count >= self._capacity:
                return
            if len(groups) >= MOST_GROUPS:
                self.forget(connection, next(iter(groups)))
            self._count += 1
        groups[group_id] = member_id
        self._of[connection] = groups

    def forget(self, connection: int, group_id: str) -> None:
        """Forget a connection's member of a group, if there is one."""
        groups = self._of.get(connection, {})
        if groups.pop(group_id, None) is not None:
            self._count -= 1
            if not groups:
                del self._of[connection]

    def take(self) -> Mapping[str, list[str]]:
        """Return the members of live connections, by group, and forget all."""
        self._sweep()
        members: dict[str, dict[str, None]] = {}  # in their order; a member may use several connections
        for groups in self._of.values():
            for group_id, member_id in groups.items():
                members.setdefault(group_id, {})[member_id] = None
        self._of, self._count = {}, 0
        return {group_id: list(ids) for group_id, ids in members.items()}

    def _sweep(self) -> None:
        """Forget the members of connections that have ended."""
        live = frozenset(self._live())
        self._of = {connection: groups for connection, groups in self._of.items() if connection in live}
        self._count = sum(map(len, self._of.values()))
        self._until_swept = max(SWEPT_AFTER, self._count)


def policies(members: GroupMembers) -> Mapping[int, ApiPolicy]:
    """Return the policies by api key; none of them changes or answers a request."""
    noted = ApiPolicy(before=partial(_note, members))
    marked = ApiPolicy(before=_mark)
    return {
        ApiKey.CONSUMER_GROUP_HEARTBEAT: marked,
        ApiKey.SHARE_GROUP_HEARTBEAT: marked,
        ApiKey.STREAMS_GROUP_HEARTBEAT: marked,
        ApiKey.OFFSET_COMMIT: marked,
        ApiKey.OFFSET_FETCH: marked,
        ApiKey.JOIN_GROUP: noted,
        ApiKey.SYNC_GROUP: noted,
        ApiKey.HEARTBEAT: replace(noted, before=partial(_note_another, members)),
        ApiKey.LEAVE_GROUP: replace(noted, before=partial(_forget, members)),
    }


def _mark(context: Context, buf: Buffer, pos: int, end: int) -> None:
    context.is_member = True


def _note(members: GroupMembers, context: Context, buf: Buffer, pos: int, end: int) -> None:
    context.is_member = True
    named = named_in(buf, pos, end)
    if named is None:
        return
    if named.member_id:
        members.note(context.id, named.group_id, named.member_id)
    else:
        members.forget(context.id, named.group_id)


def _note_another(members: GroupMembers, context: Context, buf: Buffer, pos: int, end: int) -> None:
    if not members.is_named(context.id, bytes(buf[pos : min(end, pos + _LOOKED_AT)])):
        _note(members, context, buf, pos, end)


def _forget(members: GroupMembers, context: Context, buf: Buffer, pos: int, end: int) -> None:
    named = named_in(buf, pos, end)
    if named is not None:
        members.forget(context.id, named.group_id)


def named_in(buf: Buffer, pos: int, end: int) -> Named | None:
    """Return what the request at `pos` (behind its size) says; None where it cannot be read up to there."""
    head = bytes(buf[pos : min(end, pos + _LOOKED_AT)])
    try:
        key, version = _KEY_AND_VERSION.unpack_from(head)
        flexible = version >= APIS[key].flexible_from
        group_id, at = text_at(head, request_body(head, 0, key, version), flexible)
        if key == ApiKey.LEAVE_GROUP:
            return Named(str(group_id, "utf-8"), "")
        timeouts = 1 + (key == ApiKey.JOIN_GROUP and version >= _REBALANCE_TIMEOUT)
        member_id, _ = text_at(head, at + timeouts * _TIMEOUT, flexible)
        return Named(str(group_id, "utf-8"), str(member_id, "utf-8"))
    except (IndexError, StructError, UnicodeDecodeError, MalformedMessageError):
        return None
