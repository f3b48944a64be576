"""The ports that virtual clusters share: one listener each, and names by which clients say whom they mean.

The process has one `SharedPorts`. A virtual cluster whose nodes have names opens its port there when it starts.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import structlog

from kproxy.observe.faults import note
from kproxy.observe.troubles import Where
from kproxy.relay.entrance import Way
from kproxy.routing.binding import listen
from kproxy.routing.listeners import Listener
from kproxy.routing.name_table import NamedListener, NameTable

if TYPE_CHECKING:
    import trio

    from kproxy.cluster.doors import Host
    from kproxy.config import VirtualCluster
    from kproxy.config.server_names import ServerNames
    from kproxy.relay.destination import Destination
    from kproxy.relay.relay import Relay
    from kproxy.routing.address_map import Listening
    from kproxy.routing.places import Place

log = structlog.get_logger("kproxy.cluster")


class SharedPort:
    """One port. Implements `kproxy.relay.entrance.Entrance`; `home` is the virtual cluster that has opened it."""

    def __init__(self, listener: Listener, home: Destination, relay: Relay) -> None:
        self.home = home
        self.port, self.bound = listener.port, listener.bound
        self.names: NameTable[Host] = NameTable()
        self._listener = listener
        self._relay = relay

    def way(self, name: str) -> Way | None:
        """As `Entrance.way`."""
        if (found := self.names.find(name)) is not None:
            retired = found.owner.counts_as_retired(found.node_id, found.retired)
            return Way(found.owner.destination, found.node_id, retired)
        owned = self.names.owned(name)
        return None if owned is None else Way(owned.owner.destination, owned.node_id, is_open=False)

    def takes(self, host: str) -> bool:
        """As `Listener.takes`."""
        return self._listener.takes(host)

    @property
    def closed(self) -> bool:
        """True when nobody has had a name here any more."""
        return self._listener.closed

    def leave(self, owner: Host) -> None:
        """Take all of an owner's names out; the port closes with the last owner, and another becomes its home."""
        self.names.disown(owner)
        others = self.names.owners
        if not others:
            self._listener.close()
        elif self.home is owner.destination:
            self.home = others[0].destination

    async def serve(self, work: trio.Nursery) -> None:
        """Accept clients, each in a task of `work`, until cancelled; none if everybody has left again already."""
        if self.closed:
            return
        await self._listener.serve(work, self._admit, self._relay.turns, self.home.counters.troubles)

    async def _admit(self, _: Listener, client: socket.socket) -> None:
        try:
            await self._relay.admit_by_name(self, client)
        except Exception as error:  # no client's start ends another's, nor the listener
            note(self.home.counters.troubles, Where.ADMIT, error)
            client.close()


class SharedPorts:
    """All of them, by the host and port that the settings name."""

    def __init__(self, work: trio.Nursery, listening: trio.Nursery) -> None:
        """Clients are served in `work`; the ports live in `listening`."""
        self._work = work
        self._listening = listening
        self._open: dict[tuple[str, int], SharedPort] = {}

    def at(self, address: tuple[str, int], home: Destination, relay: Relay) -> SharedPort:
        """Return the port at an address, opened for the first one that asks; any free port (0) is shared with nobody.

        Raises OSError when it cannot be bound.
        """
        if (found := self._open.get(address)) is not None and not found.closed:
            return found
        opened = SharedPort(Listener(listen(*address), None), home, relay)
        if address[1]:
            self._open[address] = opened
        self._listening.start_soon(opened.serve, self._work)
        return opened


class NameDoors:
    """The listeners of one virtual cluster at a shared port. Implements `Doors`."""

    def __init__(self, shared: SharedPort, owner: Host, settings: VirtualCluster, listening: trio.Nursery) -> None:
        self._shared = shared
        self.port, self.bound = shared.port, shared.bound
        self._names = shared.names
        self._owner = owner
        self._listening = listening
        self.adopt(settings)
        self.bootstrap: Listening = self._names.listen(_names(settings).bootstrap, None, owner)

    def adopt(self, settings: VirtualCluster) -> None:
        """As `Doors.adopt`: a name that a node may have is no stranger's."""
        self._names.own(self._owner, _names(settings))

    def close(self) -> None:
        """As `Doors.close`: the port stays as long as others have names there."""
        self._shared.leave(self._owner)

    def bind(self, node_id: int, place: Place) -> NamedListener[Host]:
        """As `Doors.bind`; no name is ever taken."""
        listener = self._names.listen(str(place), node_id, self._owner)
        if not self._listening.cancel_scope.cancel_called:
            self._listening.start_soon(self._tell, listener)
        return listener

    def listener_at(self, host: str, port: int, name: str) -> NamedListener[Host] | None:
        """As `Doors.listener_at`."""
        found = self._names.find(name) if port == self.port and self._shared.takes(host) else None
        return found if found is not None and found.owner is self._owner else None

    async def _tell(self, listener: NamedListener[Host]) -> None:
        """Log a node's name, unless it was only reserved."""
        if not listener.closed:
            name = self._owner.destination.counters.name
            log.info("node has a name", cluster=name, node=listener.node_id, name=listener.place)


def _names(settings: VirtualCluster) -> ServerNames:
    names = settings.server_names
    assert names is not None  # a reload that changes nodes.strategy is refused
    return names
