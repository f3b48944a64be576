# This module is pure (no I/O, no clock).
"""The states of a hosted group, as tables: where each may go, and what it answers to requests that carry a generation.

`Group` moves by `MOVES`; the coordinator answers by `ANSWERS`. The diagram in docs/groups.md is drawn from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode


class GroupState(StrEnum):
    """The names are Kafka's: DescribeGroups and ListGroups show them."""

    EMPTY = "Empty"
    """No members; the generation is kept."""
    PREPARING = "PreparingRebalance"
    """Waits until every member has joined."""
    COMPLETING = "CompletingRebalance"
    """Waits for the leader's assignments."""
    STABLE = "Stable"
    """Each member can have its assignment."""
    DEAD = "Dead"
    """Removed; only what was begun before still sees it."""


class Cause(StrEnum):
    """Why a group goes to another state: a label of metrics, and a field of events."""

    MEMBER_JOINED = "member_joined"
    MEMBER_LEFT = "member_left"
    SESSION_TIMEOUT = "session_timeout"
    """A member was not heard of for its session timeout."""
    METADATA_CHANGED = "metadata_changed"
    """A member joined again with other protocols or another subscription."""
    LEADER_JOINED = "leader_joined"
    """The leader joined again in a stable group, as it does when topics change."""
    MEMBER_REPLACED = "member_replaced"
    """A static member came back under a new id, and the group was not stable (KIP-345)."""
    NOT_SYNCED = "not_synced"
    """Members did not fetch their assignment within the rebalance timeout."""
    NOT_STORED = "not_stored"
    """The store did not take the group."""
    CLUSTER_CHANGED = "cluster_changed"
    """Another Kafka cluster is behind the virtual cluster: positions that members have are of the one before."""
    ALL_JOINED = "all_joined"
    JOIN_TIMED_OUT = "join_timed_out"
    """Some members did not join within the rebalance timeout."""
    ASSIGNED = "assigned"
    """The leader's assignments are stored."""
    REMOVED = "removed"
    """An administrator removed the group, or it was empty for long."""


_EMPTY, _PREPARING, _COMPLETING, _STABLE, _DEAD = GroupState

_REMOVED: Final = frozenset({Cause.REMOVED})
_JOINED: Final = frozenset({Cause.ALL_JOINED, Cause.JOIN_TIMED_OUT})
_DISTURBED: Final = frozenset(
    {
        Cause.MEMBER_JOINED,
        Cause.MEMBER_LEFT,
        Cause.SESSION_TIMEOUT,
        Cause.METADATA_CHANGED,
        Cause.MEMBER_REPLACED,
        Cause.NOT_SYNCED,
        Cause.CLUSTER_CHANGED,
    }
)

MOVES: Final[Mapping[GroupState, Mapping[GroupState, frozenset[Cause]]]] = MappingProxyType(
    {
        _EMPTY: MappingProxyType({_PREPARING: frozenset({Cause.MEMBER_JOINED}), _DEAD: _REMOVED}),
        _PREPARING: MappingProxyType({_COMPLETING: _JOINED, _EMPTY: _JOINED, _DEAD: _REMOVED}),
        _COMPLETING: MappingProxyType(
            {
                _STABLE: frozenset({Cause.ASSIGNED}),
                _PREPARING: _DISTURBED | {Cause.NOT_STORED},
                _DEAD: _REMOVED,
            }
        ),
        _STABLE: MappingProxyType({_PREPARING: _DISTURBED | {Cause.LEADER_JOINED}, _DEAD: _REMOVED}),
        _DEAD: MappingProxyType({}),
    }
)
"""The states that may follow each state, with the causes that lead there."""

_NONE: Final = ErrorCode.NONE
_UNKNOWN: Final = ErrorCode.UNKNOWN_MEMBER_ID
_REBALANCE: Final = ErrorCode.REBALANCE_IN_PROGRESS

ANSWERS: Final[Mapping[int, Mapping[GroupState, int]]] = MappingProxyType(
    {
        ApiKey.HEARTBEAT: MappingProxyType(
            {_EMPTY: _UNKNOWN, _PREPARING: _REBALANCE, _COMPLETING: _NONE, _STABLE: _NONE, _DEAD: _UNKNOWN}
        ),
        ApiKey.SYNC_GROUP: MappingProxyType(
            {_EMPTY: _UNKNOWN, _PREPARING: _REBALANCE, _COMPLETING: _NONE, _STABLE: _NONE, _DEAD: _UNKNOWN}
        ),
        # The old generation may commit until the new one begins; a member of the new one has nothing to commit yet.
        ApiKey.OFFSET_COMMIT: MappingProxyType(
            {_EMPTY: _UNKNOWN, _PREPARING: _NONE, _COMPLETING: _REBALANCE, _STABLE: _NONE, _DEAD: _UNKNOWN}
        ),
    }
)
"""The error for a member of the present generation, by api key and state."""
