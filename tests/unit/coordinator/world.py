"""A coordinator without sockets, disk or clock: the test moves the time, ends writes, and speaks for the clients."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

from kproxy.coordinator import rebalance
from kproxy.coordinator.coordinator import Coordinator
from kproxy.coordinator.group import Group
from kproxy.coordinator.journal import Done
from kproxy.coordinator.messages import Join, Joined, Leaving, Protocols, Sync, Synced
from kproxy.coordinator.rebalance import Rebalance
from kproxy.coordinator.records import GroupRecord
from kproxy.coordinator.settings import GroupSettings
from kproxy.coordinator.states import Cause, GroupState
from kproxy.coordinator.timers import Timers
from kproxy.wire.generated.error_codes import ErrorCode

T = TypeVar("T", Joined, Synced)
SESSION, REBALANCE, DELAY = 10.0, 60.0, 3.0
"""Timeouts of a client that names no others, and the initial rebalance delay; seconds."""
RANGE: Protocols = (("range", b"topics"),)


class Parked(Generic[T]):
    """Takes the answer to a request; a second one fails the test."""

    def __init__(self, on_answer: Callable[[T], None]) -> None:
        self._on_answer: Callable[[T], None] = on_answer
        self._answers: list[T] = []

    def __call__(self, answer: T) -> None:
        assert not self._answers, f"{answer} comes after {self._answers}"
        self._answers.append(answer)
        self._on_answer(answer)

    @property
    def waits(self) -> bool:
        """True while there is no answer."""
        return not self._answers

    @property
    def answer(self) -> T:
        """The answer, which must be there."""
        assert self._answers, "no answer yet"
        return self._answers[0]

    @property
    def error(self) -> int:
        """The answer's error, 0 without one; the answer must be there."""
        return self.answer.error


class HeldJournal:
    """A journal that keeps records in memory: each write at once, or when the test says so while it `holds`."""

    def __init__(self) -> None:
        self.holds = False
        self.failure: str | None = None
        """Why writes fail at present; None while they succeed."""
        self.kept: dict[str, GroupRecord] = {}
        self.written: list[GroupRecord | None] = []
        """All that was written, whether it is kept or not."""
        self._waiting: deque[tuple[str, GroupRecord | None, Done]] = deque()

    def write(self, group_id: str, record: GroupRecord | None, done: Done, now: float) -> None:
        self.written.append(record)
        self._waiting.append((group_id, record, done))
        if not self.holds:
            self.finish(now)

    def finish(self, now: float, count: int | None = None) -> None:
        """End the oldest writes, all that wait by default."""
        for _ in range(len(self._waiting) if count is None else count):
            group_id, record, done = self._waiting.popleft()
            if self.failure is None and record is not None:
                self.kept[group_id] = record
            elif self.failure is None:
                self.kept.pop(group_id, None)
            done(self.failure, now)

    @property
    def waiting(self) -> int:
        """How many writes have not ended."""
        return len(self._waiting)

    def lose(self) -> None:
        """Lose what waits, as a crash does."""
        self._waiting.clear()


class Move(NamedTuple):
    """A transition that the watch was told of; `late` are member ids."""

    before: GroupState
    after: GroupState
    cause: Cause
    late: tuple[str, ...]


