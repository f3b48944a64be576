# This module is pure.
"""Rebootstrap in a few words: what a client asked, what it gets, and why the topology's epoch rose."""

from __future__ import annotations

from enum import StrEnum


class Trigger(StrEnum):
    """What a client does that may be the moment to tell it."""

    HELLO = "hello"
    """ApiVersions, where the client means this cluster and node, or does not say which."""
    ELSEWHERE = "elsewhere"
    """ApiVersions v5 that means another cluster or node (KIP-1242)."""
    METADATA = "metadata"
    """Metadata v13 or later, whose response can say it (KIP-1102)."""
    COORDINATOR = "coordinator"
    """What a group's member asks its coordinator, whose response can say that it is none."""
    OFFSETS = "offsets"
    """OffsetFetch: the offsets that a group has committed."""


class Action(StrEnum):
    """What a client gets; all but SERVE are counted and end its connection."""

    SERVE = "serve"
    """What it asked for."""
    NOTIFY = "129"
    """REBOOTSTRAP_REQUIRED, flushed, then the connection is closed."""
    CLOSE = "close"
    """The connection is closed: the client is told elsewhere, or finds out by itself (KIP-899)."""
    REFUSE = "refuse"
    """A retired node's listener closes at once."""
    NOT_COORDINATOR = "16"
    """NOT_COORDINATOR in the group's own response, flushed, then the connection is closed."""


class Cause(StrEnum):
    """Why an epoch rose."""

    CLUSTER_CHANGED = "cluster_changed"
    """Another cluster id behind the same bootstrap servers."""
    ALL_NODES_REPLACED = "all_nodes_replaced"
    """No node that a client can know is left."""
    CONFIG = "config"
    """A reload changed the mapping or the bootstrap servers."""
    OPERATOR = "operator"
    """Somebody asked for it."""
    FAILOVER = "failover"
    """The virtual cluster has another upstream cluster."""
    DRAIN = "drain"
    """This replica ends, and its siblings go on."""
