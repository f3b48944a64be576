"""The listeners of a virtual cluster: one to bootstrap, and one for each node.

The virtual cluster starts them. A node's listener is bound when the node is first seen, before any client learns of it.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import structlog
import trio

from kproxy.errors import ConfigError
from kproxy.observe.faults import note, note_shortage, shortage_in
from kproxy.observe.reasons import Reason
from kproxy.observe.troubles import Where
from kproxy.routing.address_map import AddressMap
from kproxy.routing.listeners import Listener, listen
from kproxy.routing.ports import NoPortError, PortStrategy, Span, port_strategy
from kproxy.upstream.dial import reason

if TYPE_CHECKING:
    from kproxy.config import VirtualCluster
    from kproxy.relay.acceptor import Destination
    from kproxy.relay.relay import Relay

log = structlog.get_logger("kproxy.cluster")


class Listeners:
    """The listeners of one virtual cluster: `start` binds the bootstrap listener, the nodes' are bound when needed."""

    def __init__(self, settings: VirtualCluster, index: int, claimed: tuple[Span, ...]) -> None:
        self.listen = (settings.listen.host, settings.listen.port)
        """The bootstrap listener's host and port, once it is bound."""
        self.closing = False
        """True when clients must go elsewhere: every node's listener then counts as a retired node's."""
        self._settings = settings
        self._index = index
        self._claimed = claimed
        self._bootstrap: Listener
        self._work: trio.Nursery
        self._open: trio.Nursery
        self._relay: Relay
        self._destination: Destination

    def start(self, destination: Destination, work: trio.Nursery, listening: trio.Nursery, relay: Relay) -> None:
        """Bind the bootstrap listener and accept clients there; raises `ConfigError`.

        Clients are served in `work`; listeners live in `listening`.
        """
        self._destination, self._work, self._open, self._relay = destination, work, listening, relay
        try:
            listener = listen(*self.listen)
        except OSError as error:
            detail = f"cannot listen on {self._settings.listen}: {reason(error)}"
            raise ConfigError(f"clusters.{self._index}.listen", detail) from error
        self._bootstrap = Listener(listener, None)
        self.listen = (self.listen[0], self._bootstrap.port)
        listening.start_soon(self._serve, self._bootstrap)

    def address_map(self, settings: VirtualCluster) -> AddressMap:
        """Return a new map of the nodes' addresses, by the settings."""
        strategy, host, shift = self.mapping(settings)
        return AddressMap(strategy, self._bind, host, shift)

    def mapping(self, settings: VirtualCluster) -> tuple[PortStrategy, str | None, int]:
        """Return the nodes' port strategy, the advertised host, and what is added to a port to advertise it."""
        nodes = settings.nodes
        first = settings.first_port if nodes.first_port is not None else self.listen[1] + 1
        shift = 0 if nodes.advertised_first_port is None else nodes.advertised_first_port - first
        return port_strategy(settings, first, self._claimed), settings.advertised_host, shift

    def leave(self) -> None:
        """Close the bootstrap listener; from now on clients that come to a node are sent away."""
        self.closing = True
        self._bootstrap.close()

    async def _admit(self, listener: Listener, client: socket.socket) -> None:
        try:
            retired = listener.retired is not None or (self.closing and listener.node_id is not None)
            await self._relay.admit(self._destination, listener.node_id, client, retired=retired)
        except Exception as error:  # no client's start ends another's, nor the listener
            note(self._destination.counters.troubles, Where.ADMIT, error)
            client.close()

    def _bind(self, node_id: int, port: int) -> Listener | None:
        try:
            sock = listen(self.listen[0], port)
        except OSError as error:
            if shortage := shortage_in(error):
                note_shortage(self._destination.counters.troubles, shortage, f"open the port of node {node_id}")
                raise NoPortError(Reason.OUT_OF_DESCRIPTORS, f"node {node_id}: {error.strerror}") from error
            return None
        listener = Listener(sock, node_id)
        if self._open.cancel_scope.cancel_called:  # draining: this listener must not let clients in either
            listener.close()
            return listener
        self._open.start_soon(self._serve, listener)
        return listener

    async def _serve(self, listener: Listener) -> None:
        """Serve, unless the listener was only reserved and is closed again: then it was never a node's port."""
        if not listener.closed:
            if listener.node_id is not None:
                log.info("node has a port", cluster=self._settings.name, node=listener.node_id, port=listener.port)
            await listener.serve(self._work, self._admit, self._relay.turns, self._destination.counters.troubles)
