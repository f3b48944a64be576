"""Builds one virtual cluster from its parts, starts it, and switches it to another upstream.

`kproxy.app.process` makes one for each configured virtual cluster when kproxy starts. The failover controller or a
reload switches it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.agreement.failover_record import FailoverRecord
from kproxy.cluster.automatic_failover import AutomaticFailover
from kproxy.cluster.departures import Departures
from kproxy.cluster.destination import ClusterDestination
from kproxy.cluster.error_reports import ErrorReports
from kproxy.cluster.events import Events
from kproxy.cluster.failover_controller import FailoverController
from kproxy.cluster.failover_history import FailoverHistory
from kproxy.cluster.listeners import Listeners
from kproxy.cluster.nodes import Nodes
from kproxy.cluster.optional import agreement, client_telemetry, fault_injection, hosted_groups, places
from kproxy.cluster.order_follower import OrderFollower
from kproxy.cluster.security import Security, read_security
from kproxy.cluster.standbys import Standbys
from kproxy.cluster.switches import Switches
from kproxy.cluster.token_keys import TokenKeys
from kproxy.cluster.topic_clients import topic_client
from kproxy.cluster.topics_there import TopicsThere
from kproxy.cluster.topology_reconciler import TopologyReconciler
from kproxy.cluster.upstreams import Upstream, Upstreams
from kproxy.observe.counters import ClusterCounters
from kproxy.observe.faults import guarded, supervised
from kproxy.observe.troubles import Where
from kproxy.producers.producer_ids import ProducerIds
from kproxy.protocol.connections import Afterwards, Connections
from kproxy.protocol.network import Networks
from kproxy.quotas.byte_rates import ByteRates
from kproxy.quotas.connections import PrincipalConnections
from kproxy.rebootstrap.actions import Cause
from kproxy.rebootstrap.group_members import GroupMembers
from kproxy.rebootstrap.service import RebootstrapService
from kproxy.rebootstrap.topics_in_use import TopicsInUse
from kproxy.routing.ports import claimed_by_others
from kproxy.state.kept import Kept
from kproxy.state.restore import restored_value
from kproxy.state.store import MemoryStore
from kproxy.topology.snapshot import Change, Snapshot, another_cluster
from kproxy.transactions.transactional_ids import TransactionalIds

if TYPE_CHECKING:
    from kproxy.agreement.order import Order
    from kproxy.cluster.shared_ports import SharedPorts
    from kproxy.config import Config, VirtualCluster
    from kproxy.config.delivery import ToTopic
    from kproxy.relay.relay import Relay
    from kproxy.state.store import Store
    from kproxy.topology.standing import Look
    from kproxy.upstream.client import UpstreamClient


log = structlog.get_logger("kproxy.cluster")

ACTIVE: Final = "upstream"
"""The state store's table of active upstreams, by virtual cluster: a restart does not send clients back."""


