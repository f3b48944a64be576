# This module is pure (no I/O, no clock).
"""The members of KIP-848, share and Streams groups whose ids are those of hosted groups, as their heartbeats tell.

These groups are the brokers', which know nothing of a hosted group's members, nor kproxy of theirs. So kproxy sees to
it that an id has one kind of members at a time: here is who is at the broker.
"""

from __future__ import annotations

from typing import Final

SESSION: Final = 45.0
"""Seconds without a heartbeat after which a member is gone: Kafka's default for all three kinds of groups."""
CAPACITY: Final = 32_768
"""The most members that are noted: 10 MB where ids are of ordinary length."""


class NewerMembers:
    """Notes members by group, in bounded memory. `now` is in seconds, of a clock that does not go back.

    When it is full, newcomers are not noted.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._heard: dict[str, dict[str, float]] = {}
        self._count = 0
        self._swept_at = 0.0

    def __len__(self) -> int:
        return self._count

    def heard(self, group_id: str, member_id: str, now: float) -> None:
        """Note that the broker has taken a member's heartbeat."""
        if now >= self._swept_at + SESSION:
            self._sweep(now)
        members = self._heard.get(group_id, {})
        if member_id not in members:
            if self._count >= self._capacity:
                return
            self._count += 1
        members[member_id] = now
        self._heard[group_id] = members

    def gone(self, group_id: str, member_id: str) -> None:
        """Forget a member that has left, or that its broker does not know."""
        members = self._heard.get(group_id, {})
        if members.pop(member_id, None) is not None:
            self._count -= 1
            if not members:
                del self._heard[group_id]

    def any_of(self, group_id: str, now: float) -> bool:
        """Return whether a group has a member whose session goes on."""
        return any(now < at + SESSION for at in self._heard.get(group_id, {}).values())

    def _sweep(self, now: float) -> None:
        """Forget those whose sessions are over."""
        live = {
            group_id: {member_id: at for member_id, at in members.items() if now < at + SESSION}
            for group_id, members in self._heard.items()
        }
        self._heard = {group_id: members for group_id, members in live.items() if members}
        self._count = sum(map(len, self._heard.values()))
        self._swept_at = now
