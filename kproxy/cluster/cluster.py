"""Builds one virtual cluster from its parts, starts it, and switches it to another upstream.

`kproxy.app.process` makes one for each configured virtual cluster when kproxy starts. The failover controller or a
reload switches it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from kproxy.cluster.destination import ClusterDestination
from kproxy.cluster.events import Events
from kproxy.cluster.failover_controller import FailoverController
from kproxy.cluster.failover_history import FailoverHistory
from kproxy.cluster.listeners import Listeners
from kproxy.cluster.nodes import Nodes
from kproxy.cluster.security import Security, read_security
from kproxy.cluster.topic_clients import topic_client
from kproxy.cluster.topology_reconciler import TopologyReconciler
from kproxy.cluster.upstreams import Upstream, Upstreams
from kproxy.observe.counters import ClusterCounters
from kproxy.observe.faults import guarded, supervised
from kproxy.observe.troubles import Where
from kproxy.producers.producer_ids import ProducerIds
from kproxy.protocol.connections import Connections
from kproxy.protocol.network import Networks
from kproxy.rebootstrap.actions import Cause
from kproxy.rebootstrap.service import RebootstrapService
from kproxy.routing.ports import claimed_by_others
from kproxy.state.restore import restored_value
from kproxy.state.store import MemoryStore, keep
from kproxy.topology.snapshot import Change, Snapshot

if TYPE_CHECKING:
    from kproxy.config import Config, VirtualCluster
    from kproxy.config.delivery import ToTopic
    from kproxy.coordinator.hosted_groups import HostedGroups
    from kproxy.relay.relay import Relay
    from kproxy.state.store import Store
    from kproxy.telemetry.client_telemetry import ClientTelemetry
    from kproxy.upstream.client import UpstreamClient


ACTIVE: Final = "upstream"
"""The state store's table of active upstreams, by virtual cluster: a restart does not send clients back."""


