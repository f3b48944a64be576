# This module is pure (no I/O, no clock).
"""Where clients reach a node: at a port of its own, or by a name of its own at a port that it shares with others.

`kproxy.routing.strategy` chooses between the two by the settings. `AddressMap` asks what it chose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from kproxy.errors import KproxyError
from kproxy.observe.reasons import Reason

Address = tuple[str, int]
Place = int | str
"""The port on which kproxy listens for a node, or the name by which clients ask for it (in canonical form)."""


def where(place: Place) -> dict[str, Place]:
    """Return a place as a field of a log line."""
    return {"port" if isinstance(place, int) else "name": place}


class NoPortError(KproxyError):
    """A node can have no port: the configuration has none for its id, or none is free."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason

    @classmethod
    def of_all(cls, problems: Iterable[NoPortError]) -> NoPortError:
        """Join the errors of one or more nodes in one line, with the reason of the first."""
        found = list(problems)
        return cls(found[0].reason, "; ".join(map(str, found)))


class NodePlaces(Protocol):
    """Which places a node may have, and how they are advertised."""

    @property
    def chooses(self) -> bool:
        """True when a node may have another place because one is taken."""

    def candidates(self, node_id: int) -> Iterable[Place]:
        """Return the node's places, best first; raise `NoPortError` when it has none."""

    def allows(self, node_id: int, place: Place) -> bool:
        """Return True when the node may have this place."""

    def keeps(self, before: NodePlaces) -> bool:
        """Return True when nodes keep the places that they had by `before`, if they may, as their cluster moves."""

    def known(self) -> Sequence[int]:
        """Return the nodes that have places before any broker is asked."""

    def exhausted(self, node_id: int) -> str:
        """Say why the node could have none of its candidates."""

    def advertised(self, place: Place, local_host: str) -> Address:
        """Return the address of a node at this place for a client that connected to `local_host`."""
