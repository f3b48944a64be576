"""One client that is being admitted: its socket, and whom it has come to, as far as that is known.

The acceptor makes one for each client.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from kproxy.config.address import join_host_port
from kproxy.protocol.context import Context
from kproxy.relay.record import record

if TYPE_CHECKING:
    from kproxy.observe.reasons import Reason
    from kproxy.protocol.api_table import ApiTable
    from kproxy.protocol.network import Networks
    from kproxy.relay.destination import Destination
    from kproxy.relay.entrance import Way


class Arrival:
    """A client; `is_led` once it is known which virtual cluster it means, which counts it as open from then on."""

    __slots__ = ("_context", "client", "destination", "is_led")

    def __init__(self, destination: Destination, client: socket.socket) -> None:
        self.destination = destination
        self.client = client
        self.is_led = False
        self._context: Context | None = None

    @property
    def context(self) -> Context:
        """The connection; `enter` has made it."""
        assert self._context is not None
        return self._context

    def enter(self, node_id: int | None, *, retired: bool) -> Context:
        """Note who the client is, and the node of the listener that has accepted it; return the connection."""
        self._context = Context(self.destination, node_id, _peer(self.client), _host(self.client), retired=retired)
        return self._context

    @property
    def table(self) -> ApiTable:
        """What is done with the APIs that it uses."""
        return self.destination.retired_table if self.context.retired else self.destination.table

    def is_of(self, networks: Networks) -> bool:
        """Return True if the connection is one of these networks' own: no header has named a client behind them."""
        return self._context is not None and networks.have(self._context.host)

    def open(self) -> None:
        """Count the connection for the virtual cluster that the client means."""
        self.is_led = True
        self.destination.counters.connection_opened()

    def lead(self, way: Way) -> None:
        """Note whom the client means: it has said so by a name. The connection belongs to that one's present epoch."""
        before = self.context
        self.destination = way.destination
        self._context = Context(way.destination, way.node_id, before.client, before.local_host, retired=way.retired)
        self.open()

    def end(self, reason: Reason, detail: str) -> None:
        """Count and log the end of the connection; it was not relayed."""
        if not self.is_led:
            self.open()
        if self._context is None:
            self.destination.counters.connection_closed(reason)
        else:
            record(self._context, reason, detail)
            self.destination.not_admitted(self._context, reason, detail)


def _peer(client: socket.socket) -> str:
    try:
        host, port = client.getpeername()[:2]
    except OSError:  # gone before its address was read
        return "unknown"
    return join_host_port(host, port)


def _host(client: socket.socket) -> str:
    try:
        host: str = client.getsockname()[0]
    except OSError:  # as in `_peer`
        return ""
    return host.removeprefix("::ffff:")
