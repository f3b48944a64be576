# This module is pure (no I/O, no clock).
"""The interface through which everything above the relay sees and steers client connections.

The rebootstrap service, the admin API and the event stream call it; `kproxy.relay.port` implements it.

No code outside the relay holds a connection: it reads records, and names connections by a selector. So a connection
may live in another process (docs/scaling.md).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from kproxy.observe.reasons import Reason

Afterwards = Callable[[], Awaitable[None]]
"""What to do when connections have ended."""


class ConnectionInfo(NamedTuple):
    """One connection at one moment. Attributes that `Context` also has mean the same as there."""

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
    kip_1242: bool | None
    is_member: bool
    last_api: int
    """The api key of the client's last request; -1 before its first."""
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
    """Selects the connections that match every attribute given; without any, all."""

    cluster: str | None = None
    before_epoch: int | None = None
    """Matches connections accepted in an earlier epoch than this one."""
    ids: frozenset[int] | None = None


ALL = Selector()


class Connections(Protocol):
    """The client connections that are relayed."""

    def numbers(self, *, after: int = 0) -> Sequence[int]:
        """Return the ids above `after`, rising."""

    def info(self, number: int) -> ConnectionInfo | None:
        """Return the connection of this id; None when it has ended."""

    def infos(self, selector: Selector = ALL) -> Iterator[ConnectionInfo]:
        """Yield the connections by rising id; one that ends meanwhile is left out."""

    def nodes(self) -> Iterator[tuple[str, int | None]]:
        """Yield the virtual cluster and the node (None: the bootstrap listener) of each connection.

        The caller may give others their turn in between, as with `held_bytes`: there may be tens of thousands.
        """

    def held_bytes(self) -> Iterator[tuple[str, int]]:
        """Yield each connection's virtual cluster, and the bytes held for its peers and for frames that must be whole.

        A connection that ends meanwhile may be left out.
        """

    def close(self, selector: Selector, reason: Reason, detail: str = "") -> int:
        """Close the selected connections now; returns how many."""

    async def drain(self, selector: Selector, reason: Reason, patience: float) -> Sequence[ConnectionInfo]:
        """Have the selected connections answer what they received, take no more, and close.

        After `patience` seconds they are closed in any case. Returns what was known of each when it ended.
        """

    def use_stale_policies(self, selector: Selector) -> int:
        """Make the selected connections stale from now on: they get `ApiTable.stale`. Returns how many."""