class Cluster:
    """One virtual cluster; `remember`, then `start` it."""

    def __init__(
        self,
        settings: VirtualCluster,
        config: Config,
        counters: ClusterCounters,
        connections: Connections,
        security: Security | None = None,
    ) -> None:
        """`security` is what TLS's files say, read here where they were not before.

        Raises `ConfigError` for TLS's files, for settings that only the telemetry libraries can check, and for a
        ConfigMap outside Kubernetes."""
        index = config.clusters.index(settings)
        self.settings = settings
        self.config = config
        self.counters = counters
        self.siblings: Mapping[str, Cluster] = {}
        """All virtual clusters by name; empty until all of them are made."""
        self._troubles = counters.troubles
        self.events = Events(settings.name, self._troubles)
        self.telemetry = client_telemetry(settings, index, config, self.connected, self._troubles)
        counters.telemetry = None if self.telemetry is None else self.telemetry.counters
        self.groups = hosted_groups(settings, index, self.events.report, self._troubles)
        counters.groups = None if self.groups is None else self.groups.counters
        self.faults = fault_injection(settings, counters, connections, self.events.report)
        self.nodes = Nodes(Listeners(settings, index, claimed_by_others(config, index)), settings, counters)
        self.rebootstrap = RebootstrapService(
            counters,
            connections,
            self.events.record,
            floor=config.topology.epoch_floor,
            hides_topic_ids_from=settings.hides_topic_ids_from,
            serves_retired=lambda: self.serves_retired,
            has_moved=lambda: self._history.record.failovers > 0,
        )
        self._rates = ByteRates(settings.byte_rates)
        self._connections = PrincipalConnections(settings.max_connections_per_principal)
        security = security or read_security(settings)
        self.upstreams = Upstreams(
            settings, config, counters, self._changed, self.nodes.reached, self._looked, security.brokers
        )
        self._topics = TopicsInUse(time.monotonic)
        self.transactional_ids = counters.transactions = TransactionalIds()
        self.standbys = Standbys(self.upstreams, self.nodes, self.events, TopicsThere(self._topics))
        self._departures = Departures(
            GroupMembers(connections.numbers),
            counters,
            lambda group_id: self.groups is not None and self.groups.hosts(group_id),
        )
        self._reconciler = TopologyReconciler(
            self.nodes, self.rebootstrap, counters, self.events, self._arrive, self.locate, self.begin_epoch
        )
        if self.groups is not None:
            # Positions in one cluster are not to be committed in another before members have been fenced.
            self.groups.coordinator.in_doubt = self._is_in_doubt
        self._history = FailoverHistory(settings.name)
        self._groups_at = FailoverRecord()
        """Where the hosted groups of before a restart were, until the first snapshot shows where they are now."""
        self.agreement = agreement(settings, self.upstreams.all, self._troubles)
        self.switches = Switches(
            settings, self.upstreams, self.nodes, self.rebootstrap, self._history, self.switch, self.agreement
        )
        self.failover_controller = FailoverController(
            self.upstreams, self.standbys, self.nodes, self.switches, self.begin_epoch
        )
        self.automatic_failover = AutomaticFailover(self.upstreams, self.standbys, self.events, self.switches)
        self.destination = ClusterDestination(
            counters,
            self.upstreams,
            self.nodes,
            self.rebootstrap,
            {} if self.telemetry is None else self.telemetry.policies,
            {} if self.groups is None else self.groups.policies,
            {} if self.faults is None else self.faults.policies,
            self._rates,
            self._connections,
            self._departures.members,
            self._topics,
            self.transactional_ids,
            security.clients,
            Networks(settings.proxy_protocol.networks),
            settings.max_connections,
            self.events.report,
            ErrorReports(self.events.has_listener, self.events.report),
            authenticates=settings.authentication is not None,
        )
        self.token_keys = TokenKeys(self._troubles)
        self.secure(security)
        self.kept = Kept(MemoryStore())
        """What a restart must know."""
        self._key = f"clusters.{index}"
        self._work: trio.Nursery
        self._locate(None)

    def _changed(self, snapshot: Snapshot, change: Change) -> None:
        self._reconciler.changed(snapshot, change)

    def _is_in_doubt(self) -> bool:
        """Return whether another Kafka cluster may have taken the place of the one that clients know."""
        return self.upstreams.watcher.in_doubt or self._reconciler.awaits_another_cluster

    def _looked(self, upstream: Upstream, look: Look) -> None:
        self.standbys.looked(upstream, look)
        # While the poll failed for a reason of kproxy's own, or shows a cluster in doubt, nothing is probed.
        if upstream is self.upstreams.active and not look.own and upstream.watcher.unconfirmed is None:
            self.nodes.probed(upstream.watcher.nodes)

    def connected(self, topic: ToTopic) -> UpstreamClient:
        """Return a client of the topic's Kafka cluster.

        The topic names its servers, or a virtual cluster that has it on its active upstream; by default this one has.
        """
        named = self.siblings.get(topic.cluster or self.settings.name, self)
        if topic.bootstrap_servers:
            return topic_client(topic, lambda: self.config, self._troubles)
        return named.upstreams.active.new_client()

    async def remember(self, store: Store, work: trio.Nursery) -> None:
        """Restore what was active before a restart: the upstream, the failover history, the telemetry subscriptions.

        Raises `StateError`.
        """
        self.kept = Kept(store)
        work.start_soon(supervised, self._troubles, Where.STATE, self.kept.run)
        key = self.settings.name
        name = await restored_value(store, ACTIVE, key, await store.get(ACTIVE, key), lambda _, value: value.decode())
        await self._history.remember(store)
        self._groups_at = self._history.record
        order = None if self.agreement is None else await self.agreement.learn(store, self.kept, work)
        if order is not None and order.upstream in self.upstreams.all:
            name = order.upstream
            await self._obey_first(order)
        self._return_to(name)
        self.switches.remember(None if order is None else order.at)
        if self.agreement is not None and order is None and name in self.upstreams.all:
            work.start_soon(guarded, self._troubles, Where.AGREEMENT, self._declare_first)
        self._locate(None)
        if self.telemetry is not None:
            await self.telemetry.remember(store)
        if self.groups is not None:
            await self.groups.remember(store, work)

    async def _obey_first(self, order: Order) -> None:
        """Have an order in force that came before the start."""
        assert self.agreement is not None
        self._history.adopt(order.stay)
        self._history.keep(self.kept)
        self.kept.put(ACTIVE, self.settings.name, order.upstream.encode())
        await self.agreement.follow(order)

    def _return_to(self, name: str | None) -> None:
        """Begin at the upstream of this name, if the configuration has it."""
        if name in self.upstreams.all:
            self.upstreams.active = self.upstreams.all[name]
            self.switches.reconfigure(self.settings)
        elif name is not None:
            log.warning(
                "the upstream of before the restart is no longer configured",
                cluster=self.settings.name,
                before=name,
                to=self.upstreams.active.name,
            )

    def start(self, work: trio.Nursery, listening: trio.Nursery, relay: Relay, shared: SharedPorts) -> None:
        """Bind what can be bound now, accept clients, and begin to watch the upstream; raises `ConfigError`."""
        self._work = self.destination.work = work
        self.token_keys.start(work)
        if self.telemetry is not None:
            self.telemetry.start(work)
        self.listeners.start(self.destination, work, listening, relay, shared)
        self.nodes.bind(self.settings, self._key)
        self._activate(self.upstreams.active, None)
        self._supervise(Where.RETIRED_NODES, lambda: self.nodes.expire(lambda: self.config.topology.grace))
        self._supervise(Where.UNMAPPED_NODES, lambda: self.nodes.seek_ports(lambda: self.upstreams.watcher.snapshot))
        self._supervise(Where.FAILOVER, self.automatic_failover.watch)
        self._supervise(Where.FAILOVER, self.standbys.compare_topics)
        if self.agreement is not None:
            follower = OrderFollower(
                self.settings.name, self.upstreams, self.switches, self.agreement, self._adopt_stay
            )
            self._supervise(Where.AGREEMENT, follower.run)
        if self.groups is not None:
            self._supervise(Where.GROUPS, self.groups.run)
        if self.faults is not None:
            self.faults.announce()

    def _supervise(self, where: Where, work: Callable[[], Awaitable[None]]) -> None:
        self._work.start_soon(supervised, self._troubles, where, work)

    @property
    def epoch(self) -> int:
        """The number of the present topology, which clients should know."""
        return self.rebootstrap.epoch.number

    @property
    def listeners(self) -> Listeners:
        """Those that clients come to now; a reload may put others in their place."""
        return self.nodes.listeners

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

    def switch(
        self, upstream: Upstream, snapshot: Snapshot | None, cause: Cause, stay: FailoverRecord | None = None
    ) -> int:
        """Send clients to another upstream cluster; return how many connections are notified or closed.

        The epoch's floor must have passed. Without a snapshot no node of the upstream is known yet. `stay` is the one
        there as replicas have agreed to count it.
        """
        previous = self.upstreams.active
        elsewhere = not _is_same(previous.snapshot, snapshot)
        afterwards = self._departures.switch(previous, snapshot)
        self._activate(upstream, snapshot)
        self.kept.put(ACTIVE, self.settings.name, upstream.name.encode())
        self._history.keep(self.kept)
        if stay is not None:
            self._adopt_stay(stay)
        self.locate(snapshot, moved=stay is None)
        if cause is Cause.CONFIG:
            self._declare(self._work, "reload")
        self.nodes.renew(snapshot, elsewhere=True)
        for cluster in (self, *self.siblings.values()):
            if cluster.telemetry is not None:
                cluster.telemetry.moved()
        return self.begin_epoch(cause, previous_upstream=previous.name, afterwards=afterwards, elsewhere=elsewhere)

    def _activate(self, upstream: Upstream, snapshot: Snapshot | None) -> None:
        self._reconciler.start(self._work, snapshot)
        self.upstreams.activate(upstream, snapshot, self._work)

    def serve(self) -> None:
        """Apply the settings and the failover history to connections from now on."""
        self.destination.serve(self.producer_ids, retired=self.serves_retired)

    def locate(self, snapshot: Snapshot | None, *, moved: bool = False) -> None:
        """Note the cluster that clients are at, None if unknown. `moved`: they came from another upstream."""
        if self._locate(snapshot, moved=moved):
            self._history.keep(self.kept)

    def _arrive(self, snapshot: Snapshot) -> None:
        """Note the cluster of an upstream's first snapshot: kproxy may have been restarted in front of another one."""
        if self.groups is not None:
            self.groups.arrive(elsewhere=self._groups_at.is_elsewhere(snapshot.cluster_id, self.upstreams.active.name))
        self._groups_at = FailoverRecord()
        self.locate(snapshot)

    def _declare(self, work: trio.Nursery, cause: str) -> None:
        """Have the other replicas come to where this one is."""
        if self.agreement is not None:
            declare = partial(self.agreement.declare, self.upstreams.active.name, self._history.record, cause)
            work.start_soon(guarded, self._troubles, Where.AGREEMENT, declare)

    async def _declare_first(self) -> None:
        """Have the other replicas come to where this one was before there were orders, unless there is one already."""
        assert self.agreement is not None
        await self.agreement.all_read()
        if self.agreement.agreed.newest is None:
            await self.agreement.declare(self.upstreams.active.name, self._history.record, "state")

    def _adopt_stay(self, stay: FailoverRecord) -> None:
        """Count the moves as all replicas do."""
        self._history.adopt(stay)
        self._history.keep(self.kept)
        self.serve()

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
        afterwards: Afterwards | None = None,
        elsewhere: bool = False,
    ) -> int:
        """Begin a new epoch, once the floor has passed; return how many connections are notified or closed.

        `afterwards` is called when all of them have ended. `elsewhere`: clients come to another Kafka cluster, which
        the cluster ids say, too.
        """
        elsewhere = elsewhere or another_cluster(previous_cluster_id, cluster_id)
        if elsewhere:
            self._groups_at = FailoverRecord()
            self.transactional_ids.moved(time.time())
        if self.groups is not None:
            (self.groups.change_cluster if elsewhere else self.groups.send_away)()
        return self.rebootstrap.begin_epoch(
            cause,
            self._work,
            self.upstreams.active.name,
            previous_upstream=previous_upstream,
            cluster_id=cluster_id,
            previous_cluster_id=previous_cluster_id,
            afterwards=afterwards,
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
        self.destination.authenticator = security.authenticator
        self.token_keys.follow(security.authenticator)
        for name, upstream in self.upstreams.all.items():
            upstream.tls = security.brokers[name]

    @contextmanager
    def moving(self, settings: VirtualCluster, config: Config) -> Iterator[None]:
        """As `Nodes.moving`, to where these settings say; raises `ConfigError` when that cannot be bound."""
        index = config.clusters.index(settings)
        listeners = self.listeners.elsewhere(settings, index, claimed_by_others(config, index))
        with self.nodes.moving(listeners, settings):
            yield

    def reconfigure(self, settings: VirtualCluster, upstreams: dict[str, Upstream]) -> None:
        """Apply new settings and the upstream clusters that they name; the active one stays until a switch.

        When it is not among them, the caller switches at once. It reconfigures `switches` last.
        """
        self.settings = settings
        self.upstreams.replace(upstreams, settings)
        if self.agreement is not None:
            self.agreement.keep_in(places(settings, self.upstreams.all))
        self.destination.balancers = Networks(settings.proxy_protocol.networks)
        self.destination.max_connections = settings.max_connections
        self._rates.adopt(settings.byte_rates)
        self._connections.most = settings.max_connections_per_principal
        for backend in settings.backends:
            upstreams[backend.name].identify(backend)
        self.locate(None)
        if self.telemetry is not None and settings.telemetry is not None:
            self.telemetry.reconfigure(settings.telemetry)
        if self.groups is not None and settings.groups:
            self.groups.reconfigure(settings.groups)
        if self.faults is not None:
            self.faults.reconfigure(settings.faults)


def _is_same(left: Snapshot | None, there: Snapshot | None) -> bool:
    """Return whether two snapshots are of one Kafka cluster, as far as that is known."""
    return (
        left is not None and there is not None and left.cluster_id is not None and left.cluster_id == there.cluster_id
    )
