"""The listeners of a virtual cluster: one to bootstrap, one for each node, all into the same entrance."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import structlog
import trio

from kproxy.errors import ConfigError
from kproxy.observe.reasons import Reason
from kproxy.routing.address_map import AddressMap
from kproxy.routing.doors import Door
from kproxy.routing.listeners import OUT_OF_RESOURCES, listen
from kproxy.routing.ports import NoPortError, PortStrategy, Span
from kproxy.routing.strategy import port_strategy
from kproxy.upstream.dial import reason

if TYPE_CHECKING:
    from kproxy.config import VirtualCluster
    from kproxy.relay.acceptor import Destination, Entrance

log = structlog.get_logger("kproxy.cluster")


class Doors:
    """`listen` is the bootstrap listener's host and port once it is bound.

    `closing`, once set, makes every node's door one of a retired node: clients are told to go elsewhere.
    """

    def __init__(self, settings: VirtualCluster, index: int, claimed: tuple[Span, ...]) -> None:
        self.listen = (settings.listen.host, settings.listen.port)
        self.closing = False
        self._settings = settings
        self._index = index
        self._claimed = claimed
        self._bootstrap: Door
        self._work: trio.Nursery
        self._open: trio.Nursery
        self._entrance: Entrance
        self._destination: Destination

    def start(self, destination: Destination, work: trio.Nursery, doors: trio.Nursery, entrance: Entrance) -> None:
        """Listen where clients bootstrap; raises `ConfigError`."""
        self._destination, self._work, self._open, self._entrance = destination, work, doors, entrance
        try:
            listener = listen(*self.listen)
        except OSError as error:
            detail = f"cannot listen on {self._settings.listen}: {reason(error)}"
            raise ConfigError(f"clusters.{self._index}.listen", detail) from error
        self._bootstrap = Door(listener, None)
        self.listen = (self.listen[0], self._bootstrap.port)
        doors.start_soon(self._bootstrap.serve, work, self._admit)

    def address_map(self, settings: VirtualCluster) -> AddressMap:
        """The nodes' addresses as the settings want them."""
        strategy, host, shift = self.mapping(settings)
        return AddressMap(strategy, self._bind, host, shift)

    def mapping(self, settings: VirtualCluster) -> tuple[PortStrategy, str | None, int]:
        """Which ports nodes get, the host that clients are told, and what is added to ports that they are told."""
        nodes = settings.nodes
        first = settings.first_port if nodes.first_port is not None else self.listen[1] + 1
        shift = 0 if nodes.advertised_first_port is None else nodes.advertised_first_port - first
        return port_strategy(settings, first, self._claimed), settings.advertised_host, shift

    def leave(self) -> None:
        """Nobody bootstraps here any more, and who comes to a node is told so."""
        self.closing = True
        self._bootstrap.close()

    async def _admit(self, door: Door, client: socket.socket) -> None:
        retired = door.retired is not None or (self.closing and door.node_id is not None)
        await self._entrance.admit(self._destination, door.node_id, client, retired=retired)

    def _bind(self, node_id: int, port: int) -> Door | None:
        try:
            listener = listen(self.listen[0], port)
        except OSError as error:
            if error.errno in OUT_OF_RESOURCES:
                raise NoPortError(Reason.OUT_OF_DESCRIPTORS, f"node {node_id}: {error.strerror}") from error
            return None
        door = Door(listener, node_id)
        if self._open.cancel_scope.cancel_called:  # draining: nobody new is let in, by this door neither
            door.close()
            return door
        self._open.start_soon(self._serve, door)
        return door

    async def _serve(self, door: Door) -> None:
        """What was reserved only, and is given up already, was no node's port."""
        if not door.closed:
            log.info("node has a port", cluster=self._settings.name, node=door.node_id, port=door.port)
            await door.serve(self._work, self._admit)
