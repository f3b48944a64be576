"""The nodes of a virtual cluster: where each really is, what clients are told. Pure but for the `bind` it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kproxy.observe.reasons import Reason
from kproxy.routing.ports import NoPortError, PortStrategy

Bind = Callable[[int, int], int | None]
"""Takes a node id and a port; listens there for the node, returns the port bound, or None when it is taken.

Raises `NoPortError` when no other port could be had either.
"""


@dataclass(slots=True)
class NodeAddress:
    """A node: `upstream` is where its broker was last said to be, None until a broker said so; `port` is kproxy's."""

    node_id: int
    port: int
    upstream: tuple[str, int] | None = None


class AddressMap:
    """`host` is what clients are told, None for the address at which the client came in; `shift` is added to ports."""

    def __init__(self, ports: PortStrategy, bind: Bind, host: str | None, shift: int = 0) -> None:
        self._ports = ports
        self._bind = bind
        self._host = host
        self._shift = shift
        self._nodes: dict[int, NodeAddress] = {}
        self._taken: set[int] = set()

    @property
    def nodes(self) -> Mapping[int, NodeAddress]:
        """All nodes that have a port."""
        return MappingProxyType(self._nodes)

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

    def learn(self, nodes: Iterable[tuple[int, str, int]]) -> None:
        """Where nodes (id, host, port) are now; raises `NoPortError` when there is no port for one."""
        for node_id, host, port in nodes:
            self._node(node_id).upstream = (host, port)

    def upstream(self, node_id: int) -> tuple[str, int] | None:
        """Where a node's broker is, if a broker has said so."""
        node = self._nodes.get(node_id)
        return None if node is None else node.upstream

    def _node(self, node_id: int) -> NodeAddress:
        node = self._nodes.get(node_id)
        if node is None:
            node = self._nodes[node_id] = NodeAddress(node_id, self._bound(node_id))
        return node

    def _bound(self, node_id: int) -> int:
        for candidate in self._ports.candidates(node_id):
            if candidate in self._taken:
                continue
            port = self._bind(node_id, candidate)
            if port is not None:
                self._taken.add(port)
                return port
        raise NoPortError(Reason.NO_FREE_PORT, self._ports.exhausted(node_id))
