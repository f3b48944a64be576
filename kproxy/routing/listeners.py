"""Listening sockets: `listen` binds one, and a task of `Listener` accepts clients from it.

kproxy.cluster.listeners opens one to bootstrap when kproxy starts, and one for each node that the configuration or the
upstream cluster names. A socket is bound at once, so that its port can be advertised to clients.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, Protocol

import trio

from kproxy.observe.faults import note_shortage, shortage_in, supervised
from kproxy.observe.troubles import Troubles, Where

BACKLOG: Final = 4096
"""Clients that wait to be accepted, as many as Linux allows unless net.core.somaxconn says otherwise."""
_PAUSE_SECONDS: Final = 0.1

Admit = Callable[[socket.socket], Awaitable[None]]
AdmitBy = Callable[["Listener", socket.socket], Awaitable[None]]
"""Takes the listener to which a client connected, in its state at that moment, and the client's socket."""


class Turns(Protocol):
    """When a listener may accept clients, and how many."""

    async def begin(self) -> int:
        """Wait for the listener's turn; return how many clients it may accept, at least one. `end` must follow."""

    def end(self, accepted: int) -> None:
        """End the turn, in which so many clients were accepted."""


def listen(host: str, port: int) -> socket.socket:
    """Return a non-blocking listening socket; OSError when the address cannot be bound. `::` takes IPv4 clients too."""
    family, address = _resolve(host, port)
    both = family == socket.AF_INET6 and address[0] == "::" and socket.has_dualstack_ipv6()
    listener = socket.create_server(address, family=family, backlog=BACKLOG, dualstack_ipv6=both)
    listener.setblocking(False)
    return listener


def _resolve(host: str, port: int) -> tuple[int, tuple[Any, ...]]:
    """Return the address family and the socket address to listen on; OSError when the host does not resolve."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = found[0]
    return family, address


async def accept(
    listener: socket.socket, nursery: trio.Nursery, admit: Admit, turns: Turns, troubles: Troubles | None = None
) -> None:
    """Run `admit`, which must not raise, for every client in a task of its own, until cancelled; then close the socket.

    It takes a few clients in each of its turns, however many wait. A client that has gone before it is accepted does
    not end it, nor does a fault. When file descriptors run out, it waits until some are free. `troubles` are the
    process'.
    """
    troubles = troubles or Troubles()
    with listener:
        await supervised(troubles, Where.ACCEPT, _accept, listener, nursery, admit, turns, troubles)


async def _accept(
    listener: socket.socket, nursery: trio.Nursery, admit: Admit, turns: Turns, troubles: Troubles
) -> None:
    while True:
        await trio.lowlevel.wait_readable(listener)
        most, accepted, shortage = await turns.begin(), 0, None
        try:
            while accepted < most:
                client, _ = listener.accept()
                accepted += 1
                nursery.start_soon(admit, client)
        except BlockingIOError:
            pass
        except OSError as error:
            shortage = shortage_in(error)
        finally:
            turns.end(accepted)
        if shortage:
            note_shortage(troubles, shortage, "accept a client")
            await trio.sleep(_PAUSE_SECONDS)


class Listener:
    """A port to which clients connect: a node's, or the bootstrap port (`node_id` None).

    `retired` is when (seconds, Trio's clock) its node left the topology; None while it is the node's listener.
    """

    __slots__ = ("_host", "_listener", "_scope", "_serving", "node_id", "port", "retired")

    def __init__(self, listener: socket.socket, node_id: int | None) -> None:
        self.node_id = node_id
        self._host: str
        self.port: int
        self._host, self.port = listener.getsockname()[:2]
        self.retired: float | None = None
        self._listener = listener
        self._scope = trio.CancelScope()
        self._serving = False

    @property
    def place(self) -> int:
        """Where it listens: the port."""
        return self.port

    @property
    def closed(self) -> bool:
        """True when `close` has been called: it accepts no more clients."""
        return self._scope.cancel_called

    def takes(self, host: str) -> bool:
        """Return whether connections to this address of the machine, at its port, are its clients."""
        return not self.closed and self._host in {host, "0.0.0.0", "::"}

    def copy(self) -> socket.socket:
        """Return another descriptor of the socket: clients that wait to be accepted wait at both."""
        return self._listener.dup()

    async def serve(self, work: trio.Nursery, admit: AdmitBy, turns: Turns, troubles: Troubles | None = None) -> None:
        """Accept clients in its `turns`, each in a task of `work`, until the listener is closed."""
        self._serving = True
        with self._scope:
            await accept(self._listener, work, partial(admit, self), turns, troubles)

    def close(self) -> None:
        """Accept no more clients; the port is free at the scheduler's next turn."""
        self._scope.cancel()
        if not self._serving:
            self._listener.close()
