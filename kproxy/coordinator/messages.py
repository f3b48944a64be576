# This module is pure (no I/O, no clock).
"""What members ask of the coordinator, and what it answers, whatever the version of the protocol.

The policies (`kproxy.coordinator.apis`) make the requests of frames, and responses of the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kproxy.wire.generated.error_codes import ErrorCode

Protocols: TypeAlias = tuple[tuple[str, bytes], ...]
"""Name and metadata of each protocol that a member can use, the preferred one first."""
NO_GENERATION = -1
UNKNOWN_MEMBER = ""


@dataclass(frozen=True, slots=True)
class Join:
    """A JoinGroup request; timeouts are in seconds."""

    group_id: str
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout: float
    rebalance_timeout: float
    protocol_type: str
    protocols: Protocols
    needs_member_id: bool = True
    """From v4 on: a new member is first told its id, and then joins with it (KIP-394)."""
    skips_assignment: bool = True
    """From v9 on: a leader can be told that no assignment is due (KIP-814)."""


class JoinedMember(NamedTuple):
    """A member as the leader sees it."""

    member_id: str
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True)
class Joined:
    """The answer to a `Join`."""

    error: int = ErrorCode.NONE
    member_id: str = UNKNOWN_MEMBER
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = UNKNOWN_MEMBER
    members: tuple[JoinedMember, ...] = ()
    """Empty for all but the leader."""
    skip_assignment: bool = False


@dataclass(frozen=True, slots=True)
class Sync:
    """A SyncGroup request; `protocol_type` and `protocol_name` are None where the version has none."""

    group_id: str
    member_id: str
    instance_id: str | None
    generation: int
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: Mapping[str, bytes] | None = None
    """By member id."""


@dataclass(frozen=True, slots=True)
class Synced:
    """The answer to a `Sync`."""

    error: int = ErrorCode.NONE
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class Leaving(NamedTuple):
    """A member that leaves; an administrator names the instance without a member id."""

    member_id: str
    instance_id: str | None


AnswerJoin: TypeAlias = Callable[[Joined], None]
"""Called exactly once, now or later."""
AnswerSync: TypeAlias = Callable[[Synced], None]
