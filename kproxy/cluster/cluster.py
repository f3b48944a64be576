"""One virtual cluster at work: what it is made of, how it starts, and what happens when its topology changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import trio

from kproxy.cluster.destination import ClusterDestination
from kproxy.cluster.events import Events
from kproxy.cluster.failover_controller import FailoverController
from kproxy.cluster.failover_history import FailoverHistory
from kproxy.cluster.listeners import Listeners
from kproxy.cluster.nodes import Nodes
from kproxy.cluster.topology_reconciler import TopologyReconciler
from kproxy.cluster.upstream import Upstream, client_of
from kproxy.observe.counters import ClusterCounters
from kproxy.producers.producer_ids import ProducerIds
from kproxy.rebootstrap.actions import Cause
from kproxy.rebootstrap.service import Rebootstrap
from kproxy.relay.acceptor import Acceptor
from kproxy.relay.pump import Pump
from kproxy.routing.claims import claimed_by_others
from kproxy.state.memory import MemoryStore
from kproxy.state.persist import keep
from kproxy.topology.snapshot import Snapshot
from kproxy.topology.watcher import Watcher

if TYPE_CHECKING:
    from kproxy.config import Config, VirtualCluster
    from kproxy.config.delivery import ToTopic
    from kproxy.relay.connection import Connection
    from kproxy.state.interface import Store
    from kproxy.telemetry.client_telemetry import ClientTelemetry
    from kproxy.upstream.client import UpstreamClient


ACTIVE: Final = "upstream"
"""The table of which upstream cluster is active, by virtual cluster: a restart does not send clients back."""


class Cluster:
    """`active` is the upstream cluster that clients reach at the moment, by the relay's `destination`."""

    def __init__(self, settings: VirtualCluster, config: Config, counters: ClusterCounters, pump: Pump) -> None:
        index = config.clusters.index(settings)
        self.settings = settings
        self.config = config
        self.counters = counters
        self.events = Events(settings.name)
        self.siblings: Mapping[str, Cluster] = {}  # all virtual clusters by name, once they are made
        self.telemetry = self._telemetry(index)
        counters.telemetry = None if self.telemetry is None else self.telemetry.counters
        self.destination = ClusterDestination(self, {} if self.telemetry is None else self.telemetry.policies)
        self.listeners = Listeners(settings, index, claimed_by_others(config, index))
        self.nodes = Nodes(self.listeners, counters)
        self._following = TopologyReconciler(self)
        self.backends = self.made(settings, config)
        self.active = next(iter(self.backends.values()))
        self._history = FailoverHistory(settings.name)
        self.rebootstrap = Rebootstrap(self, config.topology.epoch_floor, pump.part)
        self._pump = pump
        self.failover_controller = FailoverController(self)
        self.work: trio.Nursery
        self._store: Store = MemoryStore()
        self._key = f"clusters.{index}"
        self._locate(None)

    def _telemetry(self, index: int) -> ClientTelemetry | None:
        if self.settings.telemetry is None:
            return None
        from kproxy.telemetry.client_telemetry import ClientTelemetry  # noqa: PLC0415 (70 ms, 10 MB)

        return ClientTelemetry(self.settings.name, index, self.config, self.connected)

    def connected(self, topic: ToTopic) -> UpstreamClient:
        """A client of the cluster that has the topic: by servers, by a virtual cluster's name, or its own."""
        named = self.siblings.get(topic.cluster or self.settings.name, self)
        servers = [(server.host, server.port) for server in topic.bootstrap_servers] or named.active.servers
        return client_of(servers, self.config)

    def made(self, settings: VirtualCluster, config: Config) -> dict[str, Upstream]:
        """The upstream clusters that the settings name, in order of preference."""
        return {
            backend.name: Upstream(backend, config, settings.name, self._following.changed, self.nodes.reached)
            for backend in settings.backends
        }

    async def remember(self, store: Store, work: trio.Nursery) -> None:
        """What was the case before a restart: which upstream cluster was active, what was subscribed.

        Raises `StateError`.
        """
        self._store = store
        if (name := await store.get(ACTIVE, self.settings.name)) and name.decode() in self.backends:
            self.active = self.backends[name.decode()]
            self.failover_controller.reconfigure()
        await self._history.remember(store)
        self._locate(None)
        if self.telemetry is not None:
            await self.telemetry.start(work, store)

    def start(self, work: trio.Nursery, listeners: trio.Nursery, acceptor: Acceptor) -> None:
        """Bind what can be bound now, accept clients, and begin to watch the backend; raises `ConfigError`."""
        self.work = work
        self.listeners.start(self.destination, work, listeners, acceptor)
        self.nodes.bind(self.settings, self._key)
        self._activate(self.active, None)
        work.start_soon(self.nodes.expire, lambda: self.config.topology.grace)
        work.start_soon(self.nodes.seek_ports, lambda: self.watcher.snapshot)
        work.start_soon(self.failover_controller.watch)

    @property
    def listen(self) -> tuple[str, int]:
        """The bootstrap listener's host and port, once it is bound."""
        return self.listeners.listen

    @property
    def watcher(self) -> Watcher:
        """The active upstream cluster's."""
        return self.active.watcher

    @property
    def epoch(self) -> int:
        """The number of the topology that clients are to know."""
        return self.rebootstrap.epoch.number

    @property
    def cluster_id(self) -> str | None:
        """The active cluster's id; None while it is not known, or in doubt: nobody is misdirected by either then."""
        return None if self.watcher.snapshot is None or self.watcher.doubted else self.watcher.snapshot.cluster_id

    @property
    def serves_retired(self) -> bool:
        """Whether a retired node's port leads to any node of the present topology."""
        return self.config.topology.retired == "serve" and not self.listeners.closing

    @property
    def producer_ids(self) -> ProducerIds | None:
        """How producer ids are kept apart from those of other Kafka clusters; None where they never were."""
        stay = self._history.stay
        if not stay.separates:
            return None
        issues = self.settings.separates_producer_ids
        return ProducerIds(self.active.name, stay.failovers, stay.returned, issues)

    def connections(self) -> Iterable[Connection]:
        """Its connections that are relayed at the moment."""
        return [one for one in self._pump.connections.values() if one.context.backend is self.destination]

    def switch(self, upstream: Upstream, snapshot: Snapshot | None, cause: Cause) -> int:
        """Send clients to another upstream cluster; returns how many connections are told or closed.

        The epoch's floor must have passed. Without a snapshot nothing is known of it, and all its nodes are news.
        """
        previous = self.active
        previous.stop()
        self._activate(upstream, snapshot)
        self.work.start_soon(keep, self._store, ACTIVE, self.settings.name, upstream.name.encode())
        self.locate(snapshot, moved=True)
        self.nodes.renew(snapshot)
        for cluster in (self, *self.siblings.values()):
            if cluster.telemetry is not None:
                cluster.telemetry.moved()
        return self.renew(cause, upstream=upstream.name, previous=previous.name)

    def serve(self) -> None:
        """What connections from now on get is what the settings and the stay say."""
        self.destination.serve(retired=self.serves_retired)

    def locate(self, snapshot: Snapshot | None, *, moved: bool = False) -> None:
        """Clients are at the snapshot's cluster, None where it is not known; `moved` there from another upstream."""
        if self._locate(snapshot, moved=moved):
            self.work.start_soon(self._history.keep, self._store)

    def _locate(self, snapshot: Snapshot | None, *, moved: bool = False) -> bool:
        cluster_id = None if snapshot is None else snapshot.cluster_id
        separates = self.settings.separates_producer_ids
        changed = self._history.see(cluster_id, self.active.name, separates=separates, moved=moved)
        self.serve()
        return changed

    def renew(self, cause: Cause, **fields: object) -> int:
        """A new epoch, whose floor has passed; returns how many connections are told or closed."""
        return self.rebootstrap.begin(cause, self.work, **fields)

    async def leave(self, seconds: float) -> None:
        """Send all clients to sibling replicas in that time; one that comes to a node meanwhile is sent at once."""
        self.listeners.leave()
        self.serve()
        await self.rebootstrap.spread(seconds)

    def adopt(self, config: Config) -> None:
        """What it takes from the whole process' settings."""
        self.config = config
        self.serve()
        self.rebootstrap.epoch.floor = config.topology.epoch_floor
        for upstream in self.backends.values():
            upstream.adopt(config)

    def reconfigure(self, settings: VirtualCluster, backends: dict[str, Upstream]) -> None:
        """Other settings, and the upstream clusters that they name; the active one stays until a switch.

        That may have to follow at once, where it is none of these: `switching` is to be told afterwards.
        """
        self.settings, self.backends = settings, backends
        self.locate(None)
        if self.telemetry is not None and settings.telemetry is not None:
            self.telemetry.reconfigure(settings.telemetry)

    def _activate(self, upstream: Upstream, snapshot: Snapshot | None) -> None:
        self.active = upstream
        self._following.begin(snapshot)
        self.counters.upstreams = dict.fromkeys(self.backends, False)
        self.counters.activate(upstream.name)
        upstream.start(self.work, snapshot)
