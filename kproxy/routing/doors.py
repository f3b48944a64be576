"""A listener of a virtual cluster that can be given up, or given another meaning, while it is open."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from functools import partial

import trio

from kproxy.routing.listeners import accept

AdmitBy = Callable[["Door", socket.socket], Awaitable[None]]
"""Takes the door by which a client came, as it is at that moment, and the client's socket."""


class Door:
    """Where clients come in: for a node, or to bootstrap (`node_id` None).

    `retired` is when (seconds, Trio's clock) its node left the topology; None while the door stands for it.
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
        """Whether nobody is let in any more."""
        return self._scope.cancel_called

    async def serve(self, work: trio.Nursery, admit: AdmitBy) -> None:
        """Accept clients, each in a task of `work`, until the door is closed."""
        self._serving = True
        with self._scope:
            await accept(self._listener, work, partial(admit, self))

    def close(self) -> None:
        """Let nobody in any more; the port is free at the scheduler's next turn."""
        self._scope.cancel()
        if not self._serving:
            self._listener.close()
