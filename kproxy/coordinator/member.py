# This module is pure (no I/O, no clock).
"""A member of a hosted group: what it said when it joined, its assignment, and its requests that wait."""

from __future__ import annotations

from math import inf
from typing import Self

from kproxy.coordinator.messages import AnswerJoin, AnswerSync, Join, Joined, Protocols, Synced
from kproxy.coordinator.records import MemberRecord
from kproxy.coordinator.timers import Timer
from kproxy.wire.generated.error_codes import ErrorCode


class Member:
    """One member. Its group adds it and removes it."""

    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "id",
        "instance_id",
        "is_nameless",
        "is_new",
        "join",
        "offsets_due",
        "protocols",
        "rebalance_timeout",
        "session",
        "session_timeout",
        "sync",
    )

    def __init__(self, member_id: str, said: Join, session: Timer) -> None:
        self.id = member_id
        self.instance_id = said.instance_id
        self.update(said)
        self.session = session
        """Due when the member has not been heard of for its session timeout."""
        self.assignment = b""
        self.offsets_due = inf
        """When the offsets of its partitions are to be committed again, so that the broker does not expire them."""
        self.is_new = True
        """Until its first join is answered: it does not know its id yet, and cannot send heartbeats."""
        self.is_nameless = not said.member_id and not said.instance_id
        """Whether it joined without an id: only the answer to its first join tells it one."""
        self.join: AnswerJoin | None = None
        """Answers its JoinGroup request that waits; None without one."""
        self.sync: AnswerSync | None = None
        """Answers its SyncGroup request that waits; None without one."""

    @classmethod
    def restored(cls, record: MemberRecord, session: Timer) -> Self:
        """Return the member of a record."""
        said = Join(
            "",
            record.id,
            record.instance_id,
            record.client_id,
            record.client_host,
            record.session_timeout,
            record.rebalance_timeout,
            "",
            record.protocols,
        )
        member = cls(record.id, said, session)
        member.assignment, member.is_new = record.assignment, False
        return member

    @property
    def waits(self) -> bool:
        """True while a request of it waits: then the member is alive, and sends nothing else."""
        return not self.is_new and (self.join is not None or self.sync is not None)

    def update(self, said: Join) -> None:
        """Take over what the member says when it joins again."""
        self.client_id, self.client_host = said.client_id, said.client_host
        self.session_timeout, self.rebalance_timeout = said.session_timeout, said.rebalance_timeout
        self.protocols: Protocols = said.protocols

    def metadata(self, protocol: str) -> bytes:
        """Return the metadata of a protocol; b"" for one that the member does not know."""
        return next((metadata for name, metadata in self.protocols if name == protocol), b"")

    def vote(self, candidates: frozenset[str]) -> str | None:
        """Return the candidate that the member prefers."""
        return next((name for name, _ in self.protocols if name in candidates), None)

    def wait_to_join(self, answer: AnswerJoin) -> None:
        """Have the member wait. An older JoinGroup of it that still waits is answered to ask again (27)."""
        self.answer_join(Joined(ErrorCode.REBALANCE_IN_PROGRESS, self.id))
        self.join = answer

    def wait_to_sync(self, answer: AnswerSync) -> None:
        """Have the member wait. An older SyncGroup of it that still waits is answered to join again (27)."""
        self.answer_sync(Synced(ErrorCode.REBALANCE_IN_PROGRESS))
        self.sync = answer

    def answer_join(self, joined: Joined) -> None:
        """Answer the JoinGroup that waits, if there is one."""
        answer, self.join = self.join, None
        if answer is not None:
            answer(joined)

    def answer_sync(self, synced: Synced) -> None:
        """Answer the SyncGroup that waits, if there is one."""
        answer, self.sync = self.sync, None
        if answer is not None:
            answer(synced)

    def answer_all(self, error: int) -> None:
        """Answer whatever waits with an error."""
        self.answer_join(Joined(error, self.id))
        self.answer_sync(Synced(error))
