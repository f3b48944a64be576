# This module is pure (no I/O, no clock).
"""The nodes of a virtual cluster: each broker's real address, and the place at which clients reach it through kproxy.

`Nodes` makes a map when kproxy starts. It asks the map at each dial and each response with addresses, and changes it
when the topology or the configuration changes. The module is pure, apart from the `bind` that the caller passes in.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol

from kproxy.observe.reasons import Reason
from kproxy.routing.places import Address, NodePlaces, NoPortError, Place

UpstreamNode = tuple[int, str, int]
"""A node's id, host and port, as its cluster reports them."""


class Listening(Protocol):
    """An open listener for a node; `retired` is when (seconds) the node left the topology, None before that."""

    node_id: int | None
    retired: float | None

    @property
    def place(self) -> Place:
        """Where it listens."""

    def close(self) -> None:
        """Stop listening."""


Bind = Callable[[int, Place], Listening | None]
"""(node id, place) -> a listener for the node at that place, or None when it is taken.

Raises `NoPortError` when nothing else can be bound either.
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
    def place(self) -> Place:
        """Where kproxy listens for it."""
        return self.listener.place


@dataclass(frozen=True, slots=True)
class Unmapped:
    """A node that the cluster reports but that has no port: its broker's address, and why it has no port."""

    upstream: Address
    why: NoPortError


