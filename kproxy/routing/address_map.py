# This module is pure.
"""The nodes of a virtual cluster: where each really is, what clients are told. Pure but for the `bind` it is given."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from kproxy.observe.reasons import Reason
from kproxy.routing.ports import NoPortError, PortStrategy

UpstreamNode = tuple[int, str, int]
"""Id, host and port of a node as its cluster names it."""
Address = tuple[str, int]


class Listening(Protocol):
    """A port that is listened on for a node; `retired` is when (seconds) the node left the topology, None before."""

    node_id: int | None
    port: int
    retired: float | None

    def close(self) -> None:
        """Listen no more."""


Bind = Callable[[int, int], Listening | None]
"""Takes a node id and a port; listens there for the node; None when the port is taken.

Raises `NoPortError` when no other port could be had either.
"""


@dataclass(slots=True)
class NodeAddress:
    """A node: `upstream` is where its broker was last said to be, None until a broker said so; `listener` is kproxy's.

    `gone_since` is when (seconds) the cluster ceased to name it: a broker that restarts is gone for a moment, too.
    """

    node_id: int
    listener: Listening
    upstream: Address | None = None
    gone_since: float | None = None

    @property
    def port(self) -> int:
        """Where kproxy listens for it."""
        return self.listener.port


@dataclass(frozen=True, slots=True)
class Unmapped:
    """A node that the cluster names, for which there is no port: where its broker is, and why there is none."""

    upstream: Address
    why: NoPortError


class AddressMap:
    """`host` is what clients are told, None for the address at which the client came in; `shift` is added to ports."""

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
        """The listeners of nodes that the topology no longer has, as long as they are open."""
        return tuple(self._retired.values())

    @property
    def unmapped(self) -> Mapping[int, Unmapped]:
        """The nodes that have no port, until they have one or the cluster ceases to name them."""
        return MappingProxyType(self._unmapped)

    def bind_known(self) -> None:
        """Listen for every node that the configuration names; raises `NoPortError` when a port is taken."""
        for node_id in self._ports.known():
            self._node(node_id)

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        """What a client that came in at `local_host` is told for a node that is at host:port.

        The node's port is bound on return. Raises `NoPortError` when there is none for it.
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
        """What a client that came in at `local_host` is told for a node."""
        return self._host or local_host, node.port + self._shift

    def learn(self, nodes: Iterable[UpstreamNode]) -> None:
        """Where all nodes of the cluster are now.

        Raises `NoPortError`, which names each node that has no port, once the others have theirs.
        """
        named: dict[int, Address] = {node_id: (host, port) for node_id, host, port in nodes}
        for node_id in self._unmapped.keys() - named.keys():
            del self._unmapped[node_id]
        self._place(named)

    def miss(self, node_ids: Iterable[int], now: float) -> None:
        """Nodes that the cluster does not name at the moment; they keep their listeners."""
        for node_id in node_ids:
            node = self._nodes.get(node_id)
            if node is not None and node.gone_since is None:
                node.gone_since = now

    def renew(self, nodes: Sequence[UpstreamNode], now: float) -> None:
        """A new topology: the listeners of all nodes that it does not have are retired; otherwise as `learn`."""
        for node_id in self._nodes.keys() - {node_id for node_id, _, _ in nodes}:
            self._retire(node_id, now)
        self.learn(nodes)

    def remap(self, ports: PortStrategy, host: str | None, shift: int, now: float) -> None:
        """Another mapping: listeners at other ports than it gives are retired, and their nodes get new ones.

        Raises `NoPortError`, which names each node that has no port in it, once the others have theirs.
        """
        self._ports, self._host, self._shift = ports, host, shift
        moved = [node for node in self._nodes.values() if not ports.allows(node.node_id, node.port)]
        for node in moved:
            self._retire(node.node_id, now)
        named = {node.node_id: node.upstream for node in moved if node.upstream and node.gone_since is None}
        for node in moved:
            if node.node_id not in named:  # nobody hears of it at the moment: it needs no port
                with suppress(NoPortError):
                    again = self._node(node.node_id)
                    again.upstream, again.gone_since = node.upstream, node.gone_since
        self._place(named | {node_id: node.upstream for node_id, node in self._unmapped.items()})

    def reserve(self, node_ids: Iterable[int], ports: PortStrategy | None = None) -> Sequence[NoPortError]:
        """Listen for the nodes of a topology to be, by the mapping to be; returns those that can have no port.

        Nodes take what is reserved for them when they come; `release` gives up the rest.
        """
        problems = []
        for node_id in node_ids:
            try:
                self._reserve(node_id, ports or self._ports)
            except NoPortError as error:
                problems.append(error)
        return problems

    def release(self) -> None:
        """Listen no more at what was reserved, and has been taken by no node."""
        for listener in self._reserved.values():
            listener.close()
        self._reserved.clear()

    def retry(self, named: Container[int] | None) -> None:
        """Look again for ports for the nodes without one; those that are not `named` (None: all are) are forgotten."""
        for node_id, node in list(self._unmapped.items()):
            if named is not None and node_id not in named:
                del self._unmapped[node_id]
            else:
                with suppress(NoPortError):
                    self._place({node_id: node.upstream})

    def expire(self, before: float) -> list[Listening]:
        """Close, and return, the listeners of nodes that were retired, or last named, at `before` or earlier."""
        for node in [node for node in self._nodes.values() if _past(node.gone_since, before)]:
            self._retire(node.node_id, before)
        closed = [listener for listener in self._retired.values() if _past(listener.retired, before)]
        for listener in closed:
            del self._retired[listener.port]
            listener.close()
        return closed

    def upstream(self, node_id: int) -> Address | None:
        """Where a node's broker is, if a broker has said so."""
        node = self._nodes.get(node_id)
        return None if node is None else node.upstream

    def _retire(self, node_id: int, now: float) -> None:
        listener = self._nodes.pop(node_id).listener
        listener.retired = now
        self._retired[listener.port] = listener

    def _place(self, nodes: Mapping[int, Address]) -> None:
        """Each has a port then, or is noted as one that has none: the error names all of these."""
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
            node = self._nodes[node_id] = NodeAddress(node_id, self._taken(self._door(node_id, self._ports), node_id))
            self._unmapped.pop(node_id, None)
        return node

    def _reserve(self, node_id: int, ports: PortStrategy) -> None:
        known = self._listeners()
        listener = self._door(node_id, ports)
        if listener.port not in known:
            self._reserved[listener.port] = listener

    def _door(self, node_id: int, ports: PortStrategy) -> Listening:
        """The node's own if it has one, also from before it was retired; else a new one, bound.

        With one port to each node, whatever stands there from an earlier mapping becomes the node's.
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
        """Every open one by its port."""
        return {node.port: node.listener for node in self._nodes.values()} | self._retired | self._reserved

    def _taken(self, listener: Listening, node_id: int) -> Listening:
        """The listener, which stands for the node from now on and is nothing else any more."""
        self._retired.pop(listener.port, None)
        self._reserved.pop(listener.port, None)
        listener.node_id, listener.retired = node_id, None
        return listener


def _past(moment: float | None, before: float) -> bool:
    return moment is not None and moment <= before
