# This module is pure.
"""The port by which everything above the relay sees and steers client connections.

Nobody outside the relay holds a connection: control sees records, and names the connections that it means by a
selector. So a connection may live in another process (docs/scaling.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from kproxy.observe.reasons import Reason


class ConnectionInfo(NamedTuple):
    """One connection at one moment. Attributes that `Context` has, too, mean the same as there."""

    id: int
    cluster: str
    """The virtual cluster's name."""
    node_id: int | None
    client: str
    host: str
    port: int | None
    upstream: str
    """The broker's address, "host:port"."""
    opened: float
    """Seconds since the Unix epoch."""
    epoch: int
    client_id: str | None
    principal: str | None
    software: tuple[str, str] | None
    metadata_version: int
    requests: int
    responses: int
    bytes_in: int
    bytes_out: int
    in_flight: int
    """Requests that wait for their response."""
    paused: tuple[str, ...]
    """The directions that backpressure holds: "upstream", "downstream"."""


@dataclass(frozen=True, slots=True)
class Selector:
    """Which connections are meant: those for which all that is given holds; without anything, all."""

    cluster: str | None = None
    before_epoch: int | None = None
    """Accepted in an earlier epoch than this one."""
    ids: frozenset[int] | None = None


ALL = Selector()


class Connections(Protocol):
    """The client connections that are relayed."""

    def numbers(self, *, after: int = 0) -> Sequence[int]:
        """The ids above `after`, rising."""

    def info(self, number: int) -> ConnectionInfo | None:
        """The connection of this id; None where it has ended."""

    def infos(self, selector: Selector = ALL) -> Iterator[ConnectionInfo]:
        """By rising id; a connection that ends meanwhile is left out."""

    def by_node(self) -> Mapping[tuple[str, int | None], int]:
        """How many there are, by virtual cluster and node (None: the bootstrap listener)."""

    def held_bytes(self) -> Mapping[str, int]:
        """Bytes held in memory for peers that lag and for frames that must be whole, by virtual cluster."""

    def close(self, selector: Selector, reason: Reason, detail: str = "") -> int:
        """Close them now; returns how many."""

    async def drain(self, selector: Selector, reason: Reason, patience: float) -> Sequence[ConnectionInfo]:
        """Have them answer what they received, take no more, and close; at the latest after `patience` seconds.

        Returns what was known of each when it ended.
        """

    def use_stale_policies(self, selector: Selector) -> int:
        """From now on they count as connections of an earlier epoch, and get `ApiTable.stale`; returns how many."""
