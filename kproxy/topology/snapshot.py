# This module is pure (no I/O, no clock).
"""A snapshot is what an upstream cluster looks like at one moment; a change is the difference between two.

The watcher makes a snapshot of each Metadata response that it polls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from kproxy.errors import UpstreamError
from kproxy.upstream.responses import check
from kproxy.wire.generated.metadata_response import MetadataResponse


class Node(NamedTuple):
    """A broker as the cluster itself names it; `host:port` is the upstream address, not the advertised one."""

    id: int
    host: str
    port: int
    rack: str | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        return self.host, self.port

    @property
    def usable(self) -> bool:
        """True when the node can be dialled: a broker may announce a listener that has no address."""
        return self.id >= 0 and bool(self.host) and 0 < self.port < 2**16


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A cluster's id, controller and nodes by id; never changed, only replaced.

    Under KRaft a broker names a random node as controller, so `controller_id` says little and is no change by itself.
    """

    cluster_id: str | None
    controller_id: int | None
    nodes: Mapping[int, Node]

    @classmethod
    def of(cls, nodes: Iterable[Node], cluster_id: str | None = None, controller_id: int | None = None) -> Snapshot:
        """Return a snapshot of the nodes that can be dialled, in the order of their ids."""
        by_id = {node.id: node for node in sorted(nodes, key=itemgetter(0)) if node.usable}
        return cls(cluster_id, controller_id, MappingProxyType(by_id))


class Replacement(StrEnum):
    """A change after which clients cannot find the cluster by what they know of it."""

    CLUSTER_CHANGED = "cluster_changed"
    """Another cluster id behind the same bootstrap servers."""
    ALL_NODES_REPLACED = "all_nodes_replaced"
    """No node that a client can know is left."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a new snapshot changed; false when nothing. Only `removed` has the nodes as the old snapshot names them.

    `all_replaced`: both snapshots have nodes, and no id that a client can know is left.
    """

    added: tuple[Node, ...] = ()
    removed: tuple[Node, ...] = ()
    moved: tuple[Node, ...] = ()
    cluster_changed: bool = False
    all_replaced: bool = False

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.moved or self.cluster_changed)

    @property
    def replacement(self) -> Replacement | None:
        """What replaced the topology; None when nodes only came, went or moved, which clients learn from metadata."""
        if self.cluster_changed:
            return Replacement.CLUSTER_CHANGED
        return Replacement.ALL_NODES_REPLACED if self.all_replaced else None


def diff(old: Snapshot | None, new: Snapshot) -> Change:
    """Return what `new` changes; without an old snapshot, every node is added."""
    if old is None:
        return Change(added=tuple(new.nodes.values()))
    return Change(
        added=tuple(node for node in new.nodes.values() if node.id not in old.nodes),
        removed=tuple(node for node in old.nodes.values() if node.id not in new.nodes),
        moved=tuple(node for node in new.nodes.values() if _moved(old.nodes.get(node.id), node)),
        cluster_changed=another_cluster(old.cluster_id, new.cluster_id),
        all_replaced=bool(old.nodes and new.nodes) and old.nodes.keys().isdisjoint(new.nodes),
    )


def _moved(old: Node | None, new: Node) -> bool:
    return old is not None and old.address != new.address


def another_cluster(known: str | None, reported: str | None) -> bool:
    """True when both ids are known and differ. Brokers before Metadata v2 give no id: None is of no other cluster."""
    return None not in (known, reported) and known != reported


def from_metadata(response: MetadataResponse) -> Snapshot:
    """Return the cluster as Metadata shows it.

    Raises UpstreamError for an error, and when no broker can be dialled: neither may replace a good snapshot, since
    clients would lose every address that they have.
    """
    check("Metadata", response.error_code, said="the broker's log has the reason")
    nodes = [Node(broker.node_id, broker.host, broker.port, broker.rack) for broker in response.brokers]
    controller_id = response.controller_id if response.controller_id >= 0 else None
    snapshot = Snapshot.of(nodes, response.cluster_id, controller_id)
    if not snapshot.nodes:
        raise UpstreamError(
            f"Metadata names no broker that can be dialled ({len(nodes)} in all); check advertised.listeners"
        )
    return snapshot
