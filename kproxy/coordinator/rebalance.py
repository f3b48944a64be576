# This module is pure (no I/O, no clock).
"""Rebalances: from the first member that joins to the generation in which every member can have its assignment.

The coordinator calls it for whatever disturbs a group. Members are answered here, once what they are told is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, Protocol

from kproxy.coordinator.group import Group, Unkept
from kproxy.coordinator.journal import Journal, record_of
from kproxy.coordinator.member import Member
from kproxy.coordinator.messages import AnswerJoin, Join, Joined, Synced
from kproxy.coordinator.records import GroupRecord
from kproxy.coordinator.settings import EMPTY_KEPT, LEAST_WAIT
from kproxy.coordinator.states import MOVES, Cause, GroupState
from kproxy.coordinator.timers import Timers
from kproxy.wire.generated.error_codes import ErrorCode

_LATE: Final = 1 / 3
"""The last part of a session. Clients send three heartbeats in each."""
_NAMED: Final = 10
"""The most members of a kind that are named as waited for."""


class Move(NamedTuple):
    """A group's way from one state to the next."""

    before: GroupState
    cause: Cause
    member: Member | None
    """The member that caused it."""
    waited_for: Sequence[Member]
    """The members that the others waited for, the last one last; those at the end may have never come."""
    seconds: float
    """How long the group was in the state before."""
    unrest: float
    """How long ago the group was last stable, or empty."""


class Watch(Protocol):
    """Is told what happens to groups, for metrics and events."""

    def moved(self, group: Group, move: Move) -> None:
        """A group went to another state."""

    def stored(self, seconds: float) -> None:
        """Members waited for the store for so long."""

    def late(self) -> None:
        """A heartbeat came in the last third of its member's session."""


