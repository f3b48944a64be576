"""A port that several nodes, and virtual clusters, share: the name that a client asks for in TLS says whom it means.

`kproxy.cluster.shared_ports` opens them. The acceptor asks for the way once a client has named one.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.relay.client_hello import UNRECOGNIZED_NAME, ClientHello, shown
from kproxy.relay.peek import peek_whole

if TYPE_CHECKING:
    from kproxy.relay.destination import Destination

_TAKEN: Final = 64 << 10


@dataclass(frozen=True, slots=True)
class Way:
    """Whom a name means. Not `is_open`: the virtual cluster has such names, and nobody listens by this one now.

    `node_id` None is for the bootstrap name. `retired` as for `Acceptor.admit`.
    """

    destination: Destination
    node_id: int | None
    retired: bool = False
    is_open: bool = True

    def check_open(self, name: str) -> None:
        """Raise `Fault` unless somebody listens: the client gets no alert, so that it tries again, as at a port."""
        if self.is_open:
            return
        if self.node_id is None:
            raise Fault(Reason.DRAINED, "kproxy drains: no client bootstraps here any more")
        detail = f"the client asks for {shown(name)}: no node {self.node_id} is known, or no longer"
        raise Fault(Reason.UNKNOWN_SERVER_NAME, detail)


class Entrance(Protocol):
    """The shared port."""

    @property
    def home(self) -> Destination:
        """The virtual cluster for which clients are counted that have named none."""

    def way(self, name: str) -> Way | None:
        """Return whom a client means that asks for this name; None when it is nobody's."""


def no_way(client: socket.socket, name: str | None) -> Fault:
    """Tell a client that nobody has the name it asks for; return the fault."""
    with suppress(OSError):  # it has gone, or takes nothing
        socket.socket.recv(client, _TAKEN)  # bytes that nobody took would have the kernel send a reset in its place
        client.send(UNRECOGNIZED_NAME)
    if name is None:
        return Fault(Reason.UNKNOWN_SERVER_NAME, "the client names no server (SNI): it must connect by name")
    hint = "see advertised_host and nodes.pattern of the virtual clusters at this port"
    return Fault(Reason.UNKNOWN_SERVER_NAME, f"the client asks for {shown(name)}, which nobody has here: {hint}")


async def asked_name(client: socket.socket, readable: Callable[[], Awaitable[None]]) -> str | None:
    """Return the name that a client asks for, without taking a byte; None where it names none.

    `readable` waits until the socket can be read. Raises `Fault` for what begins no TLS, and what `readable` raises.
    """
    hello = ClientHello()
    while wanted := hello.wants:
        found = await peek_whole(client, wanted, readable)
        if len(found) < wanted:
            raise Fault(Reason.TLS_FAILED, "the client closed the connection in its hello; does it speak TLS?")
        hello.feed(found)
    return hello.name
