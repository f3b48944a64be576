"""The ports to which clients connect: a `Listener` accepts them at the sockets that kproxy.routing.binding has bound.

kproxy.cluster.listeners opens one to bootstrap when kproxy starts, and one for each node that the configuration or the
upstream cluster names. Sockets are bound at once, so that their port can be advertised to clients.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Final, Protocol

import trio

from kproxy.observe.faults import note_shortage, shortage_in, supervised
from kproxy.observe.troubles import Troubles, Where
from kproxy.routing.binding import bound_at

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

    `bound` are the addresses at which it listens, as `[::1]:9092`. `retired` is when (seconds, Trio's clock) its node
    left the topology; None while it is the node's listener.
    """

    __slots__ = ("_hosts", "_scope", "_serving", "_sockets", "bound", "node_id", "port", "retired")

    def __init__(self, sockets: Sequence[socket.socket], node_id: int | None) -> None:
        """`sockets` listen at one port each of the machine's addresses that the listener has; at least one."""
        self.node_id = node_id
        self._hosts: frozenset[str] = frozenset(each.getsockname()[0] for each in sockets)
        self.port: int = sockets[0].getsockname()[1]
        self.bound = bound_at(sockets)
        self.retired: float | None = None
        self._sockets = tuple(sockets)
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
        return not self.closed and not self._hosts.isdisjoint({host, "0.0.0.0", "::"})

    def copies(self) -> tuple[socket.socket, ...]:
        """Return another descriptor of each socket: clients that wait to be accepted wait at both; raises OSError."""
        with ExitStack() as copied:
            copies = tuple(copied.enter_context(each.dup()) for each in self._sockets)
            copied.pop_all()
        return copies

    async def serve(self, work: trio.Nursery, admit: AdmitBy, turns: Turns, troubles: Troubles | None = None) -> None:
        """Accept clients in its `turns`, each in a task of `work`, until the listener is closed."""
        self._serving = True
        with self._scope:
            async with trio.open_nursery() as accepting:
                for each in self._sockets:
                    accepting.start_soon(accept, each, work, partial(admit, self), turns, troubles)

    def close(self) -> None:
        """Accept no more clients; the port is free after a turn or two of the scheduler."""
        self._scope.cancel()
        if not self._serving:
            for each in self._sockets:
                each.close()
