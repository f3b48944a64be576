"""The switches of one virtual cluster from one upstream to another: one at a time, never two within the epoch's floor.

An operator's command, the automatic failover and another replica's order each switch through it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import structlog
import trio

from kproxy.errors import ConflictError, KproxyError, RetryLaterError
from kproxy.rebootstrap.actions import Cause
from kproxy.routing.places import NoPortError
from kproxy.topology.failover import Failover

if TYPE_CHECKING:
    from kproxy.agreement.failover_record import FailoverRecord
    from kproxy.agreement.order import Order
    from kproxy.cluster.failover_history import FailoverHistory
    from kproxy.cluster.nodes import Nodes
    from kproxy.cluster.upstreams import Upstream, Upstreams
    from kproxy.config import VirtualCluster
    from kproxy.rebootstrap.service import RebootstrapService
    from kproxy.topology.snapshot import Snapshot

log = structlog.get_logger("kproxy.cluster")

Switch = Callable[["Upstream", "Snapshot | None", Cause, "FailoverRecord | None"], int]
"""Sends all clients to an upstream cluster; returns how many connections are notified or closed.

The record is the stay there as replicas have agreed to count it; None where each counts for itself.
"""


class Orders(Protocol):
    """Agrees with other replicas, see `kproxy.cluster.agreement`."""

    @property
    def pending(self) -> Order | None:
        """The newest order, as long as it is not in force here."""

    def doubt(self, upstream: str) -> str | None:
        """Return why an order to switch there could not be written now, as far as it is known."""

    async def order_pending(self) -> Order:
        """Wait for an order that is not in force here."""

    async def give(self, upstream: str, stay: FailoverRecord, cause: str, *, force: bool) -> Order:
        """Give an order; raises ConflictError."""

    async def follow(self, order: Order) -> None:
        """Note that an order is in force here."""


class Switches:
    """Switches, and remembers when it did, so that no automatic one follows too soon."""

    def __init__(
        self,
        settings: VirtualCluster,
        upstreams: Upstreams,
        nodes: Nodes,
        rebootstrap: RebootstrapService,
        history: FailoverHistory,
        switch: Switch,
        orders: Orders | None = None,
    ) -> None:
        """`orders` are None where each replica is switched for itself."""
        self.orders = orders
        self.under_way = False
        """Whether somebody has begun what `alone` holds."""
        self._cluster = settings.name
        self._upstreams = upstreams
        self._nodes = nodes
        self._rebootstrap = rebootstrap
        self._history = history
        self._switch = switch
        self.failover = Failover(len(upstreams.all))
        self.reconfigure(settings)

    def reconfigure(self, settings: VirtualCluster) -> None:
        """Apply new settings; what was observed so far no longer counts, but when the last switch was does."""
        self._settings = settings
        switched_at = self.failover.switched_at
        self.failover = Failover(
            len(self._upstreams.all),
            automatic=settings.failover.automatic,
            after=settings.failover.after,
            floor=settings.failover.floor,
            active=list(self._upstreams.all).index(self._upstreams.active.name),
        )
        self.failover.switched_at = switched_at

    def remember(self, ordered_at: float | None) -> None:
        """Have `failover.floor` begin where it did before a restart: at the last switch, or order, if that was later.

        Both by the wall clock, in seconds since the Unix epoch. A time to come counts as now.
        """
        at = max(self._history.switched_at or 0.0, ordered_at or 0.0)
        if at:
            self.failover.switched_at = trio.current_time() - max(0.0, time.time() - at)

    @property
    def wait(self) -> float:
        """The seconds until the next one may be; 0 when it may be now."""
        return self._rebootstrap.wait(trio.current_time())

    def check_floor(self) -> None:
        """Raise `RetryLaterError` when the last change was too short a time ago."""
        if wait := self.wait:
            raise RetryLaterError("the topology changed less than topology.epoch_floor ago", wait)

    @contextmanager
    def alone(self, *, at_once: bool = True) -> Iterator[None]:
        """Let nobody else switch meanwhile; raise `RetryLaterError` when somebody does, or `at_once` it is too soon."""
        if self.under_way:
            raise RetryLaterError("a switch is under way", 1.0)
        if at_once:
            self.check_floor()
        self.under_way = True
        try:
            yield
        finally:
            self.under_way = False

    def is_known(self, upstream: Upstream) -> bool:
        """False where a reload has come while the upstream was asked, and has made others."""
        return self._upstreams.all.get(upstream.name) is upstream

    def no_ports(self, snapshot: Snapshot | None) -> KproxyError | None:
        """Return why some of the nodes would have no port; None when all of them have one."""
        with self._nodes.reserved(() if snapshot is None else snapshot.nodes) as problems:
            return NoPortError.of_all(problems) if problems else None

    async def ordered(self, upstream: Upstream, snapshot: Snapshot | None, cause: str, *, force: bool) -> Order | None:
        """Have all replicas switch, where they agree; raises ConflictError."""
        if self.orders is None:
            return None
        cluster_id = None if snapshot is None else snapshot.cluster_id
        separates = self._settings.separates_producer_ids
        stay = self._history.next_stay(cluster_id, upstream.name, separates=separates)
        order = await self.orders.give(upstream.name, stay, cause, force=force)
        if not self.is_known(upstream):
            raise ConflictError(
                f"a reload has changed the upstream clusters meanwhile; the order to switch to {upstream.name} is "
                "given, and all replicas follow it"
            )
        return order

    async def switch(self, upstream: Upstream, snapshot: Snapshot | None, order: Order | None) -> int:
        """Send all clients there, `order` being in force; return how many connections are notified or closed."""
        cluster_id = self._upstreams.cluster_id
        if snapshot is not None and cluster_id is not None and snapshot.cluster_id == cluster_id:
            log.warning("the same cluster id behind both", cluster=self._cluster, to=upstream.name)
        self.failover.switched(list(self._upstreams.all.values()).index(upstream), trio.current_time())
        self._history.switched_at = time.time()
        with self._nodes.reserved(() if snapshot is None else snapshot.nodes):
            moved = self._switch(upstream, snapshot, Cause.FAILOVER, None if order is None else order.stay)
        if order is not None and self.orders is not None:
            await self.orders.follow(order)
        return moved
