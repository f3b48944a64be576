# This module is pure (no I/O, no clock).
"""A hosted group: its members, generation, leader and protocol, and what is true of them.

The coordinator changes it and answers members; nothing here knows of time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf
from typing import Final, NamedTuple

from kproxy.coordinator.member import Member
from kproxy.coordinator.messages import AnswerJoin, Join, Joined, JoinedMember, Protocols, Synced
from kproxy.coordinator.settings import GroupSettings
from kproxy.coordinator.states import GroupState
from kproxy.coordinator.timers import Timer
from kproxy.coordinator.usage import Usage, size_of, size_of_all
from kproxy.wire.generated.error_codes import ErrorCode

_SPREAD: Final = 600.0
"""Seconds over which the first refreshes of offsets are spread, of all members that are new at once."""


class Unkept(NamedTuple):
    """A member's answer to its JoinGroup request that waits until the generation is kept."""

    member: Member
    answer: AnswerJoin
    joined: Joined


class Group:
    """One group. A new one is empty and has generation 0."""

    def __init__(
        self, group_id: str, settings: GroupSettings, phase: Timer, syncs: Timer, usage: Usage, now: float
    ) -> None:
        """`phase` and `syncs` are the attributes of these names."""
        self.id = group_id
        self.settings = settings
        self.state = GroupState.EMPTY
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        """Of the present generation; None while there is none."""
        self.leader: str | None = None
        """The id of the member that assigns; None without members."""
        self.members: dict[str, Member] = {}
        """By id, in the order in which they were added."""
        self.static: dict[str, str] = {}
        """Member ids by instance id (KIP-345)."""
        self.pending: dict[str, Timer] = {}
        """Sessions of member ids that were given out but have not joined yet (KIP-394)."""
        self.not_synced: set[str] = set()
        """Members of this generation that have not asked for their assignment."""
        self.rejoined: dict[str, None] = {}
        """Members whose JoinGroup of this phase waits, in their order. (To count them each time would be quadratic.)"""
        self._usage = usage
        self.assigned = 0
        """Bytes of the last assignments."""
        self._supporters: Counter[str] = Counter()
        """How many members can use each protocol."""
        self.since = now
        """When it went to its state."""
        self.unrest_since = now
        """When it was last stable or empty, where it is neither."""
        self.phase = phase
        """Ends waiting for joins, and the life of a group that is empty for long."""
        self.syncs = syncs
        """Ends waiting for members that do not fetch their assignment."""
        self.first_join_ends: float | None = None
        """Set while the first members of an empty group join, which lasts for a delay of its own: its latest end."""
        self.extends = False
        """A member was added while the first members join, so their phase is prolonged."""
        self.unkept: list[Unkept] = []
        """Answers of this generation that wait until it is kept. Meanwhile no session ends: these members wait, too."""
        self.assigning: int | None = None
        """The generation whose assignments are being stored: the leader's later ones are ignored."""
        self.transacted_at = -inf
        """When a commit in a transaction last went to the broker."""
        self.refreshing = 0
        """How many of its members' offsets are being committed again just now."""
        self.resumed = False
        """Stable since before a restart of kproxy, and its leader has not joined again."""
        self.confirming = False
        """The leader has joined again after a restart: its assignments say whether anything has changed."""

    @property
    def is_new(self) -> bool:
        """True while nobody has been a member; ids may have been given out."""
        return self.state is GroupState.EMPTY and not self.generation

    def add(self, member: Member, protocol_type: str) -> None:
        """Add a member; the first one decides the protocol type, and leads."""
        if not self.members:
            self.protocol_type = protocol_type
        self.members[member.id] = member
        if member.instance_id is not None:
            self.static[member.instance_id] = member.id
        if self.leader is None:
            self.leader = member.id
        self._count(member)
        self.drop_pending(member.id)

    def update(self, member: Member, said: Join) -> None:
        """Take over what a member says when it joins again."""
        self._uncount(member)
        member.update(said)
        self._count(member)

    def _count(self, member: Member) -> None:
        self._supporters.update(_names(member.protocols))
        self._usage.bytes += size_of(member.protocols)

    def _uncount(self, member: Member) -> None:
        self._usage.bytes -= size_of(member.protocols)
        for name in _names(member.protocols):
            self._supporters[name] -= 1
            if not self._supporters[name]:
                del self._supporters[name]

    def wait_to_join(self, member: Member, answer: AnswerJoin) -> None:
        """Have a member wait until all have joined."""
        member.wait_to_join(answer)
        self.rejoined[member.id] = None

    def remove(self, member: Member) -> None:
        """Remove a member; another one leads if it did."""
        del self.members[member.id]
        self.not_synced.discard(member.id)
        self.rejoined.pop(member.id, None)
        self._uncount(member)
        if member.instance_id is not None and self.static.get(member.instance_id) == member.id:
            del self.static[member.instance_id]
        member.session.drop()
        if self.leader == member.id:
            self.leader = next(iter(self.members), None)

    def replace(self, member: Member, new_id: str) -> None:
        """Give a static member, which came back, a new id; it keeps its assignment, its place and its leadership.

        Requests under the old id that wait are fenced.
        """
        assert member.instance_id is not None
        member.answer_all(ErrorCode.FENCED_INSTANCE_ID)
        old_id, member.id, member.is_new = member.id, new_id, False
        self.rejoined.pop(old_id, None)
        self.members = {one.id: one for one in self.members.values()}
        self.static[member.instance_id] = new_id
        if old_id in self.not_synced:
            self.not_synced.remove(old_id)
            self.not_synced.add(new_id)
        if self.leader == old_id:
            self.leader = new_id

    def drop_pending(self, member_id: str) -> bool:
        """Forget an id that was given out; return whether it was."""
        timer = self.pending.pop(member_id, None)
        if timer is not None:
            timer.drop()
            self._usage.pending -= 1
        return timer is not None

    def give_id(self, member_id: str, session: Timer) -> None:
        """Wait for a member to join with the id that it is told (KIP-394)."""
        self.pending[member_id] = session
        self._usage.pending += 1

    def release(self) -> None:
        """Give up what the group holds besides its members: it is to be forgotten."""
        self._usage.bytes -= self.assigned
        self.assigned = 0
        for member_id in tuple(self.pending):
            self.drop_pending(member_id)
        self.phase.drop()
        self.syncs.drop()

    def fencing(self, member_id: str, instance_id: str | None) -> int:
        """Return the error for a request with these ids; 0 where they are a member's (KIP-345)."""
        if instance_id is not None:
            known = self.static.get(instance_id)
            if known is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if known != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    @property
    def rebalance_timeout(self) -> float:
        """The longest one of the members, in seconds."""
        return max((member.rebalance_timeout for member in self.members.values()), default=0.0)

    @property
    def all_joined(self) -> bool:
        """True when nobody is waited for: neither a member nor an id that was given out."""
        return not self.pending and len(self.rejoined) == len(self.members)

    def candidates(self) -> frozenset[str]:
        """Return the protocols that every member can use."""
        return frozenset(name for name, count in self._supporters.items() if count == len(self.members))

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Return whether a member with these protocols may join: it must share one with all members."""
        if not self.members:
            return bool(protocol_type and protocols)
        return self.protocol_type == protocol_type and not self.candidates().isdisjoint(name for name, _ in protocols)

    def chosen_protocol(self) -> str | None:
        """Return the protocol with most members' votes; of several, the one that was voted for first."""
        candidates = self.candidates()
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return max(votes, key=lambda name: votes[name]) if votes else None

    def begin_generation(self) -> None:
        """Begin the next generation with the members that there are, each of which must fetch its assignment."""
        self.generation += 1
        self.not_synced = set(self.members)
        self.protocol_name = self.chosen_protocol()

    def seen_by_leader(self) -> tuple[JoinedMember, ...]:
        """Return all members with their metadata of the chosen protocol."""
        name = self.protocol_name or ""
        return tuple(JoinedMember(one.id, one.instance_id, one.metadata(name)) for one in self.members.values())

    def joined(self, member: Member) -> Joined:
        """Return a member's answer to its JoinGroup in the present generation."""
        return Joined(
            member_id=member.id,
            generation=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol_name,
            leader=self.leader or "",
            members=self.seen_by_leader() if member.id == self.leader else (),
        )

    def synced(self, member: Member) -> Synced:
        """Return a member's answer to its SyncGroup in the present generation."""
        return Synced(protocol_type=self.protocol_type, protocol_name=self.protocol_name, assignment=member.assignment)

    def assignments(self) -> Mapping[str, bytes]:
        """Return the assignments by member id."""
        return {one.id: one.assignment for one in self.members.values()}

    def assign(self, assignments: Mapping[str, bytes]) -> None:
        """Give each member its assignment; one that the leader left out gets b"", one that is not here nothing."""
        for member in self.members.values():
            member.assignment = assignments.get(member.id, b"")
        self._usage.bytes -= self.assigned
        self.assigned = size_of_all(member.assignment for member in self.members.values())
        self._usage.bytes += self.assigned

    def is_changed(self, member: Member, assignments: Mapping[str, bytes]) -> bool:
        """Return whether a leader that has joined again after a restart assigns otherwise; it may do so once.

        One that assigns nothing to anybody changes nothing.
        """
        if not self.confirming or member.id != self.leader:
            return False
        self.confirming = False
        return bool(assignments) and any(
            assignments.get(one.id, b"") != one.assignment for one in self.members.values()
        )

    def spread_offsets(self, now: float) -> None:
        """Set when each new member's offsets are committed again: one after the other, the first at its next heartbeat.

        Those whose time is set keep it, and new ones have theirs soon: a group may rebalance more often than
        `offset_refresh`.
        """
        new = [member for member in self.members.values() if member.offsets_due == inf]
        step = min(self.settings.offset_refresh, _SPREAD) / max(len(new), 1)
        for number, member in enumerate(new):
            member.offsets_due = now + number * step

    def not_rejoined(self) -> Sequence[Member]:
        """Return the dynamic members that have not joined in this phase; static ones are waited for."""
        return [one for one in self.members.values() if one.id not in self.rejoined and one.instance_id is None]


def _names(protocols: Protocols) -> set[str]:
    return {name for name, _ in protocols}
