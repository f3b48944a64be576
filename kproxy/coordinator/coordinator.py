# This module is pure (no I/O, no clock).
"""The coordinator of all hosted groups of a virtual cluster: what each request does, and how it is answered.

The policies (`kproxy.coordinator.apis`) call it for each request of a hosted group, `HostedGroups` when a timer is due.
The rules are those of Kafka's classic coordinator, which real clients were written against; docs/groups.md lists what
differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from kproxy.coordinator.consumer_protocol import CONSUMER
from kproxy.coordinator.group import Group
from kproxy.coordinator.member import Member
from kproxy.coordinator.messages import (
    UNKNOWN_MEMBER,
    AnswerJoin,
    AnswerSync,
    Join,
    Joined,
    Leaving,
    Sync,
    Synced,
)
from kproxy.coordinator.newer_members import NewerMembers
from kproxy.coordinator.rebalance import Rebalance, expel
from kproxy.coordinator.records import GroupRecord
from kproxy.coordinator.settings import BROKER_WAIT, NEW_MEMBER_TIMEOUT, GroupSettings
from kproxy.coordinator.states import ANSWERS, Cause, GroupState
from kproxy.coordinator.timers import Timer
from kproxy.coordinator.usage import MOST_GROUPS, MOST_PENDING, Usage, size_of, size_of_all
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode

_PAUSE: Final = 1.0
"""Seconds without a commit in a transaction: then the broker has those that passed."""
_MOST_LATE: Final = 12 * 3600.0
"""So long a refresh waits for such a pause, anew after each restart; a broker keeps offsets for a week."""


class Coordinator:
    """Answers each request exactly once, now or later. `now` is in seconds, of a clock that does not go back."""

    def __init__(
        self, rebalance: Rebalance, settings_of: Callable[[str], GroupSettings], new_id: Callable[[], str]
    ) -> None:
        """`settings_of` returns those of a group by its id; `new_id` returns the unique part of a member id."""
        self.groups: dict[str, Group] = {}
        self.refuses = 0
        """The error for every request: 14 until the groups of before a restart are read, 16 when kproxy is to end."""
        self.commits_wait = False
        """After a restart, until it is known whether Kafka is the cluster that members' positions are of."""
        self.in_doubt: Callable[[], bool] = lambda: False
        """Whether another Kafka cluster may have taken its place since."""
        self.usage = Usage()
        self.newer = NewerMembers()
        """Who is a member at a broker, by the ids of hosted groups."""
        self._rebalance = rebalance
        self._timers = rebalance.timers
        self._settings_of = settings_of
        self._new_id = new_id

    def join(self, said: Join, answer: AnswerJoin, now: float) -> None:
        """Take a JoinGroup request; it may wait until all members have joined."""
        error = self._join(said, answer, now)
        if error:
            answer(Joined(error, said.member_id))

    def _join(self, said: Join, answer: AnswerJoin, now: float) -> int:
        """Join or wait; return an error where the request is refused."""
        group = self.groups.get(said.group_id)
        settings = self._settings_of(said.group_id) if group is None else group.settings
        error = self._malformed(said, settings)
        if not error and self.is_newer(said.group_id, now):
            error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        error = error or (self._no_group(said) if group is None else self._no_place(group, said, now))
        if error:
            return error
        if group is None:
            group = self._create(said.group_id, settings, now)
        if said.member_id == UNKNOWN_MEMBER:
            return self._join_new(group, said, answer, now)
        return self._join_known(group, said, answer, now)

    def has_members(self, group_id: str) -> bool:
        """Return whether a group has members here."""
        group = self.groups.get(group_id)
        return group is not None and group.state is not GroupState.EMPTY

    def is_newer(self, group_id: str, now: float) -> bool:
        """Return whether a group has only members of KIP-848, share or Streams groups, which are at its broker."""
        return not self.has_members(group_id) and self.newer.any_of(group_id, now)

    def _malformed(self, said: Join, settings: GroupSettings) -> int:
        """Return the error for a request that no group could take."""
        if self.refuses:
            return self.refuses
        if not said.group_id:
            return ErrorCode.INVALID_GROUP_ID
        if not settings.min_session_timeout <= said.session_timeout <= settings.max_session_timeout:
            return ErrorCode.INVALID_SESSION_TIMEOUT
        return ErrorCode.NONE

    def _no_group(self, said: Join) -> int:
        """Return the error for a request whose group is not there; 0 where a new one may begin."""
        if said.member_id != UNKNOWN_MEMBER:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if len(self.groups) >= MOST_GROUPS or not self.usage.has_room(size_of(said.protocols)):
            return ErrorCode.POLICY_VIOLATION
        return ErrorCode.NONE if said.protocol_type and said.protocols else ErrorCode.INCONSISTENT_GROUP_PROTOCOL

    def _no_place(self, group: Group, said: Join, now: float) -> int:
        """Return the error for a request that this group cannot take."""
        if not _has_room(group, said):
            self._turn_away(group, said.member_id, now)
            return ErrorCode.GROUP_MAX_SIZE_REACHED
        if not group.supports(said.protocol_type, said.protocols):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        known = group.members.get(said.member_id)
        more = size_of(said.protocols) - (0 if known is None else size_of(known.protocols))
        if more > 0 and not self.usage.has_room(more):
            return ErrorCode.POLICY_VIOLATION
        return ErrorCode.NONE

    def _turn_away(self, group: Group, member_id: str, now: float) -> None:
        """Wait no longer for a member, or for an id that was given out, for which the group has no room."""
        member = group.members.get(member_id)
        if member is not None:
            self._rebalance.remove(group, member, Cause.MEMBER_LEFT, now)
        elif group.drop_pending(member_id):
            self._nobody_waits(group, now)

    def _create(self, group_id: str, settings: GroupSettings, now: float) -> Group:
        phase, syncs = (Timer(partial(ended, group_id)) for ended in (self._phase_ended, self._syncs_ended))
        group = self.groups[group_id] = Group(group_id, settings, phase, syncs, self.usage, now)
        self._rebalance.retain(group, now)
        return group

    def _join_new(self, group: Group, said: Join, answer: AnswerJoin, now: float) -> int:
        """Join a member without an id."""
        if said.instance_id is not None:
            known = group.static.get(said.instance_id)
            member_id = f"{said.instance_id}-{self._new_id()}"
            if known is not None:
                self._replace(group, group.members[known], member_id, said, answer, now)
                return ErrorCode.NONE
        else:
            member_id = f"{said.client_id}-{self._new_id()}"
            if said.needs_member_id and self.usage.pending >= MOST_PENDING:
                return ErrorCode.POLICY_VIOLATION
            if said.needs_member_id:
                self._give_id(group, member_id, said.session_timeout, now)
                answer(Joined(ErrorCode.MEMBER_ID_REQUIRED, member_id))
                return ErrorCode.NONE
        self._add(group, member_id, said, answer, now)
        return ErrorCode.NONE

    def _give_id(self, group: Group, member_id: str, session_timeout: float, now: float) -> None:
        """Wait for a new member to join with its id, for one session timeout (KIP-394)."""
        timer = Timer(partial(self._pending_ended, group, member_id))
        group.give_id(member_id, timer)
        self._timers.set(timer, now + session_timeout)

    def _join_known(self, group: Group, said: Join, answer: AnswerJoin, now: float) -> int:
        """Join a member with an id: for the first time, again, or because it has no answer yet."""
        if said.member_id in group.pending and said.instance_id is None:
            self._add(group, said.member_id, said, answer, now)
            return ErrorCode.NONE
        error = group.fencing(said.member_id, said.instance_id)
        if error:
            return error
        member = group.members[said.member_id]
        cause = _disturbance(group, member, said)
        if cause is None:
            self._rebalance.answer(group, member, answer, now)
            return ErrorCode.NONE
        group.update(member, said)
        if _confirms(group, member):
            self._rebalance.confirm(group, member, answer, now)
            return ErrorCode.NONE
        group.wait_to_join(member, answer)
        self._rebalance.disturb(group, cause, now, member)
        return ErrorCode.NONE

    def _add(self, group: Group, member_id: str, said: Join, answer: AnswerJoin, now: float) -> None:
        member = Member(member_id, said, Timer(partial(self._session_ended, group, member_id)))
        group.extends = True
        group.add(member, said.protocol_type)
        group.wait_to_join(member, answer)
        self._timers.set(member.session, now + NEW_MEMBER_TIMEOUT)
        self._rebalance.disturb(group, Cause.MEMBER_JOINED, now, member)

    def _replace(
        self, group: Group, member: Member, member_id: str, said: Join, answer: AnswerJoin, now: float
    ) -> None:
        """Let a static member that came back take its own place, without a rebalance where nothing changes."""
        old_leader = group.leader or UNKNOWN_MEMBER
        group.replace(member, member_id)
        member.session.drop()
        member.session = Timer(partial(self._session_ended, group, member_id))
        group.update(member, said)
        self._rebalance.heard(member, now)
        if group.state is not GroupState.STABLE or group.chosen_protocol() != group.protocol_name:
            group.wait_to_join(member, answer)
            self._rebalance.disturb(group, Cause.MEMBER_REPLACED, now, member)
            return
        self._rebalance.answer_replaced(group, member, said, old_leader, answer, now)

    def sync(self, said: Sync, answer: AnswerSync, now: float) -> None:
        """Take a SyncGroup request; it may wait until the leader's assignments are kept."""
        group = self.groups.get(said.group_id)
        error = self._fence(group, said.member_id, said.instance_id, said.generation) or _other_protocol(group, said)
        if error or group is None:
            answer(Synced(error))
            return
        error = ANSWERS[ApiKey.SYNC_GROUP][group.state]
        if error:
            answer(Synced(error))
            return
        member = group.members[said.member_id]
        self._rebalance.synced(group, member, now)
        assignments = said.assignments or {}
        if group.state is GroupState.STABLE:
            self._sync_stable(group, member, assignments, answer, now)
            return
        leads = group.leader == member.id
        if leads and not self.usage.has_room(size_of_all(assignments.values()) - group.assigned):
            answer(Synced(ErrorCode.POLICY_VIOLATION))
            return
        member.wait_to_sync(answer)
        if leads:
            self._rebalance.assign(group, assignments, now)

    def _sync_stable(
        self, group: Group, member: Member, assignments: Mapping[str, bytes], answer: AnswerSync, now: float
    ) -> None:
        """Give a member its kept assignment, unless it leads and has found after a restart that another one is due."""
        if group.is_changed(member, assignments):
            self._rebalance.prepare(group, Cause.LEADER_JOINED, now, member)
            answer(Synced(ErrorCode.REBALANCE_IN_PROGRESS))
        else:
            answer(group.synced(member))

    def heartbeat(self, group_id: str, member_id: str, instance_id: str | None, generation: int, now: float) -> int:
        """Take a Heartbeat request; return its error."""
        return self._alive(ApiKey.HEARTBEAT, group_id, member_id, instance_id, generation, now)

    def keep(self, group_id: str, member_id: str, now: float) -> None:
        """Keep a member beyond its session for a while: its broker is asked something, and its heartbeats wait for it.

        A broker that stalls would end the sessions of all of its members else, with nobody to blame here.
        """
        member = self.groups[group_id].members[member_id]
        self._timers.set(member.session, now + member.session_timeout + BROKER_WAIT)

    def offsets_due(self, group_id: str, member_id: str, now: float) -> bytes | None:
        """Return a consumer's assignment if its offsets are to be committed again now; the next time is set then.

        A group that commits in transactions waits for a pause, though not for ever: see `refreshing`.
        """
        group = self.groups[group_id]
        member = group.members[member_id]
        if self._refuses_commits or group.state is not GroupState.STABLE or group.protocol_type != CONSUMER:
            return None
        late = now - member.offsets_due
        if late < 0 or (now < group.transacted_at + _PAUSE and late < _MOST_LATE):
            return None
        member.offsets_due = now + group.settings.offset_refresh
        return member.assignment

    def not_refreshed(self, group_id: str, member_id: str, again: float) -> None:
        """Note that a member's offsets could not be committed again: they are due at `again`, if it is still there."""
        group = self.groups.get(group_id)
        member = None if group is None else group.members.get(member_id)
        if member is not None:
            member.offsets_due = again

    @contextmanager
    def refreshing(self, group_id: str) -> Iterator[None]:
        """Hold off commits in transactions (14) while a member's offsets are read and committed again.

        They come by the producer's connection: one between the two would be undone when its transaction is committed,
        since the broker believes the later record. One that had gone to the broker just before is why to wait for a
        pause.
        """
        group = self.groups[group_id]
        group.refreshing += 1
        try:
            yield
        finally:
            group.refreshing -= 1

    @property
    def _refuses_commits(self) -> int:
        """The error for every commit; 0 where they are taken."""
        if self.refuses:
            return self.refuses
        waits = self.commits_wait or self.in_doubt()
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if waits else ErrorCode.NONE

    def may_commit(self, group_id: str, member_id: str, instance_id: str | None, generation: int, now: float) -> int:
        """Return the error for an OffsetCommit request, 0 where it may go on to the broker without its member.

        Consumers without a group, and administrators, have generation -1 and no member id: they may commit for a group
        without members. GROUP_ID_NOT_FOUND says that nobody has been a member here: the broker may have the member.
        """
        if error := self._refuses_commits:
            return error
        group = self.groups.get(group_id)
        if group is None or group.is_new:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if generation < 0 and group.state is GroupState.EMPTY:
            return ErrorCode.NONE
        return self._alive(ApiKey.OFFSET_COMMIT, group_id, member_id, instance_id, generation, now)

    def may_commit_in_transaction(
        self, group_id: str, member_id: str, instance_id: str | None, generation: int, now: float
    ) -> int:
        """Return the same for a TxnOffsetCommit request. It may name no member, and then it is not fenced."""
        if error := self._refuses_commits:
            return error
        group = self.groups.get(group_id)
        if group is None or group.is_new:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if group.refreshing:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        if not (generation < 0 and member_id == UNKNOWN_MEMBER and instance_id is None):
            error = self._fence(group, member_id, instance_id, generation)
            if error:
                return error
        group.transacted_at = now
        return ErrorCode.NONE

    def _alive(
        self, api: int, group_id: str, member_id: str, instance_id: str | None, generation: int, now: float
    ) -> int:
        """Return the error for a member's request, and begin its session anew where it is a member's."""
        group = self.groups.get(group_id)
        error = self._fence(group, member_id, instance_id, generation)
        if error or group is None:
            return error
        if api == ApiKey.HEARTBEAT:
            self._rebalance.heartbeat(group.members[member_id], now)
        elif group.state is not GroupState.COMPLETING:
            self._rebalance.heard(group.members[member_id], now)
        return ANSWERS[api][group.state]

    def _fence(self, group: Group | None, member_id: str, instance_id: str | None, generation: int) -> int:
        """Return the error for a request of a generation's member; 0 where it is one."""
        if self.refuses:
            return self.refuses
        if group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        error = group.fencing(member_id, instance_id)
        if error:
            return error
        return ErrorCode.NONE if generation == group.generation else ErrorCode.ILLEGAL_GENERATION

    def leave(self, group_id: str, leaving: Iterable[Leaving], now: float) -> Sequence[int]:
        """Take a LeaveGroup request; return the error of each member. The group rebalances once, however many leave."""
        group = self.groups.get(group_id)
        if self.refuses or group is None:
            return [self.refuses or ErrorCode.UNKNOWN_MEMBER_ID for _ in leaving]
        gone: list[Member] = []
        errors = [self._leave(group, *each, gone) for each in leaving]
        if gone:
            self._rebalance.disturb(group, Cause.MEMBER_LEFT, now, gone[0])
        else:
            self._nobody_waits(group, now)
        return errors

    def _leave(self, group: Group, member_id: str, instance_id: str | None, gone: list[Member]) -> int:
        if instance_id is None and group.drop_pending(member_id):
            return ErrorCode.NONE
        if member_id == UNKNOWN_MEMBER and instance_id is not None:  # an administrator, who knows the instance only
            member_id = group.static.get(instance_id, UNKNOWN_MEMBER)
        error = group.fencing(member_id, instance_id)
        if not error:
            gone.append(group.members[member_id])
            expel(group, gone[-1])
        return error

    def delete(self, group_id: str, now: float) -> int:
        """Remove a group; return its error. A group with members stays (68); nobody hosts an unknown one (69)."""
        if self.refuses:
            return self.refuses
        group = self.groups.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if group.state is not GroupState.EMPTY:
            return ErrorCode.NON_EMPTY_GROUP
        self._forget(group, now)
        return ErrorCode.NONE

    def restore(self, records: Iterable[GroupRecord], now: float) -> None:
        """Go on with the groups of before a restart. Each member has its whole session to be heard of."""
        for record in records:
            group = self._create(record.id, self._settings_of(record.id), now)
            for one in record.members:
                member = Member.restored(one, Timer(partial(self._session_ended, group, one.id)))
                group.add(member, record.protocol_type or "")
                self._rebalance.heard(member, now)
            self._rebalance.restore(record, group, now)

    def adopt(self) -> None:
        """Use the present settings for all groups."""
        for group in self.groups.values():
            group.settings = self._settings_of(group.id)

    def abandon(self, group_ids: Iterable[str], now: float) -> None:
        """Forget groups with their members, which are answered that they are unknown (25), so that they join anew."""
        for group_id in group_ids:
            group = self.groups[group_id]
            for member in tuple(group.members.values()):
                expel(group, member)
            self._forget(group, now)

    def give_way(self, group_id: str, now: float) -> None:
        """Abandon a group, if it is there, at the next turn of the timers.

        Not at once, since a broker's answer says that it is time: that may come while members are answered, whose
        connections then go on with what waited behind.
        """
        self._timers.set(Timer(partial(self._give_way, group_id)), now)

    def _give_way(self, group_id: str, now: float) -> None:
        if group_id in self.groups:
            self.abandon([group_id], now)

    def send_away(self, error: int, now: float) -> None:
        """Answer all requests that wait with an error: their clients have to look for the coordinator again.

        A new member that cannot know its id from that answer comes back as another one, and would be waited for.
        """
        for group in tuple(self.groups.values()):
            for member in tuple(group.members.values()):
                if member.waits:
                    self._rebalance.heard(member, now)
                member.answer_all(error)
                if member.is_new and member.is_nameless:
                    group.remove(member)
            group.rejoined.clear()
            if not group.members:
                self._nobody_waits(group, now)

    def change_cluster(self, now: float) -> None:
        """Have all members join again and fetch their offsets anew, from another Kafka cluster.

        Their generation is fenced at once (22): what they would commit are positions in the cluster before. They keep
        their ids. Who waits is sent away (16).
        """
        self.send_away(ErrorCode.NOT_COORDINATOR, now)
        for group in tuple(self.groups.values()):
            if group.members:
                self._rebalance.fence(group, now)

    def _phase_ended(self, group_id: str, now: float) -> None:
        group = self.groups[group_id]
        if group.state is not GroupState.EMPTY:
            self._rebalance.join_phase_ended(group, now)
        elif group.pending:
            self._rebalance.retain(group, now)
        else:
            self._forget(group, now)

    def _syncs_ended(self, group_id: str, now: float) -> None:
        self._rebalance.not_synced_in_time(self.groups[group_id], now)

    def _session_ended(self, group: Group, member_id: str, now: float) -> None:
        member = group.members[member_id]
        if member.waits or group.unkept:
            self._rebalance.heard(member, now)
        else:
            self._rebalance.remove(group, member, Cause.SESSION_TIMEOUT, now)

    def _pending_ended(self, group: Group, member_id: str, now: float) -> None:
        group.drop_pending(member_id)
        self._nobody_waits(group, now)

    def _nobody_waits(self, group: Group, now: float) -> None:
        """Go on when an id that was waited for will not join; forget a group that nobody else has joined."""
        if group.state is GroupState.PREPARING:
            self._rebalance.disturb(group, Cause.ALL_JOINED, now)
        elif group.state is GroupState.EMPTY and not group.generation and not group.pending:
            self._forget(group, now)

    def _forget(self, group: Group, now: float) -> None:
        group.release()
        del self.groups[group.id]
        self._rebalance.bury(group, now)


