# This module is pure (no I/O, no clock).
"""The terms of a rebootstrap: what a client asked, what it gets, and why the topology's epoch rose.

A virtual cluster's epoch rises when its clients must bootstrap again, for instance at a failover. Only names are here:
`RebootstrapService` gets or returns them at each decision and each rise.
"""

from __future__ import annotations

from enum import StrEnum


class Trigger(StrEnum):
    """What a client asks when kproxy may have to notify it."""

    HELLO = "hello"
    """ApiVersions that names this cluster and node, or none."""
    ELSEWHERE = "elsewhere"
    """ApiVersions v5 that names another cluster or node (KIP-1242)."""
    METADATA = "metadata"
    """Metadata v13 or later: the response can carry 129 (KIP-1102)."""
    COORDINATOR = "coordinator"
    """A group member's request to its coordinator: the response can carry NOT_COORDINATOR."""
    OFFSETS = "offsets"
    """OffsetFetch: the offsets that a group has committed."""


class Action(StrEnum):
    """What a client gets. All actions but SERVE are counted and end its connection."""

    SERVE = "serve"
    """What it asked for."""
    NOTIFY = "129"
    """REBOOTSTRAP_REQUIRED, flushed, then the connection is closed."""
    CLOSE = "close"
    """The connection is closed: the client is notified elsewhere, or finds out by itself (KIP-899)."""
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
    """An operator asked for it."""
    FAILOVER = "failover"
    """The virtual cluster has switched to another upstream cluster."""
    DRAIN = "drain"
    """This replica ends, and its siblings continue."""


class Outcome(StrEnum):
    """What became of a group's member that was to leave the cluster that clients were sent away from."""

    LEFT = "left"
    """It left."""
    GONE = "gone"
    """Its coordinator did not know it any more."""
    REFUSED = "refused"
    """A broker answered with an error; the member stays until its session times out."""
    UNREACHABLE = "unreachable"
    """No answer came in time; the member stays until its session times out."""
