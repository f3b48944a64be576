"""The nodes of a virtual cluster: where each really is, what clients are told. Pure but for the `bind` it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from kproxy.observe.reasons import Reason
from kproxy.routing.ports import NoPortError, PortStrategy

UpstreamNode = tuple[int, str, int]
"""Id, host and port of a node as its cluster names it."""


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
    """A node: `upstream` is where its broker was last said to be, None until a broker said so; `door` is kproxy's.

    `gone_since` is when (seconds) the cluster ceased to name it: a broker that restarts is gone for a moment, too.
    """

    node_id: int
    door: Listening
    upstream: tuple[str, int] | None = None
    gone_since: float | None = None

    @property
    def port(self) -> int:
        """Where kproxy listens for it."""
        return self.door.port


class AddressMap:
    """`host` is what clients are told, None for the address at which the client came in; `shift` is added to ports."""

    def __init__(self, ports: PortStrategy, bind: Bind, host: str | None, shift: int = 0) -> None:
        self._ports = ports
        self._bind = bind
        self._host = host
        self._shift = shift
        self._nodes: dict[int, NodeAddress] = {}
        self._retired: dict[int, Listening] = {}

    @property
    def nodes(self) -> Mapping[int, NodeAddress]:
        """All nodes that have a port."""
        return MappingProxyType(self._nodes)

    @property
    def retired(self) -> Sequence[Listening]:
        """The doors of nodes that the topology no longer has, as long as they are open."""
        return tuple(self._retired.values())

    def bind_known(self) -> None:
        """Listen for every node that the configuration names; raises `NoPortError` when a port is taken."""
        for node_id in self._ports.known():
            self._node(node_id)

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        """What a client that came in at `local_host` is told for a node that is at host:port.

        The node's port is bound on return. Raises `NoPortError` when there is none for it.
        """
        node = self._node(node_id)
        if node.upstream is None:
            node.upstream = (host, port)
        return self.advertised(node, local_host)

    def advertised(self, node: NodeAddress, local_host: str) -> tuple[str, int]:
        """What a client that came in at `local_host` is told for a node."""
        return self._host or local_host, node.port + self._shift

    def learn(self, nodes: Iterable[UpstreamNode]) -> None:
        """Where nodes are now; raises `NoPortError` when there is no port for one."""
        for node_id, host, port in nodes:
            node = self._node(node_id)
            node.upstream = (host, port)
            node.gone_since = None

    def miss(self, node_ids: Iterable[int], now: float) -> None:
        """Nodes that the cluster does not name at the moment; they keep their doors."""
        for node_id in node_ids:
            node = self._nodes.get(node_id)
            if node is not None and node.gone_since is None:
                node.gone_since = now

    def renew(self, nodes: Sequence[UpstreamNode], now: float) -> None:
        """A new topology: the doors of all nodes that it does not have are retired; otherwise as `learn`."""
        for node_id in self._nodes.keys() - {node_id for node_id, _, _ in nodes}:
            self._retire(node_id, now)
        self.learn(nodes)

    def remap(self, ports: PortStrategy, host: str | None, shift: int, now: float) -> None:
        """Another mapping: doors at other ports than it gives are retired, and their nodes get new ones.

        Raises `NoPortError` when a node has no port in it; it then has none, and the others have theirs.
        """
        self._ports, self._host, self._shift = ports, host, shift
        moved = [node for node in self._nodes.values() if not ports.allows(node.node_id, node.port)]
        for node in moved:
            self._retire(node.node_id, now)
        problems = []
        for node in moved:
            try:
                self._node(node.node_id).upstream = node.upstream
            except NoPortError as error:
                problems.append(error)
        if problems:
            raise problems[0]

    def expire(self, before: float) -> list[Listening]:
        """Close the doors of nodes that were retired, or not named any more, at `before` or earlier; returns them."""
        for node in [node for node in self._nodes.values() if _past(node.gone_since, before)]:
            self._retire(node.node_id, before)
        closed = [door for door in self._retired.values() if _past(door.retired, before)]
        for door in closed:
            del self._retired[door.port]
            door.close()
        return closed

    def upstream(self, node_id: int) -> tuple[str, int] | None:
        """Where a node's broker is, if a broker has said so."""
        node = self._nodes.get(node_id)
        return None if node is None else node.upstream

    def _retire(self, node_id: int, now: float) -> None:
        door = self._nodes.pop(node_id).door
        door.retired = now
        self._retired[door.port] = door

    def _node(self, node_id: int) -> NodeAddress:
        node = self._nodes.get(node_id)
        if node is None:
            node = self._nodes[node_id] = NodeAddress(node_id, self._own(node_id) or self._bound(node_id))
        return node

    def _own(self, node_id: int) -> Listening | None:
        """The node's door from before it was retired, if that still is its place."""
        for door in self._retired.values():
            if door.node_id == node_id and self._ports.allows(node_id, door.port):
                return self._reopened(door, node_id)
        return None

    def _bound(self, node_id: int) -> Listening:
        taken = {node.port for node in self._nodes.values()}
        for candidate in self._ports.candidates(node_id):
            if candidate in taken:
                continue
            if candidate in self._retired:
                if self._ports.chooses:
                    continue
                return self._reopened(self._retired[candidate], node_id)
            door = self._bind(node_id, candidate)
            if door is not None:
                return door
        raise NoPortError(Reason.NO_FREE_PORT, self._ports.exhausted(node_id))

    def _reopened(self, door: Listening, node_id: int) -> Listening:
        del self._retired[door.port]
        door.node_id, door.retired = node_id, None
        return door


def _past(moment: float | None, before: float) -> bool:
    return moment is not None and moment <= before
