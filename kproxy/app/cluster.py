"""One virtual cluster at work: its table, addresses, listeners, backend and counters, as the relay needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.app.doors import Doors
from kproxy.app.events import Events
from kproxy.app.following import Following, nodes_of
from kproxy.app.keeping import keep
from kproxy.app.rebootstrap import Rebootstrap
from kproxy.app.switching import Switching
from kproxy.app.upstream import Upstream, client_of
from kproxy.errors import ConfigError
from kproxy.observe.counters import BOOTSTRAP, ClusterCounters
from kproxy.observe.means import Ask, Cause, Means
from kproxy.observe.reasons import Reason
from kproxy.relay.apis import OFFERS, retired_table
from kproxy.relay.entrance import Entrance
from kproxy.relay.fault import Fault
from kproxy.relay.pump import Pump
from kproxy.relay.routes import Table
from kproxy.routing.address_map import AddressMap, UpstreamNode
from kproxy.routing.claims import claimed_by_others
from kproxy.routing.ports import NoPortError
from kproxy.state.memory import MemoryStore
from kproxy.topology.snapshot import Snapshot
from kproxy.topology.watcher import Watcher

if TYPE_CHECKING:
    from kproxy.app.telemetry import ClientTelemetry
    from kproxy.config import Config, VirtualCluster
    from kproxy.config.delivery import ToTopic
    from kproxy.relay.connection import Connection
    from kproxy.relay.context import Context
    from kproxy.state.interface import Store
    from kproxy.upstream.client import UpstreamClient

log = structlog.get_logger("kproxy.cluster")

EXPIRY_SECONDS: Final = 1.0
ACTIVE: Final = "upstream"
"""The table of which upstream cluster is active, by virtual cluster: a restart does not send clients back."""


class Cluster:
    """A destination for the relay. `active` is the upstream cluster that clients reach at the moment."""

    def __init__(self, settings: VirtualCluster, config: Config, counters: ClusterCounters, pump: Pump) -> None:
        index = config.clusters.index(settings)
        self.settings = settings
        self.config = config
        self.counters = counters
        self.events = Events(settings.name)
        self.siblings: Mapping[str, Cluster] = {}  # all virtual clusters by name, once they are made
        self.telemetry = self._telemetry(index)
        counters.telemetry = None if self.telemetry is None else self.telemetry.counters
        self.table = Table(counters, OFFERS if self.telemetry is None else {**OFFERS, **self.telemetry.offers})
        self.served, self.own = self.table.served(), self.table.own()
        self.doors = Doors(settings, index, claimed_by_others(config, index))
        self.addresses: AddressMap
        self._following = Following(self)
        self.backends = self.made(settings, config)
        self.active = next(iter(self.backends.values()))
        self.rebootstrap = Rebootstrap(self, config.topology.epoch_floor, pump.part)
        self._pump = pump
        self._turn = 0
        self.switching = Switching(self)
        self.work: trio.Nursery
        self._store: Store = MemoryStore()
        self._key = f"clusters.{index}"
        self.retired_table = self.table
        self._set_retired_table()

    def _telemetry(self, index: int) -> ClientTelemetry | None:
        if self.settings.telemetry is None:
            return None
        from kproxy.app.telemetry import ClientTelemetry  # noqa: PLC0415 (70 ms, 10 MB)

        return ClientTelemetry(self.settings.name, index, self.config, self.connected)

    def connected(self, topic: ToTopic) -> UpstreamClient:
        """A client of the cluster that has the topic: by servers, by a virtual cluster's name, or its own."""
        named = self.siblings.get(topic.cluster or self.settings.name, self)
        servers = [(server.host, server.port) for server in topic.bootstrap_servers] or named.active.servers
        return client_of(servers, self.config)

    def made(self, settings: VirtualCluster, config: Config) -> dict[str, Upstream]:
        """The upstream clusters that the settings name, in order of preference."""
        return {
            backend.name: Upstream(backend, config, settings.name, self._following.changed, self._reached)
            for backend in settings.backends
        }

    async def remember(self, store: Store, work: trio.Nursery) -> None:
        """What was the case before a restart: which upstream cluster was active, what was subscribed.

        Raises `StateError`.
        """
        self._store = store
        if (name := await store.get(ACTIVE, self.settings.name)) and name.decode() in self.backends:
            self.active = self.backends[name.decode()]
            self.switching.reconfigure()
        if self.telemetry is not None:
            await self.telemetry.start(work, store)

    def start(self, work: trio.Nursery, doors: trio.Nursery, entrance: Entrance) -> None:
        """Bind what can be bound now, accept clients, and begin to watch the backend; raises `ConfigError`."""
        self.work = work
        self.doors.start(self, work, doors, entrance)
        self.addresses = self.doors.address_map(self.settings)
        try:
            self.addresses.bind_known()
        except NoPortError as error:
            raise ConfigError(f"{self._key}.nodes.first_port", str(error)) from error
        self._activate(self.active, None)
        work.start_soon(self._expire)
        work.start_soon(self.switching.watch)

    @property
    def listen(self) -> tuple[str, int]:
        """The bootstrap listener's host and port, once it is bound."""
        return self.doors.listen

    @property
    def bootstrap(self) -> list[tuple[str, int]]:
        """The active upstream cluster's bootstrap servers."""
        return self.active.servers

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
        return self.config.topology.retired == "serve" and not self.doors.closing

    def _set_retired_table(self) -> None:
        self.retired_table = self.table if self.serves_retired else retired_table(self.counters)

    def connections(self) -> Iterable[Connection]:
        """Its connections that are relayed at the moment."""
        return [one for one in self._pump.connections.values() if one.context.backend is self]

    def judge(self, context: Context, ask: Ask) -> Means:
        """As `Rebootstrap.judge`."""
        return self.rebootstrap.judge(context, ask)

    def forgets_leader_epochs(self, context: Context, cluster_id: str | None) -> bool:
        """As `Rebootstrap.forgets_leader_epochs`."""
        return self.rebootstrap.forgets_leader_epochs(context, cluster_id)

    def hides_topic_ids(self, context: Context) -> bool:
        """As `Rebootstrap.hides_topic_ids`."""
        return self.rebootstrap.hides_topic_ids(context)

    def brokers(self, local_host: str) -> Sequence[tuple[int, str, int, str | None]]:
        """The active cluster's nodes as a client that came in at `local_host` is told them."""
        nodes = () if self.watcher.snapshot is None else self.watcher.snapshot.nodes.values()
        return [(node.id, *self.advertise(node.id, node.host, node.port, local_host), node.rack) for node in nodes]

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        """As `AddressMap.advertise`; a node without a port ends the connection that would have heard of it."""
        try:
            return self.addresses.advertise(node_id, host, port, local_host)
        except NoPortError as error:
            raise Fault(error.reason, str(error)) from error

    def learn(self, cluster_id: str | None, nodes: Sequence[UpstreamNode]) -> None:
        """What a response that passes says of the nodes, so that a change is seen before the next poll.

        Another cluster's nodes are not to be reached at this one's ports before the watcher has made sure of it.
        """
        self.watcher.learn(cluster_id, nodes)
        if None not in (cluster_id, self.cluster_id) and cluster_id != self.cluster_id:
            return
        try:
            self.addresses.learn(nodes)
        except NoPortError as error:
            raise Fault(error.reason, str(error)) from error

    def upstreams(self, node_id: int | None) -> Sequence[tuple[str, int]]:
        """Addresses to dial: a node's own; or every bootstrap server in turn, then the nodes that are known.

        A retired door leads to its node, if the topology still has it: any other one its clients would keep, and talk
        to as if it were theirs.
        """
        if node_id is not None and not self._is_gone(node_id):
            address = self.addresses.upstream(node_id)
            return [] if address is None else [address]
        self._turn = (self._turn + 1) % len(self.bootstrap)
        servers = self.bootstrap[self._turn :] + self.bootstrap[: self._turn]
        known = (node.upstream for node in self.addresses.nodes.values())
        return [*servers, *(address for address in known if address is not None and address not in servers)]

    def _is_gone(self, node_id: int) -> bool:
        retired = any(door.node_id == node_id for door in self.addresses.retired)
        return retired and node_id not in self.addresses.nodes

    def dialled(self, node_id: int | None, address: tuple[str, int], failure: Reason | None, error: str) -> None:
        """Count how dialling went; a failure has the watcher look at once."""
        node = self.counters.node(BOOTSTRAP if node_id is None else node_id, f"{address[0]}:{address[1]}")
        if failure is None:
            node.connected()
        else:
            node.failed(failure, error)
            self.watcher.hint()

    def switch(self, upstream: Upstream, snapshot: Snapshot | None, cause: Cause) -> int:
        """Send clients to another upstream cluster; returns how many connections are told or closed.

        The epoch's floor must have passed. Without a snapshot nothing is known of it, and all its nodes are news.
        """
        previous = self.active
        previous.stop()
        self._activate(upstream, snapshot)
        self.work.start_soon(keep, self._store, ACTIVE, self.settings.name, upstream.name.encode())
        self.map(lambda: self.addresses.renew(nodes_of(snapshot), trio.current_time()))
        for cluster in (self, *self.siblings.values()):
            if cluster.telemetry is not None:
                cluster.telemetry.moved()
        return self.renew(cause, upstream=upstream.name, previous=previous.name)

    def renew(self, cause: Cause, **fields: object) -> int:
        """A new epoch, whose floor has passed; returns how many connections are told or closed."""
        return self.rebootstrap.begin(cause, self.work, **fields)

    async def leave(self, seconds: float) -> None:
        """Send all clients to sibling replicas in that time; who comes to a node's door meanwhile is sent at once."""
        self.doors.leave()
        self._set_retired_table()
        await self.rebootstrap.spread(seconds)

    def adopt(self, config: Config) -> None:
        """What it takes from the whole process' settings."""
        self.config = config
        self._set_retired_table()
        self.rebootstrap.epoch.floor = config.topology.epoch_floor
        for upstream in self.backends.values():
            upstream.adopt(config)

    def reconfigure(self, settings: VirtualCluster, backends: dict[str, Upstream]) -> None:
        """Other settings, and the upstream clusters that they name; the active one stays until a switch."""
        self.settings, self.backends = settings, backends
        self.switching.reconfigure()
        if self.telemetry is not None and settings.telemetry is not None:
            self.telemetry.reconfigure(settings.telemetry)

    def remap(self) -> None:
        """The nodes' ports and names as the settings want them now; the doors that they do not are retired."""
        self.map(lambda: self.addresses.remap(*self.doors.mapping(self.settings), trio.current_time()))

    def _activate(self, upstream: Upstream, snapshot: Snapshot | None) -> None:
        self.active = upstream
        self._following.begin(snapshot)
        self.counters.upstreams = dict.fromkeys(self.backends, False)
        self.counters.activate(upstream.name)
        upstream.start(self.work, snapshot)

    def map(self, act: Callable[[], None]) -> None:
        """Do something to the addresses; a node that has no port then is a fault of the configuration, and logged."""
        try:
            act()
        except NoPortError as error:
            log.error("a node has no port", cluster=self.counters.name, reason=str(error))

    async def _expire(self) -> None:
        """Close the doors of retired nodes once their grace is over."""
        while True:
            await trio.sleep(EXPIRY_SECONDS)
            for door in self.addresses.expire(trio.current_time() - self.config.topology.grace):
                log.info("retired node's port closed", cluster=self.counters.name, node=door.node_id, port=door.port)

    def _reached(self, node_id: int, ok: bool, error: str | None) -> None:
        node = self.counters.node(node_id)
        node.reachable, node.last_error = ok, error
        if ok:
            log.info("node reachable", cluster=self.counters.name, node=node_id)
        else:
            log.warning("node unreachable", cluster=self.counters.name, node=node_id, error=error)
