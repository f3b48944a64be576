"""How a virtual cluster listens: at a port for each node, or (`kproxy.cluster.shared_ports`) by names at one port.

`Listeners` opens one of the two when the virtual cluster starts.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Protocol

import structlog
import trio

from kproxy.observe.faults import note, note_shortage, shortage_in
from kproxy.observe.reasons import Reason
from kproxy.observe.troubles import Where
from kproxy.routing.binding import listen
from kproxy.routing.listeners import Listener
from kproxy.routing.places import NoPortError

if TYPE_CHECKING:
    from kproxy.config import VirtualCluster
    from kproxy.relay.destination import Destination
    from kproxy.relay.relay import Relay
    from kproxy.routing.address_map import Listening
    from kproxy.routing.places import Place

log = structlog.get_logger("kproxy.cluster")


class Host(Protocol):
    """The virtual cluster to which clients come."""

    destination: Destination

    def counts_as_retired(self, node_id: int | None, retired: float | None) -> bool:
        """Return True when a client at a listener is sent to other nodes; `retired` as of `Listening`."""


class Doors(Protocol):
    """The listeners of one virtual cluster; `port` is that of `listen`, `bound` the addresses there, once bound."""

    port: int
    bound: list[str]
    bootstrap: Listening

    def adopt(self, settings: VirtualCluster) -> None:
        """Apply other settings, before the nodes' listeners follow them."""

    def close(self) -> None:
        """Bootstrap nobody here any more: the virtual cluster is removed (`listening` is cancelled), or moves."""

    def bind(self, node_id: int, place: Place) -> Listening | None:
        """Return a listener for a node; None when the place is taken. Raises `NoPortError` for a shortage."""

    def listener_at(self, host: str, port: int, name: str) -> Listening | None:
        """Return where those come to who connect to this address of the machine, by this name; None if not here."""


class PortDoors:
    """A listener for each node. Implements `Doors`.

    Raises OSError when the bootstrap port cannot be bound. Clients are served in `work`; sockets live in `listening`.
    """

    def __init__(
        self,
        address: tuple[str, int],
        host: Host,
        work: trio.Nursery,
        listening: trio.Nursery,
        relay: Relay,
        before: PortDoors | None = None,
    ) -> None:
        """`before` are to be closed for these: a port that is open there stays open, whosever it is, if `host` does."""
        self.before = before
        self._address = address[0]
        self._host = host
        self._work = work
        self._listening = listening
        self._relay = relay
        self._listeners: dict[int, Listener] = {}
        """By port, the newest of each; some are just closed."""
        bootstrap = self._opened(None, address[1])
        self.port, self.bound = bootstrap.port, bootstrap.bound
        self.bootstrap: Listening = bootstrap

    def adopt(self, settings: VirtualCluster) -> None:
        """As `Doors.adopt`: an open port stays as it is."""

    def close(self) -> None:
        """As `Doors.close`: the nodes' sockets close as `listening` is cancelled, or by their map."""
        self.bootstrap.close()

    def bind(self, node_id: int, place: Place) -> Listener | None:
        """As `Doors.bind`."""
        try:
            return self._opened(node_id, int(place))
        except OSError as error:
            if shortage := shortage_in(error):
                note_shortage(self._host.destination.counters.troubles, shortage, f"open the port of node {node_id}")
                raise NoPortError(Reason.OUT_OF_DESCRIPTORS, f"node {node_id}: {error.strerror}") from error
            return None

    def listener_at(self, host: str, port: int, name: str) -> Listener | None:
        """As `Doors.listener_at`."""
        found = self._listeners.get(port)
        return found if found is not None and found.takes(host) else None

    def _opened(self, node_id: int | None, port: int) -> Listener:
        known = None if self.before is None else self.before.copies(self._address, port)
        listener = Listener(listen(self._address, port) if known is None else known, node_id)
        self._listeners[listener.port] = listener
        if self._listening.cancel_scope.cancel_called:  # draining: this listener must not let clients in either
            listener.close()
        else:
            self._listening.start_soon(self._serve, listener, known is None)
        return listener

    def copies(self, address: str, port: int) -> tuple[socket.socket, ...] | None:
        """Return other descriptors of the sockets that listen at an address of these doors, if some do."""
        found = self._listeners.get(port)
        return None if found is None or found.closed or address != self._address else found.copies()

    async def _admit(self, listener: Listener, client: socket.socket) -> None:
        destination = self._host.destination
        try:
            retired = self._host.counts_as_retired(listener.node_id, listener.retired)
            await self._relay.admit(destination, listener.node_id, client, retired=retired)
        except Exception as error:  # no client's start ends another's, nor the listener
            note(destination.counters.troubles, Where.ADMIT, error)
            client.close()

    async def _serve(self, listener: Listener, is_new: bool) -> None:
        """Serve, unless the listener was only reserved and is closed again: then it was never a node's port."""
        if not listener.closed:
            counters = self._host.destination.counters
            if listener.node_id is not None and is_new:
                log.info("node has a port", cluster=counters.name, node=listener.node_id, port=listener.port)
            await listener.serve(self._work, self._admit, self._relay.turns, counters.troubles)
        if self._listeners.get(listener.port) is listener:  # each reservation of a port makes one
            del self._listeners[listener.port]
