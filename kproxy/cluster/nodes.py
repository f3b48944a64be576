"""The nodes behind a virtual cluster: their advertised addresses, and where connections to them lead.

The relay asks it, through `ClusterDestination`, for every connection to dial and every response with addresses. The
reconciler, a switch and a reload change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.errors import ConfigError
from kproxy.observe.counters import BOOTSTRAP, ClusterCounters
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.routing.address_map import AddressMap, UpstreamNode
from kproxy.routing.ports import NoPortError

if TYPE_CHECKING:
    from kproxy.cluster.listeners import Listeners
    from kproxy.config import VirtualCluster
    from kproxy.topology.snapshot import Change, Snapshot

log = structlog.get_logger("kproxy.cluster")

EXPIRY_SECONDS: Final = 1.0
RETRY_SECONDS: Final = 5.0
Address = tuple[str, int]


class Nodes:
    """The nodes of a virtual cluster, each with a listener of its own; `bind` creates their map, `addresses`."""

    def __init__(self, listeners: Listeners, counters: ClusterCounters) -> None:
        self.addresses: AddressMap
        self._listeners = listeners
        self._counters = counters
        self._turn = 0

    def bind(self, settings: VirtualCluster, key: str) -> None:
        """Bind the listeners of nodes that the configuration names; raises `ConfigError` for a setting below `key`."""
        self.addresses = self._listeners.address_map(settings)
        try:
            self.addresses.bind_known()
        except NoPortError as error:
            raise ConfigError(f"{key}.nodes.first_port", str(error)) from error

    @property
    def unmapped(self) -> Mapping[int, str]:
        """The nodes without a port, and why. No client can learn of them, nor of a topology that contains them."""
        return {node_id: str(node.why) for node_id, node in sorted(self.addresses.unmapped.items())}

    @property
    def named(self) -> Iterable[int]:
        """Ids of the nodes that the cluster names, as far as the watcher or passing responses have shown."""
        addresses = self.addresses
        placed = (id_ for id_, node in addresses.nodes.items() if node.upstream and node.gone_since is None)
        return [*placed, *addresses.unmapped]

    @contextmanager
    def reserved(
        self, node_ids: Iterable[int], settings: VirtualCluster | None = None
    ) -> Iterator[Sequence[NoPortError]]:
        """Reserve ports for the nodes of a future topology, by future settings; yield an error for each without one.

        Ports that no node has taken at the end are free again. The block has no checkpoint, so nothing else happens
        meanwhile.
        """
        ports = None if settings is None else self._listeners.mapping(settings)[0]
        try:
            yield self.addresses.reserve(node_ids, ports)
        finally:
            self.addresses.release()

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> Address:
        """As `AddressMap.advertise`; raise `Fault` for a node without a port: the client's connection ends."""
        try:
            return self.addresses.advertise(node_id, host, port, local_host)
        except NoPortError as error:
            raise Fault(error.reason, str(error)) from error

    def advertised(self, snapshot: Snapshot | None, local_host: str) -> Sequence[tuple[int, str, int, str | None]]:
        """Return a topology's nodes as advertised to a client that connected to `local_host`: id, host, port, rack."""
        nodes = () if snapshot is None else snapshot.nodes.values()
        return [(node.id, *self.advertise(node.id, node.host, node.port, local_host), node.rack) for node in nodes]

    def learn(self, nodes: Sequence[UpstreamNode]) -> None:
        """Take the nodes that a response names; raise `Fault` for one without a port: the client's connection ends."""
        try:
            self.addresses.learn(nodes)
        except NoPortError as error:
            raise Fault(error.reason, str(error)) from error

    def upstreams(self, node_id: int | None, bootstrap: Sequence[Address]) -> Sequence[Address]:
        """Return addresses to dial: the node's own; or the bootstrap servers, each first in turn, then the known nodes.

        A retired listener leads to its own node as long as the topology has it: clients keep their connection, and
        would take another node for this one.
        """
        if node_id is not None and not self._is_gone(node_id):
            address = self.addresses.upstream(node_id)
            return [] if address is None else [address]
        self._turn = (self._turn + 1) % len(bootstrap)
        servers = [*bootstrap[self._turn :], *bootstrap[: self._turn]]
        known = (node.upstream for node in self.addresses.nodes.values())
        return [*servers, *(address for address in known if address is not None and address not in servers)]

    def _is_gone(self, node_id: int) -> bool:
        retired = any(listener.node_id == node_id for listener in self.addresses.retired)
        return retired and node_id not in self.addresses.nodes

    def dialled(self, node_id: int | None, address: Address, failure: Reason | None, error: str) -> None:
        """Count the outcome of a dial; `failure` is None when it succeeded.

        A node that kproxy had no descriptor to dial may well be reachable.
        """
        node = self._counters.node(BOOTSTRAP if node_id is None else node_id, f"{address[0]}:{address[1]}")
        if failure is None:
            node.connected()
        elif failure is Reason.OUT_OF_DESCRIPTORS:
            node.not_tried(failure)
        else:
            node.failed(failure, error)

    def reached(self, node_id: int, ok: bool, error: str | None) -> None:
        """Note that a node has become reachable or unreachable."""
        node = self._counters.node(node_id)
        node.reachable, node.last_error = ok, error
        if ok:
            log.info("node reachable", cluster=self._counters.name, node=node_id)
        else:
            log.warning("node unreachable", cluster=self._counters.name, node=node_id, error=error)

    def follow(self, snapshot: Snapshot, change: Change) -> None:
        """Take a changed topology of the same epoch."""
        self._change(lambda: self.addresses.learn(_of(snapshot)))
        self.addresses.miss((node.id for node in change.removed), trio.current_time())

    def renew(self, snapshot: Snapshot | None) -> None:
        """Take another topology, None while it is not known; retire the listeners of the previous one."""
        self._change(lambda: self.addresses.renew(_of(snapshot), trio.current_time()))

    def remap(self, settings: VirtualCluster) -> None:
        """Apply the settings' ports and names; retire the listeners that they no longer want."""
        self._change(lambda: self.addresses.remap(*self._listeners.mapping(settings), trio.current_time()))

    def _change(self, act: Callable[[], None]) -> None:
        """Make a change; log a node that has no port then, which is a fault of the configuration."""
        try:
            act()
        except NoPortError as error:
            log.error("a node has no port", cluster=self._counters.name, reason=str(error))

    async def seek_ports(self, seen: Callable[[], Snapshot | None]) -> None:
        """Retry nodes without a port, until cancelled: another process may free one, or the node may leave."""
        while True:
            await trio.sleep(RETRY_SECONDS)
            snapshot = seen()
            self.addresses.retry(None if snapshot is None else snapshot.nodes)

    async def expire(self, grace: Callable[[], float]) -> None:
        """Close the listeners of retired nodes once their grace, in seconds, is over; run until cancelled."""
        while True:
            await trio.sleep(EXPIRY_SECONDS)
            for listener in self.addresses.expire(trio.current_time() - grace()):
                log.info(
                    "retired node's port closed", cluster=self._counters.name, node=listener.node_id, port=listener.port
                )


def _of(snapshot: Snapshot | None) -> list[UpstreamNode]:
    return [] if snapshot is None else [(node.id, node.host, node.port) for node in snapshot.nodes.values()]
