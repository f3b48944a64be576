# This module is pure (no I/O, no clock).
"""Choose a node's port: by its id alone (offset), or the next free one (automatic).

kproxy.routing.strategy makes the one that the settings name. `AddressMap` asks it for the ports that a node may have,
when it meets a new node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from kproxy.config.nodes import same_interface
from kproxy.observe.reasons import Reason
from kproxy.routing.places import Address, NodePlaces, NoPortError, Place

if TYPE_CHECKING:
    from kproxy.config import Config
    from kproxy.config.nodes import Claim

MAX_PORT: Final = 65535

Span = tuple[int, int]
"""First and last port, inclusive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Advertised:
    """How ports are advertised: at `host` (None: where the client connected to), and with `shift` added."""

    host: str | None = None
    shift: int = 0

    def advertised(self, place: Place, local_host: str) -> Address:
        """Return the address of a node at this port for a client that connected to `local_host`."""
        return self.host or local_host, int(place) + self.shift


@dataclass(frozen=True, slots=True)
class OffsetPorts(_Advertised):
    """The port is `first_port` plus the node's place among `ranges` (first and last id, inclusive).

    Without ranges it is `first_port` plus the node's id. It follows from the configuration alone, so that every replica
    answers alike.
    """

    first_port: int
    ranges: Sequence[tuple[int, int]] = ()
    chooses: ClassVar[bool] = False
    """True when a node may have another port because one is taken."""

    def candidates(self, node_id: int) -> Iterable[int]:
        """Return the node's only port; raise `NoPortError` when it has none."""
        port = self.first_port + self._place(node_id)
        if not 0 < port <= MAX_PORT:
            detail = f"node {node_id} would get port {port}, {MAX_PORT} is the highest: give nodes.ranges"
            raise NoPortError(Reason.UNMAPPED_NODE, detail)
        return (port,)

    def allows(self, node_id: int, place: Place) -> bool:
        """Return True when the node may have this port."""
        try:
            return any(place == port for port in self.candidates(node_id))
        except NoPortError:
            return False

    def keeps(self, before: NodePlaces) -> bool:
        """Return True: a node has only one port."""
        del before
        return True

    def _place(self, node_id: int) -> int:
        if not self.ranges:
            return node_id
        before = 0
        for first, last in self.ranges:
            if first <= node_id <= last:
                return before + node_id - first
            before += last - first + 1
        raise NoPortError(Reason.UNMAPPED_NODE, f"node {node_id} is in none of nodes.ranges")

    def known(self) -> Sequence[int]:
        """Return the nodes that have ports before any broker is asked."""
        return [node_id for first, last in self.ranges for node_id in range(first, last + 1)]

    def exhausted(self, node_id: int) -> str:
        """Say why no candidate could be bound."""
        return f"port {next(iter(self.candidates(node_id)))} of node {node_id} is taken by another process"


@dataclass(frozen=True, slots=True)
class AutomaticPorts(_Advertised):
    """Each new node gets the next port from `first_port` up that can be bound; with `first_port` 0 any free one.

    Ports in `claimed` belong to other settings; they are skipped even while nothing listens there.
    """

    first_port: int
    claimed: Sequence[Span] = ()
    chooses: ClassVar[bool] = True

    def candidates(self, node_id: int) -> Iterable[int]:
        """Return the ports to try, in order; the caller skips those that are taken."""
        del node_id
        if not self.first_port:
            return (0,)
        return (port for port in range(self.first_port, MAX_PORT + 1) if not self._is_claimed(port))

    def allows(self, node_id: int, place: Place) -> bool:
        """Return True when any node may have this port."""
        del node_id
        port = int(place)
        return not self.first_port or (port >= self.first_port and not self._is_claimed(port))

    def keeps(self, before: NodePlaces) -> bool:
        """Return True while they begin at the same port: then it is no matter who has which."""
        return isinstance(before, AutomaticPorts) and before.first_port == self.first_port

    def _is_claimed(self, port: int) -> bool:
        return any(first <= port <= last for first, last in self.claimed)

    def known(self) -> Sequence[int]:
        """Return no nodes: a node gets its port when it is first seen."""
        return ()

    def exhausted(self, node_id: int) -> str:
        """Say why no candidate could be bound."""
        if not self.first_port:
            return f"no port is free for node {node_id}"
        others = " that no other setting claims" if self.claimed else ""
        return f"no port from {self.first_port} on{others} is free for node {node_id}"


def claimed_by_others(config: Config, index: int) -> tuple[Span, ...]:
    """Return the ports on the interface of virtual cluster `index` that are not for its nodes."""
    return tuple(sorted(_others(config, index)))


def _others(config: Config, index: int) -> Iterator[Span]:
    cluster = config.clusters[index]
    for claim in config.claims():
        own = claim.path == ("clusters", index, "nodes", "first_port")
        if claim.first and not own and same_interface(claim.host, cluster.listen.host):
            last = _last(config, claim)
            if last >= cluster.first_port:
                yield claim.first, last


def _last(config: Config, claim: Claim) -> int:
    """Return the last port to leave to a claim: the highest of all for offset ports without ranges."""
    if claim.last is not None:
        return claim.last
    other = config.clusters[int(claim.path[1])]
    return MAX_PORT if other.nodes.strategy == "offset" else claim.first
