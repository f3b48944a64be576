"""Listening sockets: `listen` binds one, and a task of `Listener` accepts clients from it.

kproxy.cluster.listeners opens one to bootstrap when kproxy starts, and one for each node that the configuration or the
upstream cluster names. A socket is bound at once, so that its port can be advertised to clients.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import structlog
import trio

BACKLOG: Final = 1024
OUT_OF_RESOURCES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE_SECONDS: Final = 0.1

Admit = Callable[[socket.socket], Awaitable[None]]
AdmitBy = Callable[["Listener", socket.socket], Awaitable[None]]
"""Takes the listener to which a client connected, in its state at that moment, and the client's socket."""

log = structlog.get_logger("kproxy.routing")


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


async def accept(listener: socket.socket, nursery: trio.Nursery, admit: Admit) -> None:
    """Run `admit` for every client in a task of its own, until cancelled; then close the listener.

    A client that has gone before it is accepted does not end it. When file descriptors run out, it waits until some are
    free.
    """
    short = False
    with listener:
        while True:
            await trio.lowlevel.wait_readable(listener)
            try:
                while True:
                    client, _ = listener.accept()
                    short = False
                    nursery.start_soon(admit, client)
            except BlockingIOError:
                pass
            except OSError as error:
                if error.errno in OUT_OF_RESOURCES:
                    if not short:  # one line for each shortage, not for each attempt
                        log.error("cannot accept", reason=error.strerror, hint="raise the limit on open files")
                    short = True
                    await trio.sleep(_PAUSE_SECONDS)


class Listener:
    """A port to which clients connect: a node's, or the bootstrap port (`node_id` None).

    `retired` is when (seconds, Trio's clock) its node left the topology; None while it is the node's listener.
    """

    __slots__ = ("_listener", "_scope", "_serving", "node_id", "port", "retired")

    def __init__(self, listener: socket.socket, node_id: int | None) -> None:
        self.node_id = node_id
        self.port: int = listener.getsockname()[1]
        self.retired: float | None = None
        self._listener = listener
        self._scope = trio.CancelScope()
        self._serving = False

    @property
    def closed(self) -> bool:
        """True when `close` has been called: it accepts no more clients."""
        return self._scope.cancel_called

    async def serve(self, work: trio.Nursery, admit: AdmitBy) -> None:
        """Accept clients, each in a task of `work`, until the listener is closed."""
        self._serving = True
        with self._scope:
            await accept(self._listener, work, partial(admit, self))

    def close(self) -> None:
        """Accept no more clients; the port is free at the scheduler's next turn."""
        self._scope.cancel()
        if not self._serving:
            self._listener.close()
