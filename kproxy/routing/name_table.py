# This module is pure (no I/O, no clock).
"""Who listens by which name at a port that several nodes, and virtual clusters, share.

`kproxy.cluster.shared_ports` has one for each such port. It looks up the name that each client asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from kproxy.config.server_names import ServerNames, canonical

Owner = TypeVar("Owner")


class NamedListener(Generic[Owner]):
    """A name by which clients reach a node, or bootstrap (`node_id` None); `owner` is whose node it is.

    `retired` is when (seconds, Trio's clock) its node left the topology; None while it is the node's name.
    """

    __slots__ = ("_table", "node_id", "owner", "place", "retired")

    def __init__(self, table: NameTable[Owner], name: str, node_id: int | None, owner: Owner) -> None:
        self._table = table
        self.place = name
        self.node_id = node_id
        self.owner = owner
        self.retired: float | None = None

    @property
    def closed(self) -> bool:
        """True when `close` has been called."""
        return self not in self._table

    def close(self) -> None:
        """Listen by this name no more."""
        self._table.remove(self)


@dataclass(frozen=True, slots=True)
class Owned(Generic[Owner]):
    """A name that follows from an owner's settings: the one of a node, or its bootstrap name (`node_id` None)."""

    owner: Owner
    node_id: int | None


class NameTable(Generic[Owner]):
    """The listeners of one port, by name."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[NamedListener[Owner]]] = {}
        self._owners: dict[Owner, ServerNames] = {}

    def __contains__(self, listener: NamedListener[Owner]) -> bool:
        """Return True while somebody listens by it."""
        return listener in self._listeners.get(listener.place, ())

    def own(self, owner: Owner, names: ServerNames) -> None:
        """Note which names are an owner's, in place of those before."""
        self._owners[owner] = names

    @property
    def owners(self) -> Sequence[Owner]:
        """All owners, the first to come first."""
        return list(self._owners)

    def disown(self, owner: Owner) -> None:
        """Take out all names of an owner."""
        del self._owners[owner]
        for listener in [one for found in self._listeners.values() for one in found if one.owner is owner]:
            self.remove(listener)

    def listen(self, name: str, node_id: int | None, owner: Owner) -> NamedListener[Owner]:
        """Listen by a name. Another owner may still do so, for a node of before a reload that gave the name away."""
        listener = NamedListener(self, name, node_id, owner)
        self._listeners.setdefault(name, []).append(listener)
        return listener

    def remove(self, listener: NamedListener[Owner]) -> None:
        """Take a listener out, if it is still in."""
        others = [one for one in self._listeners.pop(listener.place, ()) if one is not listener]
        if others:
            self._listeners[listener.place] = others

    def find(self, name: str) -> NamedListener[Owner] | None:
        """Return who listens by a name, however it is written: the last that began to, but no retired one before."""
        found = self._listeners.get(canonical(name), ())
        return max(found, key=lambda one: (one.retired is None, found.index(one)), default=None)

    def owned(self, name: str) -> Owned[Owner] | None:
        """Return whose name it is by the settings, though nobody may listen by it now; None when it is nobody's."""
        wanted = canonical(name)
        for owner, names in self._owners.items():
            if wanted == names.bootstrap:
                return Owned(owner, None)
            if (node_id := names.nodes.node_id(wanted)) is not None:
                return Owned(owner, node_id)
        return None