def _has_room(group: Group, said: Join) -> bool:
    """Return whether the group may have this member: those that are in it may stay, and take their places again."""
    most = group.settings.max_members
    if most is None or group.state is GroupState.EMPTY:
        return True
    member_id = said.member_id or group.static.get(said.instance_id or "", UNKNOWN_MEMBER)
    if group.state is GroupState.PREPARING:
        return member_id in group.rejoined or len(group.rejoined) < most
    return member_id in group.members or len(group.members) < most


def _disturbance(group: Group, member: Member, said: Join) -> Cause | None:
    """Return why a member's JoinGroup makes the group rebalance; None where it only has no answer yet."""
    if member.protocols != said.protocols:
        return Cause.METADATA_CHANGED
    if group.state is GroupState.COMPLETING:
        return None
    if group.state is GroupState.STABLE and group.leader != member.id:
        return None
    return Cause.LEADER_JOINED if group.state is GroupState.STABLE else Cause.MEMBER_JOINED


def _confirms(group: Group, member: Member) -> bool:
    """Return whether a member that joins again may show by its assignments whether anything has changed.

    Only the leader after a restart of kproxy may, as long as the group uses the same protocol.
    """
    if group.state is not GroupState.STABLE or group.leader != member.id:
        return False
    return (group.resumed or group.confirming) and group.chosen_protocol() == group.protocol_name


def _other_protocol(group: Group | None, said: Sync) -> int:
    """Return the error where a member means another protocol than its group's."""
    if group is not None and (
        said.protocol_type not in (None, group.protocol_type) or said.protocol_name not in (None, group.protocol_name)
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.NONE