class AddressMap:
    """The nodes of one virtual cluster, with their listeners; `places` are those that they may have."""

    def __init__(self, places: NodePlaces, bind: Bind) -> None:
        self._places = places
        self._bind = bind
        self._nodes: dict[int, NodeAddress] = {}
        self._retired: dict[Place, Listening] = {}
        self._reserved: dict[Place, Listening] = {}
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

    @property
    def reported(self) -> Set[int]:
        """Ids of the nodes with a port that the cluster reports."""
        return {node.node_id for node in self._nodes.values() if node.upstream and node.gone_since is None}

    def bind_known(self) -> None:
        """Listen for every node that the configuration names; raises `NoPortError` when a port is taken."""
        for node_id in self._places.known():
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
        return self._places.advertised(node.place, local_host)

    def learn(self, nodes: Iterable[UpstreamNode]) -> None:
        """Take over the current addresses of all nodes of the cluster.

        Gives every node a port that can have one, then raises one `NoPortError` that names all nodes without a port.
        """
        named: dict[int, Address] = {node_id: (host, port) for node_id, host, port in nodes}
        for node_id in self._unmapped.keys() - named.keys():
            del self._unmapped[node_id]
        self._settle(named)

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

    def remap(self, places: NodePlaces, now: float) -> None:
        """Change the mapping: retire the listeners at places that it does not allow, and give their nodes new ones.

        Gives every node a port that can have one, then raises one `NoPortError` that names all nodes without a port.
        """
        self._places = places
        moved = [node for node in self._nodes.values() if not places.allows(node.node_id, node.place)]
        for node in moved:
            self._retire(node.node_id, now)
        self._take_in(moved)

    def elsewhere(self, places: NodePlaces, bind: Bind) -> AddressMap:
        """Return a map of the same nodes whose listeners are made by another `bind`; nodes that keep a place have it.

        This map stays as it is, and the new one has no retired listener; one of the two is to be closed. A node without
        a port is unmapped in the new one.
        """
        made = AddressMap(places, bind)
        made._unmapped = dict(self._unmapped)
        kept = self._nodes.values() if places.keeps(self._places) else ()
        for node in kept:  # all of them before any other node takes a place that one of them has
            with suppress(NoPortError):  # it is tried again below
                if places.allows(node.node_id, node.place) and (listener := bind(node.node_id, node.place)):
                    made._nodes[node.node_id] = replace(node, listener=listener)
        with suppress(NoPortError):
            made._take_in([node for node_id, node in self._nodes.items() if node_id not in made._nodes])
        return made

    def close(self) -> None:
        """Close all listeners; the map is not used any more."""
        for listener in self._listeners().values():
            listener.close()

    def reserve(self, node_ids: Iterable[int], places: NodePlaces | None = None) -> Sequence[NoPortError]:
        """Listen for the nodes of a future topology, by the future mapping; return an error for each that gets no port.

        A node takes its reserved listener when the topology reports it; `release` closes the others.
        """
        problems = []
        for node_id in node_ids:
            try:
                self._reserve(node_id, places or self._places)
            except NoPortError as error:
                problems.append(error)
        return problems

    def lacking(self, node_ids: Iterable[int]) -> Mapping[int, NoPortError]:
        """Return the nodes of a future topology that would get no port, and why; nothing listens afterwards.

        Where a node has only one place it is tried; one of many is taken to be free while no other listener has it.
        """
        found, taken = dict[int, NoPortError](), set(self._listeners())
        for node_id in node_ids:
            try:
                if self._places.chooses:
                    taken.add(self._free(node_id, taken))
                else:
                    self._reserve(node_id, self._places)
                    self.release()  # one socket at a time, however many nodes there are
            except NoPortError as error:
                found[node_id] = error
        return found

    def _free(self, node_id: int, taken: Container[Place]) -> Place:
        """Return the node's own place, or the first one that is not taken; raises `NoPortError`."""
        for listener in self._listeners().values():
            if listener.node_id == node_id and self._places.allows(node_id, listener.place):
                return listener.place
        for place in self._places.candidates(node_id):
            if not place or place not in taken:
                return place
        raise NoPortError(Reason.NO_FREE_PORT, self._places.exhausted(node_id))

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
                    self._settle({node_id: node.upstream})

    def expire(self, before: float) -> list[Listening]:
        """Close and return the listeners that are retired, or have a gone node, since `before` or earlier."""
        for node in [node for node in self._nodes.values() if _past(node.gone_since, before)]:
            self._retire(node.node_id, before)
        closed = [listener for listener in self._retired.values() if _past(listener.retired, before)]
        for listener in closed:
            del self._retired[listener.place]
            listener.close()
        return closed

    def upstream(self, node_id: int) -> Address | None:
        """Return the address of a node's broker; None when no broker has reported it."""
        node = self._nodes.get(node_id)
        return None if node is None else node.upstream

    def _retire(self, node_id: int, now: float) -> None:
        listener = self._nodes.pop(node_id).listener
        listener.retired = now
        self._retired[listener.place] = listener

    def _take_in(self, nodes: Sequence[NodeAddress]) -> None:
        """Give nodes, and those that are unmapped, new listeners; raise one error that names all without a port."""
        named = {node.node_id: node.upstream for node in nodes if node.upstream and node.gone_since is None}
        for node in nodes:
            if node.node_id not in named:  # it is advertised to nobody at the moment: it can do without a port
                with suppress(NoPortError):
                    again = self._node(node.node_id)
                    again.upstream, again.gone_since = node.upstream, node.gone_since
        self._settle(named | {node_id: node.upstream for node_id, node in self._unmapped.items()})

    def _settle(self, nodes: Mapping[int, Address]) -> None:
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
            listener = self._assigned(self._listener_for(node_id, self._places), node_id)
            node = self._nodes[node_id] = NodeAddress(node_id, listener)
            self._unmapped.pop(node_id, None)
        return node

    def _reserve(self, node_id: int, places: NodePlaces) -> None:
        known = self._listeners()
        listener = self._listener_for(node_id, places)
        if listener.place not in known:
            self._reserved[listener.place] = listener

    def _listener_for(self, node_id: int, places: NodePlaces) -> Listening:
        """Return the node's own listener, which may be retired; else bind a new one.

        Where a node has only one possible place, an open listener there from an earlier mapping becomes the node's.
        """
        known = self._listeners()
        for listener in known.values():
            if listener.node_id == node_id and places.allows(node_id, listener.place):
                return listener
        for candidate in places.candidates(node_id):
            bound = self._bind(node_id, candidate) if candidate not in known else None
            if bound is not None:
                return bound
            if candidate in known and not places.chooses:
                return known[candidate]
        raise NoPortError(Reason.NO_FREE_PORT, places.exhausted(node_id))

    def _listeners(self) -> dict[Place, Listening]:
        """Return every open listener by its place."""
        return {node.place: node.listener for node in self._nodes.values()} | self._retired | self._reserved

    def _assigned(self, listener: Listening, node_id: int) -> Listening:
        """Make the listener this node's: it is no longer retired, reserved or another node's."""
        self._retired.pop(listener.place, None)
        self._reserved.pop(listener.place, None)
        listener.node_id, listener.retired = node_id, None
        return listener


def _past(moment: float | None, before: float) -> bool:
    return moment is not None and moment <= before
