# This module is pure (no I/O, no clock).
"""The nodes of a virtual cluster: each broker's real address, and the address that kproxy advertises for it.

`Nodes` makes a map when kproxy starts. It asks the map at each dial and each response with addresses, and changes it
when the topology or the configuration changes. The module is pure, apart from the `bind` that the caller passes in.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from kproxy.observe.reasons import Reason
from kproxy.routing.ports import NoPortError, PortStrategy

UpstreamNode = tuple[int, str, int]
"""A node's id, host and port, as its cluster reports them."""
Address = tuple[str, int]


class Listening(Protocol):
    """An open listener for a node; `retired` is when (seconds) the node left the topology, None before that."""

    node_id: int | None
    port: int
    retired: float | None

    def close(self) -> None:
        """Stop listening."""


Bind = Callable[[int, int], Listening | None]
"""(node id, port) -> a listener for the node at that port, or None when the port is taken.

Raises `NoPortError` when no other port can be bound either.
"""


@dataclass(slots=True)
class NodeAddress:
    """A node. `upstream` is its broker's last reported address, None before the first report; `listener` is kproxy's.

    `gone_since` is when (seconds) the cluster stopped reporting it: a broker that restarts is gone for a moment, too.
    """

    node_id: int
    listener: Listening
    upstream: Address | None = None
    gone_since: float | None = None

    @property
    def port(self) -> int:
        """The port on which kproxy listens for it."""
        return self.listener.port


@dataclass(frozen=True, slots=True)
class Unmapped:
    """A node that the cluster reports but that has no port: its broker's address, and why it has no port."""

    upstream: Address
    why: NoPortError


