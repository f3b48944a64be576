# This module is pure (no I/O, no clock).
"""Where records of groups are kept before members are answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from kproxy.coordinator.group import Group
from kproxy.coordinator.records import GroupRecord, MemberRecord

Done = Callable[[str | None, float], None]
"""Called once in Trio's thread when it is kept, with None, or with the reason why it is not; and with the time."""


class Journal(Protocol):
    """Keeps the newest record of each group. Records take effect in the order in which they are written."""

    def write(self, group_id: str, record: GroupRecord | None, done: Done, now: float) -> None:
        """Keep a record in place of the group's earlier one; None forgets the group. `done` may be called at once."""


class Forgetful:
    """A `Journal` that keeps nothing, so that it is done at once."""

    def write(self, group_id: str, record: GroupRecord | None, done: Done, now: float) -> None:
        """Be done."""
        del self, group_id, record
        done(None, now)


def record_of(group: Group, assignments: Mapping[str, bytes] | None = None) -> GroupRecord:
    """Return a group as it is, with the assignments that its leader has sent, if it has."""
    return GroupRecord(
        group.id,
        group.generation,
        group.protocol_type,
        group.protocol_name,
        group.leader,
        assignments is not None,
        tuple(
            MemberRecord(
                one.id,
                one.instance_id,
                one.client_id,
                one.client_host,
                one.session_timeout,
                one.rebalance_timeout,
                one.protocols,
                (assignments or {}).get(one.id, b""),
            )
            for one in group.members.values()
        ),
    )
