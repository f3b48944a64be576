# This module is pure (no I/O, no clock).
"""Choose a node's place by name: all nodes are at one port, and clients say in TLS whom they mean (SNI).

kproxy.routing.strategy makes it where the settings say so. `AddressMap` asks it for a node's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kproxy.config.server_names import NamePattern
from kproxy.routing.places import Address, NodePlaces, Place


@dataclass(frozen=True, slots=True)
class NodeNames:
    """A node's name follows from its id alone, so that every replica answers alike; `port` is advertised for all."""

    pattern: NamePattern
    port: int
    chooses: ClassVar[bool] = False

    def candidates(self, node_id: int) -> Iterable[Place]:
        """Return the node's only name."""
        return (self.pattern.name(node_id),)

    def allows(self, node_id: int, place: Place) -> bool:
        """Return True when this is the node's name."""
        return place == self.pattern.name(node_id)

    def keeps(self, before: NodePlaces) -> bool:
        """Return True: a node has only one name."""
        del before
        return True

    def known(self) -> Sequence[int]:
        """Return no nodes: a node has its name from when it is first seen."""
        return ()

    def exhausted(self, node_id: int) -> str:
        """Say that the node's name cannot be listened for."""
        return f"the name {self.pattern.name(node_id)} of node {node_id} cannot be listened for"

    def advertised(self, place: Place, local_host: str) -> Address:
        """Return the name, at the port of all."""
        del local_host
        return str(place), self.port