class AddressMap:
    """The nodes of one virtual cluster, with their listeners.

    `host` is advertised for every node; None advertises the address to which the client connected. `shift` is added to
    advertised ports.
    """

    def __init__(self, ports: PortStrategy, bind: Bind, host: str | None, shift: int = 0) -> None:
        self._ports = ports
        self._bind = bind
        self._host = host
        self._shift = shift
        self._nodes: dict[int, NodeAddress] = {}
        self._retired: dict[int, Listening] = {}
        self._reserved: dict[int, Listening] = {}
        self._unmapped: dict[int, Unmapped] = {}

    @property
    def nodes(self) -> Mapping[int, NodeAddress]:
        """All nodes that have a port."""
        return MappingProxyType(self._nodes)

    @property
    def retired(self) -> Sequence[Listening]:
        """The open listeners of nodes that have left the topology."""
        return tuple(self._retired.values())

    @property
    def unmapped(self) -> Mapping[int, Unmapped]:
        """The nodes without a port; a node leaves when it gets one or the cluster stops reporting it."""
        return MappingProxyType(self._unmapped)

    def bind_known(self) -> None:
        """Listen for every node that the configuration names; raises `NoPortError` when a port is taken."""
        for node_id in self._ports.known():
            self._node(node_id)

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        """Return the address to advertise for a node at host:port, to a client that connected to `local_host`.

        The node's port is bound on return. Raises `NoPortError` when the node can have no port.
        """
        try:
            node = self._node(node_id)
        except NoPortError as error:
            self._unmapped[node_id] = Unmapped((host, port), error)
            raise
        if node.upstream is None:
            node.upstream = (host, port)
        return self.advertised(node, local_host)

    def advertised(self, node: NodeAddress, local_host: str) -> tuple[str, int]:
        """Return the address of a node that is advertised to a client that connected to `local_host`."""
        return self._host or local_host, node.port + self._shift

    def learn(self, nodes: Iterable[UpstreamNode]) -> None:
        """Take over the current addresses of all nodes of the cluster.

        Gives every node a port that can have one, then raises one `NoPortError` that names all nodes without a port.
        """
        named: dict[int, Address] = {node_id: (host, port) for node_id, host, port in nodes}
        for node_id in self._unmapped.keys() - named.keys():
            del self._unmapped[node_id]
        self._place(named)

    def miss(self, node_ids: Iterable[int], now: float) -> None:
        """Note that the cluster does not report these nodes at the moment; they keep their listeners."""
        for node_id in node_ids:
            node = self._nodes.get(node_id)
            if node is not None and node.gone_since is None:
                node.gone_since = now

    def renew(self, nodes: Sequence[UpstreamNode], now: float) -> None:
        """Take over a new topology: retire the listeners of all nodes that it does not have, then do as `learn`."""
        for node_id in self._nodes.keys() - {node_id for node_id, _, _ in nodes}:
            self._retire(node_id, now)
        self.learn(nodes)

    def remap(self, ports: PortStrategy, host: str | None, shift: int, now: float) -> None:
        """Change the mapping: retire the listeners at ports that it does not allow, and give their nodes new ones.

        Gives every node a port that can have one, then raises one `NoPortError` that names all nodes without a port.
        """
        self._ports, self._host, self._shift = ports, host, shift
        moved = [node for node in self._nodes.values() if not ports.allows(node.node_id, node.port)]
        for node in moved:
            self._retire(node.node_id, now)
        named = {node.node_id: node.upstream for node in moved if node.upstream and node.gone_since is None}
        for node in moved:
            if node.node_id not in named:  # it is advertised to nobody at the moment: it can do without a port
                with suppress(NoPortError):
                    again = self._node(node.node_id)
                    again.upstream, again.gone_since = node.upstream, node.gone_since
        self._place(named | {node_id: node.upstream for node_id, node in self._unmapped.items()})

    def reserve(self, node_ids: Iterable[int], ports: PortStrategy | None = None) -> Sequence[NoPortError]:
        """Listen for the nodes of a future topology, by the future mapping; return an error for each that gets no port.

        A node takes its reserved listener when the topology reports it; `release` closes the others.
        """
        problems = []
        for node_id in node_ids:
            try:
                self._reserve(node_id, ports or self._ports)
            except NoPortError as error:
                problems.append(error)
        return problems

    def release(self) -> None:
        """Close the reserved listeners that no node has taken."""
        for listener in self._reserved.values():
            listener.close()
        self._reserved.clear()

    def retry(self, named: Container[int] | None) -> None:
        """Look again for ports for the nodes without one; forget those that are not in `named` (None: forget none)."""
        for node_id, node in list(self._unmapped.items()):
            if named is not None and node_id not in named:
                del self._unmapped[node_id]
            else:
                with suppress(NoPortError):
                    self._place({node_id: node.upstream})

    def expire(self, before: float) -> list[Listening]:
        """Close and return the listeners that are retired, or have a gone node, since `before` or earlier."""
        for node in [node for node in self._nodes.values() if _past(node.gone_since, before)]:
            self._retire(node.node_id, before)
        closed = [listener for listener in self._retired.values() if _past(listener.retired, before)]
        for listener in closed:
            del self._retired[listener.port]
            listener.close()
        return closed

    def upstream(self, node_id: int) -> Address | None:
        """Return the address of a node's broker; None when no broker has reported it."""
        node = self._nodes.get(node_id)
        return None if node is None else node.upstream

    def _retire(self, node_id: int, now: float) -> None:
        listener = self._nodes.pop(node_id).listener
        listener.retired = now
        self._retired[listener.port] = listener

    def _place(self, nodes: Mapping[int, Address]) -> None:
        """Give each node a port, or note it as unmapped; raise one error that names all unmapped ones."""
        problems = []
        for node_id, upstream in nodes.items():
            try:
                node = self._node(node_id)
            except NoPortError as error:
                self._unmapped[node_id] = Unmapped(upstream, error)
                problems.append(error)
            else:
                node.upstream, node.gone_since = upstream, None
        if problems:
            raise NoPortError.of_all(problems)

    def _node(self, node_id: int) -> NodeAddress:
        node = self._nodes.get(node_id)
        if node is None:
            listener = self._assigned(self._listener_for(node_id, self._ports), node_id)
            node = self._nodes[node_id] = NodeAddress(node_id, listener)
            self._unmapped.pop(node_id, None)
        return node

    def _reserve(self, node_id: int, ports: PortStrategy) -> None:
        known = self._listeners()
        listener = self._listener_for(node_id, ports)
        if listener.port not in known:
            self._reserved[listener.port] = listener

    def _listener_for(self, node_id: int, ports: PortStrategy) -> Listening:
        """Return the node's own listener, which may be retired; else bind a new one.

        Where a node has only one possible port, an open listener there from an earlier mapping becomes the node's.
        """
        known = self._listeners()
        for listener in known.values():
            if listener.node_id == node_id and ports.allows(node_id, listener.port):
                return listener
        for candidate in ports.candidates(node_id):
            bound = self._bind(node_id, candidate) if candidate not in known else None
            if bound is not None:
                return bound
            if candidate in known and not ports.chooses:
                return known[candidate]
        raise NoPortError(Reason.NO_FREE_PORT, ports.exhausted(node_id))

    def _listeners(self) -> dict[int, Listening]:
        """Return every open listener by its port."""
        return {node.port: node.listener for node in self._nodes.values()} | self._retired | self._reserved

    def _assigned(self, listener: Listening, node_id: int) -> Listening:
        """Make the listener this node's: it is no longer retired, reserved or another node's."""
        self._retired.pop(listener.port, None)
        self._reserved.pop(listener.port, None)
        listener.node_id, listener.retired = node_id, None
        return listener


def _past(moment: float | None, before: float) -> bool:
    return moment is not None and moment <= before
