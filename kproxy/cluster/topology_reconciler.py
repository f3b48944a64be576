"""Passes each change that the watcher finds on to clients: by new metadata, or by a new epoch.

The active upstream's watcher calls `changed` after each poll that shows a change. A new epoch makes all clients
bootstrap again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import trio

from kproxy.observe.events import TopologyChanged
from kproxy.observe.faults import supervised
from kproxy.observe.troubles import Where
from kproxy.rebootstrap.actions import Cause
from kproxy.rebootstrap.epoch import cause_of
from kproxy.topology.snapshot import Change, Snapshot, another_cluster, diff

if TYPE_CHECKING:
    from kproxy.cluster.events import Events
    from kproxy.cluster.nodes import Nodes
    from kproxy.observe.counters import ClusterCounters
    from kproxy.rebootstrap.service import RebootstrapService

Locate = Callable[[Snapshot], None]
"""Takes the snapshot of the cluster that clients are at from now on."""


class BeginEpoch(Protocol):
    """Raises the epoch; returns how many connections are notified or closed."""

    def __call__(self, cause: Cause, *, cluster_id: str | None, previous_cluster_id: str | None) -> int: ...


class TopologyReconciler:
    """Handles a virtual cluster's changes. One that needs a new epoch waits for the floor, then is checked again."""

    def __init__(
        self,
        nodes: Nodes,
        rebootstrap: RebootstrapService,
        counters: ClusterCounters,
        events: Events,
        arrive: Locate,
        locate: Locate,
        begin_epoch: BeginEpoch,
    ) -> None:
        """`arrive` is called in place of `locate` for an upstream cluster's first snapshot."""
        self._nodes = nodes
        self._rebootstrap = rebootstrap
        self._counters = counters
        self._events = events
        self._arrive = arrive
        self._locate = locate
        self._begin_epoch = begin_epoch
        self._work: trio.Nursery
        self._last: Snapshot | None = None
        self._before: Snapshot | None = None
        """The snapshot that clients know while a new epoch waits for the floor; None while none waits."""

    def start(self, work: trio.Nursery, snapshot: Snapshot | None) -> None:
        """Begin with another upstream cluster, and forget what was found out about the previous one."""
        self._work = work
        self._last, self._before = snapshot, None

    @property
    def awaits_another_cluster(self) -> bool:
        """Whether clients are to be sent to another Kafka cluster as soon as the floor allows."""
        before, last = self._before, self._last
        return before is not None and last is not None and another_cluster(before.cluster_id, last.cluster_id)

    def changed(self, snapshot: Snapshot, change: Change) -> None:
        """Handle a change, or that there is none although a passing response showed one; the watcher calls this."""
        known, self._last = self._last, snapshot
        if known is not None and change:
            self._record(snapshot, change)
        if self._before is not None:
            return
        if known is None or cause_of(change) is None:
            (self._arrive if known is None else self._locate)(snapshot)
            self._nodes.follow(snapshot, change)
        else:
            self._before = known
            self._work.start_soon(supervised, self._counters.troubles, Where.TOPOLOGY, self._settle, known)

    async def _settle(self, before: Snapshot) -> None:
        """Begin a new epoch as soon as the floor allows, if there is still a reason for it."""
        while wait := self._rebootstrap.wait(trio.current_time()):  # noqa: ASYNC110 (a reload may change the floor)
            await trio.sleep(wait)
        snapshot = self._last
        if self._before is not before or snapshot is None:  # a switch was faster
            return
        change = diff(before, snapshot)
        if cause := cause_of(change):
            self._nodes.renew(snapshot)
            self._locate(snapshot)
            self._begin_epoch(cause, cluster_id=snapshot.cluster_id, previous_cluster_id=before.cluster_id)
        else:
            self._nodes.follow(snapshot, change)
        self._before = None  # last: after a fault all of it is tried again

    def _record(self, snapshot: Snapshot, change: Change) -> None:
        kinds = {"added": change.added, "gone": change.removed, "moved": change.moved}
        counted = self._counters.changes
        for kind, nodes in kinds.items():
            counted[kind] += len(nodes)
        counted["cluster"] += change.cluster_changed
        ids = {kind: tuple(node.id for node in nodes) for kind, nodes in kinds.items()}
        cluster_id = snapshot.cluster_id if change.cluster_changed else None
        self._events.record(TopologyChanged(cluster_id, ids["added"], ids["gone"], ids["moved"]))