class Moves(list[Move]):
    """A watch that keeps all moves, and counts the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[Group, rebalance.Move]] = []
        self.waits: list[float] = []
        self.late_heartbeats = 0

    def moved(self, group: Group, move: rebalance.Move) -> None:
        late = tuple(member.id for member in move.waited_for if member.id not in group.members)
        self.append(Move(move.before, group.state, move.cause, late))
        self.seen.append((group, move))

    def stored(self, seconds: float) -> None:
        self.waits.append(seconds)

    def late(self) -> None:
        self.late_heartbeats += 1


class World:
    """One coordinator, its clock and its journal."""

    def __init__(self, settings: GroupSettings | None = None, choose: Callable[[Sequence[str]], str] = max) -> None:
        """`choose` picks random leaders: the newest id by default."""
        self.now = 1_000.0
        self.settings = GroupSettings(initial_rebalance_delay=DELAY) if settings is None else settings
        self.journal = HeldJournal()
        self.moves = Moves()
        self._choose = choose
        self._ids = 0
        self._begin()

    def _begin(self) -> None:
        self.timers = Timers()
        rebalance = Rebalance(self.timers, self.journal, self.moves, self._choose)
        self.coordinator = Coordinator(rebalance, lambda _: self.settings, self._new_id)

    def _new_id(self) -> str:
        self._ids += 1
        return f"{self._ids:03}"

    @property
    def group(self) -> Group:
        """The group of clients that name no other."""
        return self.coordinator.groups["g"]

    @property
    def state(self) -> GroupState:
        return self.group.state

    def wait(self, seconds: float) -> None:
        """Let time pass, and call what becomes due."""
        until = self.now + seconds
        while (due := self.timers.next) is not None and due <= until:
            self.now = max(self.now, due)
            self.timers.fire(self.now)
        self.now = until

    def finish(self, failure: str | None = None, count: int | None = None) -> None:
        """End the journal's oldest writes, all that wait by default; they fail for this reason, if there is one."""
        self.journal.failure = failure
        self.journal.finish(self.now, count)
        self.journal.failure = None

    def restart(self) -> None:
        """Crash, and begin anew from what is kept. What waited in the journal is lost, and so are connections."""
        self.journal.lose()
        self._begin()
        self.coordinator.restore(list(self.journal.kept.values()), self.now)

    def leave(self, *leaving: tuple[str, str | None]) -> list[int]:
        """The errors of a LeaveGroup request for these member and instance ids."""
        return list(self.coordinator.leave("g", [Leaving(*each) for each in leaving], self.now))

    def commit(self, member_id: str = "", generation: int = -1, instance_id: str | None = None) -> int:
        """The error of an OffsetCommit request."""
        return self.coordinator.may_commit("g", member_id, instance_id, generation, self.now)

    def clients(self, *names: str, **said: Any) -> list[Client]:
        """New clients of the group, which have not joined; `said` are attributes of `Client`."""
        return [Client(self, name, **said) for name in names]

    def stable(self, *clients: Client) -> None:
        """Have clients that are new join, and the group become stable."""
        for client in clients:
            client.join()
        self.wait(self.settings.initial_rebalance_delay * len(clients))
        self.settle(clients)

    def settle(self, clients: Iterable[Client]) -> None:
        """Have clients that were answered a JoinGroup request sync, the leader last, and all get their assignments."""
        synced = [client.sync() for client in sorted(clients, key=lambda one: one.leads)]
        assert [one.error for one in synced] == [0] * len(synced)
        assert self.state is GroupState.STABLE


@dataclass(eq=False)
class Client:
    """A client of a group: what it says when it joins, and what it was answered."""

    world: World
    name: str
    instance_id: str | None = None
    protocols: Protocols = RANGE
    session: float = SESSION
    rebalance: float = REBALANCE
    group_id: str = "g"
    protocol_type: str = "consumer"
    needs_member_id: bool = True
    skips_assignment: bool = True
    member_id: str = ""
    generation: int = -1
    joined: Joined = field(default_factory=Joined)
    """The last answer to a JoinGroup request without an error."""

    @property
    def said(self) -> Join:
        return Join(
            self.group_id,
            self.member_id,
            self.instance_id,
            self.name,
            "/10.0.0.1",
            self.session,
            self.rebalance,
            self.protocol_type,
            self.protocols,
            self.needs_member_id,
            self.skips_assignment,
        )

    def join(self) -> Parked[Joined]:
        """Send a JoinGroup request, and a second one where the first is answered an id (KIP-394)."""
        joined = self.ask()
        if joined.waits or joined.error != ErrorCode.MEMBER_ID_REQUIRED:
            return joined
        self.member_id = joined.answer.member_id
        return self.ask()

    def ask(self, **changes: Any) -> Parked[Joined]:
        """Send one JoinGroup request."""
        parked = Parked(self._took)
        self.world.coordinator.join(replace(self.said, **changes), parked, self.world.now)
        return parked

    def _took(self, joined: Joined) -> None:
        if not joined.error:
            self.joined, self.member_id, self.generation = joined, joined.member_id, joined.generation

    @property
    def leads(self) -> bool:
        """True when the last JoinGroup answer says that this client is to assign."""
        return self.member_id != "" and self.member_id == self.joined.leader

    def sync(self, assignments: Mapping[str, bytes] | None = None, **changes: Any) -> Parked[Synced]:
        """Send a SyncGroup request. A leader assigns `assigned` of each member that it was told of, if nothing else."""
        if assignments is None and self.leads:
            assignments = {one.member_id: self.assigned(one.member_id) for one in self.joined.members}
        said = Sync(self.group_id, self.member_id, self.instance_id, self.generation, assignments=assignments)
        parked: Parked[Synced] = Parked(lambda _: None)
        self.world.coordinator.sync(replace(said, **changes), parked, self.world.now)
        return parked

    def assigned(self, member_id: str) -> bytes:
        """What this client assigns to a member when it leads."""
        return f"{member_id} in {self.generation}".encode()

    def heartbeat(self) -> int:
        """Send a heartbeat; return its error."""
        return self.world.coordinator.heartbeat(
            self.group_id, self.member_id, self.instance_id, self.generation, self.world.now
        )

    def leave(self) -> int:
        """Leave the group; return the error."""
        (error,) = self.world.coordinator.leave(
            self.group_id, [Leaving(self.member_id, self.instance_id)], self.world.now
        )
        return error

    def commit(self) -> int:
        """Return the error of an OffsetCommit request."""
        return self.world.coordinator.may_commit(
            self.group_id, self.member_id, self.instance_id, self.generation, self.world.now
        )
