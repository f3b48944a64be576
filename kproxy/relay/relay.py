"""The relay of one process: admits clients, moves their bytes, and drains them.

`kproxy.app.process` makes one when kproxy starts. Listeners hand it each client that connects.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from kproxy.relay.acceptor import Acceptor
from kproxy.relay.port import RelayedConnections
from kproxy.relay.pump import Ended, Pump

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from kproxy.config import Limits, Timeouts
    from kproxy.observe.counters import Counters, Histogram
    from kproxy.observe.reasons import Reason
    from kproxy.relay.destination import Destination
    from kproxy.relay.entrance import Entrance


class Relay:
    """Owns the pump and the acceptor: the process starts, drains and stops it. `run` is its task."""

    def __init__(self, limits: Limits, timeouts: Timeouts, counters: Counters | None = None) -> None:
        self.pump = Pump(limits, timeouts, counters)
        self.acceptor = Acceptor(self.pump, limits, timeouts)
        self.connections = RelayedConnections(self.pump)
        self.turns = self.acceptor.turns

    def __len__(self) -> int:
        """Return how many connections are relayed."""
        return len(self.pump.connections)

    @property
    def max_connections(self) -> int:
        """The most client connections at a time."""
        return self.acceptor.quotas.most

    @property
    def accept_pauses(self) -> int:
        """Times that accepting paused because the rate of new connections was reached."""
        return self.turns.pauses

    @property
    def handshakes_waiting(self) -> int:
        """TLS handshakes of clients that wait for their turn."""
        return self.acceptor.handshakes.waiting

    @property
    def handshakes_active(self) -> int:
        """TLS handshakes of clients that are under way."""
        return self.acceptor.handshakes.active

    @property
    def handshake_seconds(self) -> Histogram:
        """How long clients' TLS handshakes took."""
        return self.acceptor.handshakes.seconds

    def reconfigure(self, limits: Limits, timeouts: Timeouts) -> None:
        """Apply other limits and timeouts from now on; no connection ends for one of `limits` that there is already."""
        self.pump.reconfigure(limits, timeouts)
        self.acceptor.reconfigure(limits, timeouts)

    async def run(self) -> None:
        """Relay until cancelled; then close what is left."""
        await self.pump.run()

    def admit(
        self, destination: Destination, node_id: int | None, client: socket.socket, *, retired: bool = False
    ) -> Coroutine[Any, Any, None]:
        """As `Acceptor.admit`, whose coroutine it returns: a client's start takes one frame less."""
        return self.acceptor.admit(destination, node_id, client, retired=retired)

    def admit_by_name(self, entrance: Entrance, client: socket.socket) -> Coroutine[Any, Any, None]:
        """As `Acceptor.admit_by_name`."""
        return self.acceptor.admit_by_name(entrance, client)

    def on_end(self, ended: Ended) -> None:
        """Have `ended` called for each connection that has ended."""
        self.pump.ended = ended

    async def drain(self) -> None:
        """Have every client answered what it sent; return when all are gone and have taken their responses."""
        self.acceptor.drain()
        self.pump.drain()
        await self.acceptor.wait_empty()
        await self.pump.wait_empty()
        await self.pump.lingering.wait_delivered()

    def close_all(self, reason: Reason) -> None:
        """Close every connection now."""
        self.pump.close_all(reason)
