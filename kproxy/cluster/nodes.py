"""The nodes behind a virtual cluster: their advertised addresses, and where connections to them lead.

The relay asks it, through `ClusterDestination`, for every connection to dial and every response with addresses. The
reconciler, a switch and a reload change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

import structlog
import trio

from kproxy.errors import ConfigError
from kproxy.observe.counters import BOOTSTRAP, ClusterCounters
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.routing.address_map import AddressMap, UpstreamNode
from kproxy.routing.places import NoPortError, where

if TYPE_CHECKING:
    from kproxy.cluster.listeners import Listeners
    from kproxy.config import VirtualCluster
    from kproxy.topology.reachability import Reachability
    from kproxy.topology.snapshot import Change, Snapshot
    from kproxy.upstream.servers import BootstrapServers

log = structlog.get_logger("kproxy.cluster")

EXPIRY_SECONDS: Final = 1.0
RETRY_SECONDS: Final = 5.0
Address = tuple[str, int]


class _Coming(NamedTuple):
    """Listeners that will take the place of those that there are, and the map of the nodes there."""

    listeners: Listeners
    addresses: AddressMap


class Nodes:
    """The nodes of a virtual cluster, each with its own listener; their map, `addresses`, is empty before `bind`."""

    def __init__(self, listeners: Listeners, settings: VirtualCluster, counters: ClusterCounters) -> None:
        self.addresses = listeners.address_map(settings)
        self.listeners = listeners
        self._counters = counters
        self._coming: _Coming | None = None

    def bind(self, settings: VirtualCluster, key: str) -> None:
        """Bind the listeners of nodes that the configuration names; raises `ConfigError` for a setting below `key`."""
        self.addresses = self.listeners.address_map(settings)
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
        return [*self.addresses.reported, *self.addresses.unmapped]

    @contextmanager
    def moving(self, listeners: Listeners, settings: VirtualCluster) -> Iterator[None]:
        """Have all nodes listen elsewhere as well; close these listeners after the block, unless it calls `move`.

        The block has no checkpoint.
        """
        self._coming = coming = _Coming(listeners, self.addresses.elsewhere(listeners.places(settings), listeners.bind))
        try:
            yield
        finally:
            self._coming = None
            if self.listeners is not listeners:
                coming.addresses.close()
                listeners.close()

    def move(self) -> None:
        """Listen only where `moving` says, from now on."""
        assert self._coming is not None
        before = _Coming(self.listeners, self.addresses)
        self.listeners, self.addresses = self._coming.listeners, self._coming.addresses
        self.addresses.bind_known()  # `reserved` has bound them
        before.addresses.close()
        before.listeners.close()
        self.listeners.settle()
        self.listeners.announce()

    @contextmanager
    def reserved(
        self, node_ids: Iterable[int], settings: VirtualCluster | None = None
    ) -> Iterator[Sequence[NoPortError]]:
        """Reserve ports for the nodes of a future topology, by future settings; yield an error for each without one.

        Ports that no node has taken at the end are free again. The block has no checkpoint, so nothing else happens
        meanwhile. Within `moving` it is about the ports there, and also about nodes that only the settings name.
        """
        listeners, addresses = self._coming or _Coming(self.listeners, self.addresses)
        places = None if settings is None else listeners.places(settings)
        known = () if self._coming is None or places is None else places.known()
        try:
            yield addresses.reserve([*node_ids, *known], places)
        finally:
            addresses.release()

    def lacking(self, node_ids: Iterable[int]) -> Mapping[int, str]:
        """Return the nodes of a future topology that would have no port if it came now, and why."""
        return {node_id: str(why) for node_id, why in self.addresses.lacking(node_ids).items()}

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

    def upstreams(self, node_id: int | None, bootstrap: BootstrapServers) -> Sequence[Address]:
        """Return addresses to dial: the node's own; or the bootstrap servers in turn and the known nodes.

        A retired listener leads to its own node as long as the topology has it: clients keep their connection, and
        would take another node for this one.
        """
        if node_id is not None and not self._is_gone(node_id):
            address = self.addresses.upstream(node_id)
            return [] if address is None else [address]
        return bootstrap.in_turn(list(self._reached()))

    def _reached(self) -> Iterator[tuple[Address, bool | None]]:
        """Yield the present nodes' addresses, and whether they can be reached; another may have that of one gone."""
        for node_id, node in self.addresses.nodes.items():
            if node.upstream is not None and node.gone_since is None:
                counters = self._counters.nodes.get(node_id)
                yield node.upstream, None if counters is None else counters.reachable

    def _is_gone(self, node_id: int) -> bool:
        retired = any(listener.node_id == node_id for listener in self.addresses.retired)
        return retired and node_id not in self.addresses.nodes

    def dialled(self, node_id: int | None, address: Address, failure: Reason | None, error: str) -> None:
        """Count the outcome of a dial; `failure` is None when it succeeded.

        A node that kproxy had no descriptor to dial may well be reachable. A dial for a node that is gone, or to where
        it was before, says nothing about the present topology.
        """
        node = self._counters.node(BOOTSTRAP if node_id is None else node_id, f"{address[0]}:{address[1]}")
        known = node.reachable, node.last_error
        if failure is None:
            node.connected()
        elif failure is Reason.OUT_OF_DESCRIPTORS:
            node.not_tried(failure)
        else:
            node.failed(failure, error)
        if node_id is not None and address != self._present(node_id):
            node.reachable, node.last_error = known

    def _present(self, node_id: int) -> Address | None:
        """Return the address of a node that the cluster names; None for one that is gone."""
        node = self.addresses.nodes.get(node_id)
        return None if node is None or node.gone_since is not None else node.upstream

    def reached(self, node_id: int, ok: bool, error: str | None) -> None:
        """Note that a node has become reachable or unreachable."""
        node = self._counters.node(node_id)
        node.reachable, node.last_error = ok, error
        if ok:
            log.info("node reachable", cluster=self._counters.name, node=node_id)
        else:
            log.warning("node unreachable", cluster=self._counters.name, node=node_id, error=error)

    def probed(self, states: Mapping[int, Reachability]) -> None:
        """Take what the last probes have shown in place of what clients' dials did: no client may dial again."""
        for node_id, state in states.items():
            node = self._counters.nodes.get(node_id)
            if node is not None and node.reachable is not None and node.reachable is not state.ok:
                self.reached(node_id, state.ok, state.error)

    def follow(self, snapshot: Snapshot, change: Change) -> None:
        """Take a topology of the same epoch, in place of what passing responses have shown: a broker may lag behind."""
        self._change(lambda: self.addresses.learn(_of(snapshot)))
        self._forget(node.id for node in change.removed)  # one that moved is probed anew
        self.addresses.miss(self.addresses.reported - snapshot.nodes.keys(), trio.current_time())

    def renew(self, snapshot: Snapshot | None, *, elsewhere: bool = False) -> None:
        """Take another topology, None while it is not known; retire the listeners of the previous one.

        `elsewhere`: it is another upstream's, so what is known of nodes counts no more, whatever their ids.
        """
        kept = () if snapshot is None or elsewhere else snapshot.nodes
        self._forget([node_id for node_id in self._counters.nodes if node_id not in kept])
        self._change(lambda: self.addresses.renew(_of(snapshot), trio.current_time()))

    def _forget(self, node_ids: Iterable[int]) -> None:
        """Forget whether these nodes can be reached."""
        for node_id in node_ids:
            if (node := self._counters.nodes.get(node_id)) is not None:
                node.forget()

    def remap(self, settings: VirtualCluster) -> None:
        """Apply the settings' ports and names; retire the listeners that they no longer want."""
        self.listeners.adopt(settings)
        self._change(lambda: self.addresses.remap(self.listeners.places(settings), trio.current_time()))

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
                at = where(listener.place)
                log.info("retired node's listener closed", cluster=self._counters.name, node=listener.node_id, **at)


def _of(snapshot: Snapshot | None) -> list[UpstreamNode]:
    return [] if snapshot is None else [(node.id, node.host, node.port) for node in snapshot.nodes.values()]
