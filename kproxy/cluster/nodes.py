"""The nodes behind a virtual cluster: their advertised addresses, and where connections to them lead."""

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
    """Each has a listener of its own; `addresses` knows which, once `bind` was called."""

    def __init__(self, listeners: Listeners, counters: ClusterCounters) -> None:
        self.addresses: AddressMap
        self._listeners = listeners
        self._counters = counters
        self._turn = 0

    def bind(self, settings: VirtualCluster, key: str) -> None:
        """Open the listeners that can be opened before any node is known; raises `ConfigError` below `key`."""
        self.addresses = self._listeners.address_map(settings)
        try:
            self.addresses.bind_known()
        except NoPortError as error:
            raise ConfigError(f"{key}.nodes.first_port", str(error)) from error

    @property
    def unmapped(self) -> Mapping[int, str]:
        """The nodes that have no port, and why: no client can hear of them, nor of any topology that has them."""
        return {node_id: str(node.why) for node_id, node in sorted(self.addresses.unmapped.items())}

    @property
    def named(self) -> Iterable[int]:
        """The nodes that the cluster names, as far as is known: by the watcher, or by what passes."""
        addresses = self.addresses
        placed = (id_ for id_, node in addresses.nodes.items() if node.upstream and node.gone_since is None)
        return [*placed, *addresses.unmapped]

    @contextmanager
    def reserved(
        self, node_ids: Iterable[int], settings: VirtualCluster | None = None
    ) -> Iterator[Sequence[NoPortError]]:
        """Bind what the nodes of a topology to be need, by the settings to be; yields what they cannot have.

        What no node has taken at the end is free again. Nothing else may happen meanwhile: there is no checkpoint.
        """
        ports = None if settings is None else self._listeners.mapping(settings)[0]
        try:
            yield self.addresses.reserve(node_ids, ports)
        finally:
            self.addresses.release()

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> Address:
        """As `AddressMap.advertise`; a node without a port ends the connection that would have heard of it."""
        try:
            return self.addresses.advertise(node_id, host, port, local_host)
        except NoPortError as error:
            raise Fault(error.reason, str(error)) from error

    def advertised(self, snapshot: Snapshot | None, local_host: str) -> Sequence[tuple[int, str, int, str | None]]:
        """A topology's nodes as advertised to a client that came in at `local_host`: id, host, port, rack."""
        nodes = () if snapshot is None else snapshot.nodes.values()
        return [(node.id, *self.advertise(node.id, node.host, node.port, local_host), node.rack) for node in nodes]

    def learn(self, nodes: Sequence[UpstreamNode]) -> None:
        """What a response says of them; a node without a port ends the connection that would have heard of it."""
        try:
            self.addresses.learn(nodes)
        except NoPortError as error:
            raise Fault(error.reason, str(error)) from error

    def upstreams(self, node_id: int | None, bootstrap: Sequence[Address]) -> Sequence[Address]:
        """Addresses to dial: a node's own; or every bootstrap server in turn, then the nodes that are known.

        A retired listener leads to its node, if the topology still has it: clients would keep any other one, and
        talk to it as if it were theirs.
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
        """Count how dialling went."""
        node = self._counters.node(BOOTSTRAP if node_id is None else node_id, f"{address[0]}:{address[1]}")
        if failure is None:
            node.connected()
        else:
            node.failed(failure, error)

    def reached(self, node_id: int, ok: bool, error: str | None) -> None:
        """Whether a node is there has changed."""
        node = self._counters.node(node_id)
        node.reachable, node.last_error = ok, error
        if ok:
            log.info("node reachable", cluster=self._counters.name, node=node_id)
        else:
            log.warning("node unreachable", cluster=self._counters.name, node=node_id, error=error)

    def follow(self, snapshot: Snapshot, change: Change) -> None:
        """The topology has changed, and its epoch has not."""
        self._change(lambda: self.addresses.learn(_of(snapshot)))
        self.addresses.miss((node.id for node in change.removed), trio.current_time())

    def renew(self, snapshot: Snapshot | None) -> None:
        """Another topology, of which nothing may be known yet; the listeners of the one before are retired."""
        self._change(lambda: self.addresses.renew(_of(snapshot), trio.current_time()))

    def remap(self, settings: VirtualCluster) -> None:
        """Their ports and names as the settings want them now; the listeners that they do not are retired."""
        self._change(lambda: self.addresses.remap(*self._listeners.mapping(settings), trio.current_time()))

    def _change(self, act: Callable[[], None]) -> None:
        """Nodes that have no port then are a fault of the configuration, and logged."""
        try:
            act()
        except NoPortError as error:
            log.error("a node has no port", cluster=self._counters.name, reason=str(error))

    async def seek_ports(self, seen: Callable[[], Snapshot | None]) -> None:
        """Try again and again for nodes without a port: another process may give one up, or the node go."""
        while True:
            await trio.sleep(RETRY_SECONDS)
            snapshot = seen()
            self.addresses.retry(None if snapshot is None else snapshot.nodes)

    async def expire(self, grace: Callable[[], float]) -> None:
        """Close the listeners of retired nodes once their grace, in seconds, is over."""
        while True:
            await trio.sleep(EXPIRY_SECONDS)
            for listener in self.addresses.expire(trio.current_time() - grace()):
                log.info(
                    "retired node's port closed", cluster=self._counters.name, node=listener.node_id, port=listener.port
                )


def _of(snapshot: Snapshot | None) -> list[UpstreamNode]:
    return [] if snapshot is None else [(node.id, node.host, node.port) for node in snapshot.nodes.values()]