class Cluster:
    """One virtual cluster; `remember`, then `start` it."""

    def __init__(
        self, settings: VirtualCluster, config: Config, counters: ClusterCounters, connections: Connections
    ) -> None:
        """Raises `ConfigError` for TLS's files, and for settings that only the telemetry libraries can check."""
        index = config.clusters.index(settings)
        self.settings = settings
        self.config = config
        self.counters = counters
        self.siblings: Mapping[str, Cluster] = {}
        """All virtual clusters by name; empty until all of them are made."""
        self._troubles = counters.troubles
        self.events = Events(settings.name, self._troubles)
        self.telemetry = self._telemetry(index)
        counters.telemetry = None if self.telemetry is None else self.telemetry.counters
        self.groups = self._groups(index)
        counters.groups = None if self.groups is None else self.groups.counters
        self.listeners = Listeners(settings, index, claimed_by_others(config, index))
        self.nodes = Nodes(self.listeners, counters)
        self.rebootstrap = RebootstrapService(
            counters,
            connections,
            self.events.record,
            floor=config.topology.epoch_floor,
            hides_topic_ids_from=settings.hides_topic_ids_from,
            serves_retired=lambda: self.serves_retired,
        )
        security = read_security(settings)
        self.upstreams = Upstreams(settings, config, counters, self._changed, self.nodes.reached, security.brokers)
        self._reconciler = TopologyReconciler(
            self.nodes, self.rebootstrap, counters, self.events, self.locate, self.begin_epoch
        )
        self.failover_controller = FailoverController(
            settings, self.upstreams, self.nodes, self.rebootstrap, self.events, self.switch, self.begin_epoch
        )
        self.destination = ClusterDestination(
            counters,
            self.upstreams,
            self.nodes,
            self.rebootstrap,
            {} if self.telemetry is None else self.telemetry.policies,
            {} if self.groups is None else self.groups.policies,
            security.clients,
            Networks(settings.proxy_protocol.networks),
            settings.max_connections,
        )
        self.secure(security)
        self._history = FailoverHistory(settings.name)
        self._store: Store = MemoryStore()
        self._key = f"clusters.{index}"
        self._work: trio.Nursery
        self._locate(None)

    def _telemetry(self, index: int) -> ClientTelemetry | None:
        if self.settings.telemetry is None:
            return None
        from kproxy.telemetry.client_telemetry import ClientTelemetry  # noqa: PLC0415 (70 ms, 10 MB)

        return ClientTelemetry(self.settings.name, index, self.config, self.connected, self._troubles)

    def _groups(self, index: int) -> HostedGroups | None:
        if not self.settings.groups:
            return None
        from kproxy.coordinator.hosted_groups import HostedGroups  # noqa: PLC0415 (its codecs take 30 ms)

        return HostedGroups(
            self.settings.name,
            self.settings.groups,
            f"clusters.{index}",
            self.events.report,
            self._troubles,
        )

    def _changed(self, snapshot: Snapshot, change: Change) -> None:
        self._reconciler.changed(snapshot, change)

    def connected(self, topic: ToTopic) -> UpstreamClient:
        """Return a client of the topic's Kafka cluster.

        The topic names its servers, or a virtual cluster that has it on its active upstream; by default this one has.
        """
        named = self.siblings.get(topic.cluster or self.settings.name, self)
        if topic.bootstrap_servers:
            return topic_client(topic, self.config, self._troubles)
        return named.upstreams.active.new_client()

    async def remember(self, store: Store, work: trio.Nursery) -> None:
        """Restore what was active before a restart: the upstream, the failover history, the telemetry subscriptions.

        Raises `StateError`.
        """
        self._store = store
        key = self.settings.name
        name = await restored_value(store, ACTIVE, key, await store.get(ACTIVE, key), lambda _, value: value.decode())
        if name in self.upstreams.all:
            self.upstreams.active = self.upstreams.all[name]
            self.failover_controller.reconfigure(self.settings)
        await self._history.remember(store)
        self._locate(None)
        if self.telemetry is not None:
            await self.telemetry.start(work, store)
        if self.groups is not None:
            await self.groups.remember(store, work)

    def start(self, work: trio.Nursery, listening: trio.Nursery, relay: Relay) -> None:
        """Bind what can be bound now, accept clients, and begin to watch the upstream; raises `ConfigError`."""
        self._work = work
        self.listeners.start(self.destination, work, listening, relay)
        self.nodes.bind(self.settings, self._key)
        self._activate(self.upstreams.active, None)
        self._supervise(Where.RETIRED_NODES, lambda: self.nodes.expire(lambda: self.config.topology.grace))
        self._supervise(Where.UNMAPPED_NODES, lambda: self.nodes.seek_ports(lambda: self.upstreams.watcher.snapshot))
        self._supervise(Where.FAILOVER, self.failover_controller.watch)
        if self.groups is not None:
            self._supervise(Where.GROUPS, self.groups.run)

    def _supervise(self, where: Where, work: Callable[[], Awaitable[None]]) -> None:
        self._work.start_soon(supervised, self._troubles, where, work)

    def _keep(self, keep: Callable[[], Awaitable[None]]) -> None:
        """Store something in a task."""
        self._work.start_soon(guarded, self._troubles, Where.STATE, keep)

    @property
    def epoch(self) -> int:
        """The number of the present topology, which clients should know."""
        return self.rebootstrap.epoch.number

    @property
    def serves_retired(self) -> bool:
        """Whether a retired node's port leads to any node of the present topology."""
        return self.config.topology.retired == "serve" and not self.listeners.closing

    @property
    def producer_ids(self) -> ProducerIds | None:
        """How producer ids of several Kafka clusters are kept apart; None while they never were."""
        record = self._history.record
        if not record.separates:
            return None
        issues = self.settings.separates_producer_ids
        return ProducerIds(self.upstreams.active.name, record.failovers, record.returned, issues)

    def switch(self, upstream: Upstream, snapshot: Snapshot | None, cause: Cause) -> int:
        """Send clients to another upstream cluster; return how many connections are notified or closed.

        The epoch's floor must have passed. Without a snapshot no node of the upstream is known yet.
        """
        previous = self.upstreams.active
        self._activate(upstream, snapshot)
        self._keep(partial(keep, self._store, ACTIVE, self.settings.name, upstream.name.encode()))
        self.locate(snapshot, moved=True)
        self.nodes.renew(snapshot)
        for cluster in (self, *self.siblings.values()):
            if cluster.telemetry is not None:
                cluster.telemetry.moved()
        return self.begin_epoch(cause, previous_upstream=previous.name)

    def _activate(self, upstream: Upstream, snapshot: Snapshot | None) -> None:
        self._reconciler.start(self._work, snapshot)
        self.upstreams.activate(upstream, snapshot, self._work)

    def serve(self) -> None:
        """Apply the settings and the failover history to connections from now on."""
        self.destination.serve(self.producer_ids, retired=self.serves_retired)

    def locate(self, snapshot: Snapshot | None, *, moved: bool = False) -> None:
        """Note the cluster that clients are at, None if unknown. `moved`: they came from another upstream."""
        if self._locate(snapshot, moved=moved):
            self._keep(partial(self._history.keep, self._store))

    def _locate(self, snapshot: Snapshot | None, *, moved: bool = False) -> bool:
        cluster_id = None if snapshot is None else snapshot.cluster_id
        separates = self.settings.separates_producer_ids
        changed = self._history.see(cluster_id, self.upstreams.active.name, separates=separates, moved=moved)
        self.serve()
        return changed

    def begin_epoch(
        self,
        cause: Cause,
        *,
        previous_upstream: str | None = None,
        cluster_id: str | None = None,
        previous_cluster_id: str | None = None,
    ) -> int:
        """Begin a new epoch, once the floor has passed; return how many connections are notified or closed."""
        if self.groups is not None:
            elsewhere = previous_upstream is not None or previous_cluster_id is not None
            (self.groups.change_cluster if elsewhere else self.groups.send_away)()
        return self.rebootstrap.begin_epoch(
            cause,
            self._work,
            self.upstreams.active.name,
            previous_upstream=previous_upstream,
            cluster_id=cluster_id,
            previous_cluster_id=previous_cluster_id,
        )

    async def leave(self, seconds: float) -> None:
        """Send all clients to sibling replicas within `seconds`; new clients at the nodes' ports are sent at once."""
        self.listeners.leave()
        self.serve()
        await self.rebootstrap.spread(seconds)

    def adopt(self, config: Config) -> None:
        """Apply the process-wide settings that concern this cluster."""
        self.config = config
        self.serve()
        self.rebootstrap.epoch.floor = config.topology.epoch_floor
        self.upstreams.adopt(config)

    def secure(self, security: Security) -> None:
        """Use what TLS's files say now, for new connections."""
        self.security = security
        self.counters.certificates = {setting: found.ends for setting, found in security.validities.items()}
        self.destination.tls = security.clients
        for name, upstream in self.upstreams.all.items():
            upstream.tls = security.brokers[name]

    def reconfigure(self, settings: VirtualCluster, upstreams: dict[str, Upstream]) -> None:
        """Apply new settings and the upstream clusters that they name; the active one stays until a switch.

        When it is not among them, the caller switches at once. It reconfigures `failover_controller` last.
        """
        self.settings, self.upstreams.all = settings, upstreams
        self.destination.balancers = Networks(settings.proxy_protocol.networks)
        self.destination.max_connections = settings.max_connections
        for backend in settings.backends:
            upstreams[backend.name].identify(backend)
        self.locate(None)
        if self.telemetry is not None and settings.telemetry is not None:
            self.telemetry.reconfigure(settings.telemetry)
        if self.groups is not None and settings.groups:
            self.groups.reconfigure(settings.groups)
