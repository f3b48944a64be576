"""What the watcher finds out about the active backend, made known to clients: by new metadata, or by a new epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from kproxy.rebootstrap.epoch import cause_of
from kproxy.topology.snapshot import Change, Snapshot, diff

if TYPE_CHECKING:
    from kproxy.cluster.cluster import Cluster


class TopologyReconciler:
    """Of one virtual cluster. A change that needs a new epoch waits for the floor, and is then looked at again."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._last: Snapshot | None = None
        self._before: Snapshot | None = None  # what clients know, while a new epoch waits for the floor

    def begin(self, snapshot: Snapshot | None) -> None:
        """Another backend, as far as it is known: what was found out about the one before no longer counts."""
        self._last, self._before = snapshot, None

    def changed(self, snapshot: Snapshot, change: Change) -> None:
        """As the watcher calls it."""
        known, self._last = self._last, snapshot
        if known is not None:
            self._record(snapshot, change)
        if self._before is not None:
            return
        if known is None or cause_of(change) is None:
            self._cluster.locate(snapshot)
            self._cluster.nodes.follow(snapshot, change)
        else:
            self._before = known
            self._cluster.work.start_soon(self._settle, known)

    async def _settle(self, before: Snapshot) -> None:
        """Begin a new epoch as soon as the floor allows, if there is still a reason for it."""
        await trio.sleep(self._cluster.rebootstrap.wait(trio.current_time()))
        snapshot = self._last
        if self._before is not before or snapshot is None:  # a switch was faster
            return
        self._before = None
        change = diff(before, snapshot)
        if cause := cause_of(change):
            self._cluster.nodes.renew(snapshot)
            self._cluster.locate(snapshot)
            self._cluster.renew(cause, cluster_id=snapshot.cluster_id, previous=before.cluster_id)
        else:
            self._cluster.nodes.follow(snapshot, change)

    def _record(self, snapshot: Snapshot, change: Change) -> None:
        kinds = {"added": change.added, "gone": change.removed, "moved": change.moved}
        counted = self._cluster.counters.changes
        for kind, nodes in kinds.items():
            counted[kind] += len(nodes)
        counted["cluster"] += change.cluster_changed
        shown = {kind: " ".join(str(node.id) for node in nodes) for kind, nodes in kinds.items() if nodes}
        cluster_id = {"cluster_id": snapshot.cluster_id} if change.cluster_changed else {}
        self._cluster.events.record("topology changed", **shown, **cluster_id)