class Rebalance:
    """Moves groups from state to state."""

    def __init__(self, timers: Timers, journal: Journal, watch: Watch, choose: Callable[[Sequence[str]], str]) -> None:
        """`choose` picks a member id for groups whose leader is random."""
        self.timers = timers
        self.journal = journal
        self._watch = watch
        self._choose = choose

    def prepare(self, group: Group, cause: Cause, now: float, member: Member | None = None) -> None:
        """Have all members join again. Those that wait for an assignment are told so at once (27)."""
        before = group.state
        if before is GroupState.COMPLETING:
            self._refuse_syncs(group, ErrorCode.REBALANCE_IN_PROGRESS, now)
        group.assigning = None
        group.resumed = group.confirming = False
        group.syncs.stop()
        self._move(group, GroupState.PREPARING, cause, now, member)
        if before is GroupState.EMPTY:
            group.first_join_ends, group.extends = now + group.rebalance_timeout, False
            self.timers.set(group.phase, now + group.settings.initial_rebalance_delay)
        elif group.all_joined:
            self._complete_join(group, Cause.ALL_JOINED, now)
        else:
            self.timers.set(group.phase, now + group.rebalance_timeout)

    def disturb(self, group: Group, cause: Cause, now: float, member: Member | None = None) -> None:
        """Begin a rebalance, or go on with the one under way: a member has come, has gone or has changed."""
        if group.state is not GroupState.PREPARING:
            self.prepare(group, cause, now, member)
        elif group.first_join_ends is None and group.all_joined:
            self._complete_join(group, Cause.ALL_JOINED, now)

    def fence(self, group: Group, now: float) -> None:
        """End the present generation, so that nothing of it is taken any more, and have all members join again."""
        group.generation += 1
        group.protocol_name = None
        if group.state is not GroupState.PREPARING:
            self.prepare(group, Cause.CLUSTER_CHANGED, now)
        self.journal.write(group.id, record_of(group), _ignored, now)

    def remove(self, group: Group, member: Member, cause: Cause, now: float) -> None:
        """Remove a member, for which the group rebalances."""
        expel(group, member)
        self.disturb(group, cause, now, member)

    def join_phase_ended(self, group: Group, now: float) -> None:
        """Go on without those that have not joined in time; the first members may get more time instead."""
        latest, delay = group.first_join_ends, group.settings.initial_rebalance_delay
        if latest is not None and group.extends and delay and now < latest:
            group.extends = False
            self.timers.set(group.phase, min(now + delay, latest))
        else:
            self._complete_join(group, Cause.JOIN_TIMED_OUT if latest is None else Cause.ALL_JOINED, now)

    def _complete_join(self, group: Group, cause: Cause, now: float) -> None:
        group.first_join_ends = None
        late = group.not_rejoined()
        for member in late:
            group.remove(member)
        waited_for = [*(group.members[one] for one in tuple(group.rejoined)[1:][-_NAMED:]), *late[:_NAMED]]
        if group.members and not group.rejoined:  # static members only, which may come back
            self.timers.set(group.phase, now + max(group.rebalance_timeout, LEAST_WAIT))
            return
        self._elect(group)
        group.phase.stop()
        group.begin_generation()
        state = GroupState.COMPLETING if group.members else GroupState.EMPTY
        self._move(group, state, cause, now, waited_for=waited_for)
        if group.members:
            self._answer_joins(group, now)
        else:
            self.retain(group, now)
            self.journal.write(group.id, record_of(group), _ignored, now)

    def _elect(self, group: Group) -> None:
        """Have a member lead that has joined in this phase."""
        joined = [member_id for member_id in group.members if member_id in group.rejoined]
        if not joined:
            return
        if group.settings.leader == "random":
            group.leader = self._choose(joined)
        elif group.leader not in group.rejoined:
            group.leader = joined[0]

    def _answer_joins(self, group: Group, now: float) -> None:
        """Answer all that have joined, once the generation is kept; the time to sync begins with that."""
        answers: list[Unkept] = []
        for member in group.members.values():
            answer, member.join = member.join, None
            member.is_new = False
            self.heard(member, now)
            if answer is not None:
                answers.append(Unkept(member, answer, group.joined(member)))
        group.rejoined.clear()
        generation, group.unkept = group.generation, answers
        begun = now

        def done(failure: str | None, now: float) -> None:
            self._watch.stored(now - begun)
            if group.unkept is answers:
                group.unkept = []
            for member, answer, joined in answers:
                self.heard(member, now)
                answer(joined if failure is None else Joined(ErrorCode.COORDINATOR_NOT_AVAILABLE, joined.member_id))
            if group.generation != generation or group.state is not GroupState.COMPLETING:
                return
            if failure is None:
                self.timers.set(group.syncs, now + group.rebalance_timeout)
            else:
                self.prepare(group, Cause.NOT_STORED, now)

        self.journal.write(group.id, record_of(group), done, now)

    def confirm(self, group: Group, member: Member, answer: AnswerJoin, now: float) -> None:
        """Have a leader that joins again after a restart assign in the present generation; nobody else notices.

        A Java consumer that reached no broker meanwhile forgets its partitions, and takes that for a change (KIP-899).
        """
        group.resumed, group.confirming = False, True
        self.answer(group, member, answer, now)

    def answer(self, group: Group, member: Member, answer: AnswerJoin, now: float) -> None:
        """Answer a member that joins again in the present generation, as if it had just begun."""
        self.heard(member, now)
        joined = group.joined(member)
        if not group.unkept:
            answer(joined)
        else:
            group.unkept.append(Unkept(member, answer, joined))

    def answer_replaced(
        self, group: Group, member: Member, said: Join, old_leader: str, answer: AnswerJoin, now: float
    ) -> None:
        """Answer a static member that took its place again, once its new id is kept; nobody else notices (KIP-345).

        Below v9 it is told the leader's old id, so that it does not assign. From v9 on the leader is told not to.
        """
        joined = group.joined(member)
        if said.skips_assignment:
            joined = replace(joined, skip_assignment=member.id == group.leader)
        else:
            joined = replace(joined, leader=old_leader, members=())

        def done(failure: str | None, now: float) -> None:
            if member.join is answer:  # else it was replaced again, removed, or joined the next generation
                self.heard(member, now)
                member.answer_join(
                    joined if failure is None else Joined(ErrorCode.COORDINATOR_NOT_AVAILABLE, member.id)
                )

        member.wait_to_join(answer)
        self.journal.write(group.id, record_of(group, group.assignments()), done, now)

    def assign(self, group: Group, assignments: Mapping[str, bytes], now: float) -> None:
        """Keep the leader's assignments, then answer all that wait for theirs."""
        if group.assigning == group.generation:
            return
        generation = group.assigning = group.generation
        begun = now

        def done(failure: str | None, now: float) -> None:
            self._watch.stored(now - begun)
            if group.assigning != generation:
                return
            group.assigning = None
            if failure is None:
                self._assigned(group, assignments, now)
            else:
                self._refuse_syncs(group, ErrorCode.COORDINATOR_NOT_AVAILABLE, now)
                self.prepare(group, Cause.NOT_STORED, now)

        self.journal.write(group.id, record_of(group, assignments), done, now)

    def _assigned(self, group: Group, assignments: Mapping[str, bytes], now: float) -> None:
        group.assign(assignments)
        group.spread_offsets(now)
        self._move(group, GroupState.STABLE, Cause.ASSIGNED, now)
        for member in group.members.values():
            if member.sync is not None:
                self.heard(member, now)
                member.answer_sync(group.synced(member))

    def _refuse_syncs(self, group: Group, error: int, now: float) -> None:
        for member in group.members.values():
            member.assignment = b""
            if member.sync is not None:
                self.heard(member, now)
                member.answer_sync(Synced(error))

    def not_synced_in_time(self, group: Group, now: float) -> None:
        """Remove the members that have not fetched their assignment, static ones too."""
        for member_id in tuple(group.not_synced):
            expel(group, group.members[member_id])
        self.prepare(group, Cause.NOT_SYNCED, now)

    def synced(self, group: Group, member: Member, now: float) -> None:
        """Note that a member has asked for its assignment."""
        self.heard(member, now)
        group.not_synced.discard(member.id)
        if not group.not_synced:
            group.syncs.stop()

    def bury(self, group: Group, now: float) -> None:
        """Forget a group that was removed."""
        self._move(group, GroupState.DEAD, Cause.REMOVED, now)
        group.assigning = None  # assignments may be on their way to the store: their end is no concern any more
        if group.generation:
            self.journal.write(group.id, None, _ignored, now)

    def restore(self, record: GroupRecord, group: Group, now: float) -> None:
        """Put a new group into the state of a record: stable where the assignments were kept, else waiting for them.

        A generation without a protocol is one that was fenced: nobody has joined it, so all have to join again.
        """
        group.generation = record.generation
        group.protocol_type, group.protocol_name = record.protocol_type, record.protocol_name
        if not group.members:
            self.retain(group, now)
            return
        group.leader = record.leader if record.leader in group.members else next(iter(group.members))
        group.resumed = record.assigned
        group.spread_offsets(now)
        if record.assigned:
            group.state = GroupState.STABLE
            group.phase.stop()
        elif record.protocol_name is None:
            group.state = GroupState.PREPARING
            self.timers.set(group.phase, now + group.rebalance_timeout)
        else:
            group.state = GroupState.COMPLETING
            group.phase.stop()
            group.not_synced = set(group.members)
            self.timers.set(group.syncs, now + group.rebalance_timeout)

    def retain(self, group: Group, now: float) -> None:
        """Keep an empty group for a while."""
        self.timers.set(group.phase, now + EMPTY_KEPT)

    def heartbeat(self, member: Member, now: float) -> None:
        """Begin a member's session anew; note where it had nearly ended."""
        ends = member.session.at
        if ends is not None and ends - now < member.session_timeout * _LATE:
            self._watch.late()
        self.heard(member, now)

    def heard(self, member: Member, now: float) -> None:
        """Begin a member's session anew."""
        self.timers.set(member.session, now + member.session_timeout)

    def _move(
        self,
        group: Group,
        state: GroupState,
        cause: Cause,
        now: float,
        member: Member | None = None,
        waited_for: Sequence[Member] = (),
    ) -> None:
        """Put a group into a state that may follow its present one for this cause."""
        before = group.state
        assert cause in MOVES[before].get(state, ()), f"group {group.id!r}: {cause} leads from {before} to {state}"
        group.state = state
        if before in (GroupState.EMPTY, GroupState.STABLE):
            group.unrest_since = now
        seconds, group.since = now - group.since, now
        self._watch.moved(group, Move(before, cause, member, waited_for, seconds, now - group.unrest_since))


def expel(group: Group, member: Member) -> None:
    """Remove a member; requests of it that wait are answered that it is unknown (25), so that it may join anew."""
    member.answer_all(ErrorCode.UNKNOWN_MEMBER_ID)
    group.remove(member)


def _ignored(failure: str | None, now: float) -> None:
    """A group without members is as good forgotten."""
    del failure, now
