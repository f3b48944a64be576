"""The listeners of a virtual cluster: one to bootstrap, and one for each node.

The virtual cluster starts them. A node's listener is bound when the node is first seen, before any client learns of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
import trio

from kproxy.cluster.doors import Doors, PortDoors
from kproxy.cluster.shared_ports import NameDoors, SharedPorts
from kproxy.config.address import join_host_port
from kproxy.errors import ConfigError
from kproxy.routing.address_map import AddressMap, Listening
from kproxy.routing.places import NodePlaces, Place
from kproxy.routing.ports import Span
from kproxy.routing.strategy import strategy_of
from kproxy.upstream.dial import reason

if TYPE_CHECKING:
    from kproxy.config import VirtualCluster
    from kproxy.relay.destination import Destination
    from kproxy.relay.relay import Relay

log = structlog.get_logger("kproxy.cluster")


@dataclass(frozen=True, slots=True)
class _Site:
    """What listeners are opened for, and with."""

    destination: Destination
    work: trio.Nursery
    listening: trio.Nursery
    relay: Relay
    shared: SharedPorts


class Listeners:
    """The listeners of one virtual cluster: `start` binds the bootstrap listener, the nodes' are bound when needed."""

    def __init__(self, settings: VirtualCluster, index: int, claimed: tuple[Span, ...]) -> None:
        self.listen = (settings.listen.host, settings.listen.port)
        """The bootstrap listener's host and port, once it is bound."""
        self.closing = False
        """True when clients must go elsewhere: every node's listener then counts as a retired node's."""
        self.destination: Destination
        self._settings = settings
        self._index = index
        self._claimed = claimed
        self._doors: Doors | None = None
        self._site: _Site

    def start(
        self,
        destination: Destination,
        work: trio.Nursery,
        listening: trio.Nursery,
        relay: Relay,
        shared: SharedPorts,
    ) -> None:
        """Bind the bootstrap listener and accept clients there; raises `ConfigError`.

        Clients are served in `work`; listeners live in `listening`. `shared` are the process' ports with names.
        """
        self._site = _Site(destination, work, listening, relay, shared)
        self._open_at(self._site, None)

    def elsewhere(self, settings: VirtualCluster, index: int, claimed: tuple[Span, ...]) -> Listeners:
        """Return listeners by other settings, open beside these until one of the two is closed; raises `ConfigError`.

        A port at which both listen, at the same host, has one socket: it is never closed in between.
        """
        made = Listeners(settings, index, claimed)
        made._open_at(self._site, self._doors)
        return made

    def _open_at(self, site: _Site, before: Doors | None) -> None:
        self.destination, self._site = site.destination, site
        try:
            self._doors = doors = self._opened(site, before)
        except OSError as error:
            detail = f"cannot listen on {self._settings.listen}: {reason(error)}"
            raise ConfigError(f"clusters.{self._index}.listen", detail) from error
        self.listen = (self.listen[0], doors.port)

    def _opened(self, site: _Site, before: Doors | None) -> Doors:
        if self._settings.server_names is None:
            known = before if isinstance(before, PortDoors) else None
            return PortDoors(self.listen, self, site.work, site.listening, site.relay, known)
        port = site.shared.at(self.listen, site.destination, site.relay)
        return NameDoors(port, self, self._settings, site.listening)

    def announce(self) -> None:
        """Log where clients bootstrap: as configured, and the addresses that this is on this machine."""
        name = self.destination.counters.name
        log.info("listening", cluster=name, address=join_host_port(*self.listen), bound=self._open.bound)

    def address_map(self, settings: VirtualCluster) -> AddressMap:
        """Return a new map of the nodes' addresses, by the settings."""
        return AddressMap(self.places(settings), self.bind)

    def places(self, settings: VirtualCluster) -> NodePlaces:
        """Return which places the settings give to nodes."""
        return strategy_of(settings, self.listen[1], self._claimed)

    def settle(self) -> None:
        """Forget the listeners before these, which are closed."""
        if isinstance(self._doors, PortDoors):
            self._doors.before = None

    def adopt(self, settings: VirtualCluster) -> None:
        """Apply other settings, before the nodes' listeners follow them."""
        self._open.adopt(settings)

    def close(self) -> None:
        """Listen no more, at no port, if any is open."""
        if self._doors is not None:
            self._doors.close()

    @property
    def _open(self) -> Doors:
        assert self._doors is not None  # `start` has opened them
        return self._doors

    def leave(self) -> None:
        """Close the bootstrap listener; from now on clients that come to a node are sent away."""
        self.closing = True
        self._open.bootstrap.close()

    def counts_as_retired(self, node_id: int | None, retired: float | None) -> bool:
        """Return True when a client at a node's listener is sent to other nodes; `retired` as of `Listening`."""
        return retired is not None or (self.closing and node_id is not None)

    def listener_at(self, host: str, port: int, name: str) -> Listening | None:
        """As `Doors.listener_at`."""
        return self._open.listener_at(host, port, name)

    def bind(self, node_id: int, place: Place) -> Listening | None:
        """As `Doors.bind`."""
        return self._open.bind(node_id, place)
