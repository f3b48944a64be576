"""One virtual cluster at work: its table, addresses, listeners, watcher and counters, as the relay needs them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio

from kproxy.errors import ConfigError
from kproxy.observe.counters import BOOTSTRAP, ClusterCounters
from kproxy.observe.means import Ask, Means
from kproxy.observe.reasons import Reason
from kproxy.relay.apis import OFFERS
from kproxy.relay.context import Context
from kproxy.relay.entrance import Entrance
from kproxy.relay.fault import Fault
from kproxy.relay.routes import Table
from kproxy.routing.address_map import AddressMap
from kproxy.routing.claims import claimed_by_others
from kproxy.routing.listeners import OUT_OF_RESOURCES, accept, listen
from kproxy.routing.ports import AutomaticPorts, NoPortError, OffsetPorts
from kproxy.topology.watcher import Watcher
from kproxy.upstream.client import UpstreamClient
from kproxy.upstream.dial import reason

if TYPE_CHECKING:
    from kproxy.config import Config, VirtualCluster
    from kproxy.topology.snapshot import Change, Snapshot

log = structlog.get_logger("kproxy.cluster")

JITTER = 0.2


class Cluster:
    """A destination for the relay. `listen` is the bootstrap listener's host and port once it is bound."""

    def __init__(self, settings: VirtualCluster, config: Config, counters: ClusterCounters) -> None:
        self.settings = settings
        self.counters = counters
        self._index = config.clusters.index(settings)
        self._claimed = claimed_by_others(config, self._index)
        self.table = Table(counters, OFFERS)
        self.served = self.table.served()
        self.epoch = 0
        self.listen = (settings.listen.host, settings.listen.port)
        self.bootstrap = [(server.host, server.port) for server in settings.bootstrap_servers]
        self.addresses: AddressMap
        self._turn = 0
        self._client = UpstreamClient(
            self.bootstrap,
            connect_timeout=config.timeouts.connect,
            request_timeout=config.timeouts.upstream_request,
        )
        self.watcher = Watcher(
            self._client,
            interval=config.topology.interval,
            jitter=JITTER,
            on_change=self._changed,
            on_reachability=self._reached,
        )

    def start(self, work: trio.Nursery, doors: trio.Nursery, entrance: Entrance) -> None:
        """Bind what can be bound now, accept clients, and begin to watch the backend; raises `ConfigError`."""
        listener = self._listen()
        self.listen = (self.listen[0], listener.getsockname()[1])
        doors.start_soon(accept, listener, work, partial(entrance.admit, self, None))
        self.addresses = self._address_map(work, doors, entrance)
        try:
            self.addresses.bind_known()
        except NoPortError as error:
            raise ConfigError(self._key("nodes.first_port"), str(error)) from error
        work.start_soon(self._client.run)
        work.start_soon(self._watch)

    def _key(self, setting: str) -> str:
        return f"clusters.{self._index}.{setting}"

    def _listen(self) -> socket.socket:
        try:
            return listen(*self.listen)
        except OSError as error:
            detail = f"cannot listen on {self.settings.listen}: {reason(error)}"
            raise ConfigError(self._key("listen"), detail) from error

    def _address_map(self, work: trio.Nursery, doors: trio.Nursery, entrance: Entrance) -> AddressMap:
        nodes = self.settings.nodes
        first = self.settings.first_port if nodes.first_port is not None else self.listen[1] + 1
        strategy = (
            OffsetPorts(first, tuple((span.first, span.last) for span in nodes.ranges))
            if nodes.strategy == "offset"
            else AutomaticPorts(first, self._claimed)
        )
        shift = 0 if nodes.advertised_first_port is None else nodes.advertised_first_port - first
        return AddressMap(strategy, self._binder(work, doors, entrance), self.settings.advertised_host, shift)

    def _binder(self, work: trio.Nursery, doors: trio.Nursery, entrance: Entrance) -> Callable[[int, int], int | None]:
        def bind(node_id: int, port: int) -> int | None:
            try:
                listener = listen(self.listen[0], port)
            except OSError as error:
                if error.errno in OUT_OF_RESOURCES:
                    raise NoPortError(Reason.OUT_OF_DESCRIPTORS, f"node {node_id}: {error.strerror}") from error
                return None
            bound: int = listener.getsockname()[1]
            if doors.cancel_scope.cancel_called:  # draining: nobody new is let in, by this door neither
                listener.close()
                return bound
            doors.start_soon(accept, listener, work, partial(entrance.admit, self, node_id))
            log.info("node has a port", cluster=self.counters.name, node=node_id, port=bound)
            return bound

        return bind

    @property
    def cluster_id(self) -> str | None:
        return None if self.watcher.snapshot is None else self.watcher.snapshot.cluster_id

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        """As `AddressMap.advertise`; a node without a port ends the connection that would have heard of it."""
        try:
            return self.addresses.advertise(node_id, host, port, local_host)
        except NoPortError as error:
            raise Fault(error.reason, str(error)) from error

    def judge(self, context: Context, ask: Ask) -> Means:
        del context, ask
        return Means.SERVE

    def brokers(self, local_host: str) -> Sequence[tuple[int, str, int, str | None]]:
        nodes = () if self.watcher.snapshot is None else self.watcher.snapshot.nodes.values()
        return [(node.id, *self.advertise(node.id, node.host, node.port, local_host), node.rack) for node in nodes]

    def learn(self, cluster_id: str | None, nodes: Sequence[tuple[int, str, int]]) -> None:
        """What a response that passes says of the nodes, so that a change is seen before the next poll."""
        del cluster_id
        self.watcher.learn(nodes)
        try:
            self.addresses.learn(nodes)
        except NoPortError as error:
            raise Fault(error.reason, str(error)) from error
        self.watcher.learn(nodes)

    def upstreams(self, node_id: int | None) -> Sequence[tuple[str, int]]:
        """Addresses to dial: a node's own; or every bootstrap server in turn, then the nodes that are known."""
        if node_id is not None:
            address = self.addresses.upstream(node_id)
            return [] if address is None else [address]
        self._turn = (self._turn + 1) % len(self.bootstrap)
        servers = self.bootstrap[self._turn :] + self.bootstrap[: self._turn]
        known = (node.upstream for node in self.addresses.nodes.values())
        return [*servers, *(address for address in known if address is not None and address not in servers)]

    def dialled(self, node_id: int | None, address: tuple[str, int], failure: Reason | None, error: str) -> None:
        """Count how dialling went; a failure has the watcher look at once."""
        node = self.counters.node(BOOTSTRAP if node_id is None else node_id, f"{address[0]}:{address[1]}")
        if failure is None:
            node.connected()
        else:
            node.failed(failure, error)
            self.watcher.hint()

    async def _watch(self) -> None:
        structlog.contextvars.bind_contextvars(cluster=self.counters.name)
        await self.watcher.run()

    def _changed(self, snapshot: Snapshot, change: Change) -> None:
        del change
        try:
            self.addresses.learn((node.id, node.host, node.port) for node in snapshot.nodes.values())
        except NoPortError as error:
            log.error("a node has no port", cluster=self.counters.name, reason=str(error))

    def _reached(self, node_id: int, ok: bool, error: str | None) -> None:
        node = self.counters.node(node_id)
        node.reachable, node.last_error = ok, error
        if ok:
            log.info("node reachable", cluster=self.counters.name, node=node_id)
        else:
            log.warning("node unreachable", cluster=self.counters.name, node=node_id, error=error)
