"""Consumers that behave as real ones do: they join, sync, send heartbeats, and join again when they are told to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from kproxy.coordinator.messages import Joined, JoinedMember, Synced
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.coordinator.world import Client, Parked

PARTITIONS = 40
"""More than there ever are members, so that each one has some."""
Request: TypeAlias = Parked[Joined] | Parked[Synced]


class Phase(Enum):
    """What a consumer does next."""

    OUT = auto()
    """It joins."""
    JOINED = auto()
    """It syncs."""
    STABLE = auto()
    """It consumes and sends heartbeats."""
    GONE = auto()
    """It has died, has left, was fenced or was refused."""


def assigned(members: Sequence[JoinedMember], turn: int) -> Mapping[str, bytes]:
    """What a leader assigns: each partition, a byte, to one member; another one in each turn."""
    shares = {(index + turn) % len(members): one.member_id for index, one in enumerate(members)}
    return {member_id: bytes(range(share, PARTITIONS, len(members))) for share, member_id in shares.items()}


@dataclass(eq=False)
class Consumer(Client):
    """A consumer. It reports each request that it sends, each generation that it is told of, and each assignment."""

    sent: Callable[[Request], None] = lambda _: None
    told: Callable[[int], None] = lambda _: None
    got: Callable[[Consumer], None] = lambda _: None
    phase: Phase = Phase.OUT
    paused: bool = False
    """While it does nothing, though it is alive, as in a long collection of garbage."""
    assignment: bytes = b""
    syncs: int = 0
    """How many SyncGroup requests it has sent: a leader that sends one again assigns otherwise, unless it is steady."""
    steady: bool = False
    request: Request | None = field(default=None)
    """Its request that waits for an answer, or whose answer it has not seen yet."""

    @property
    def slot(self) -> str:
        """What stays when a static consumer comes back with a new id."""
        return self.instance_id or self.member_id

    def _took(self, joined: Joined) -> None:
        super()._took(joined)
        if not joined.error:
            self.told(joined.generation)

    def act(self) -> None:
        """Deal with an answer, or send the next request."""
        if self.paused or self.phase is Phase.GONE:
            return
        if self.request is not None:
            self._look()
        elif self.phase is Phase.OUT:
            self._send(self.ask())
        elif self.phase is Phase.JOINED:
            self.syncs += 1
            turn = 0 if self.steady else self.syncs
            self._send(self.sync({} if self.joined.skip_assignment else assigned(self.joined.members, turn)))
        else:
            self._go_on(self.heartbeat(), Phase.STABLE)

    def _send(self, request: Request) -> None:
        self.request = request
        self.sent(request)

    def _look(self) -> None:
        assert self.request is not None
        if self.request.waits:
            return
        answer, self.request = self.request.answer, None
        if isinstance(answer, Joined):
            if answer.error == ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = answer.member_id
            self._go_on(answer.error, Phase.JOINED)
        else:
            self.assignment = answer.assignment
            self._go_on(answer.error, Phase.STABLE)
            if not answer.error:
                self.got(self)

    def _go_on(self, error: int, then: Phase) -> None:
        """Go on to a phase, or do what clients do after this error."""
        if error == ErrorCode.NONE:
            self.phase = then
            return
        self.assignment = b""
        self.phase = Phase.OUT
        if error == ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        elif error in (ErrorCode.FENCED_INSTANCE_ID, ErrorCode.INCONSISTENT_GROUP_PROTOCOL):
            self.phase = Phase.GONE

    def rejoin(self) -> None:
        """Join again, because of other metadata."""
        self.request, self.phase = None, Phase.OUT

    def reconnect(self) -> None:
        """Send what was not answered again: the connection on which it waited is lost."""
        self.request = None
