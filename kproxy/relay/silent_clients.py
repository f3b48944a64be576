"""Clients that were accepted and have sent nothing yet: waits for their first bytes, and lets a few go on at a time.

The acceptor awaits `speaks` in each client's task. The pump's epoll watches their sockets, and its task calls `event`,
`next_turn` and `sweep`. In Trio's own epoll all that speak at once would run in one pass: thousands of clients, each of
which dials a broker, would hold the relay for seconds.
"""

from __future__ import annotations

import select
import socket
import time
from collections import OrderedDict, deque
from contextlib import suppress
from typing import Final

import trio

A_TURN: Final = 8
"""The most clients that go on in one pass of Trio's scheduler: each dials a broker, which takes 0.2 to 0.4 ms."""
_ONCE: Final = select.EPOLLIN | select.EPOLLONESHOT


class _Silent:
    """One client; `task` is None once it waits no more."""

    __slots__ = ("since", "spoke", "task")

    def __init__(self, task: trio.lowlevel.Task, since: float) -> None:
        self.task: trio.lowlevel.Task | None = task
        self.since = since
        self.spoke = False


class SilentClients:
    """All of them; each has `patience` seconds to say something, which may change meanwhile."""

    def __init__(self, epoll: select.epoll, patience: float) -> None:
        self._epoll = epoll
        self.patience = patience
        self._waiting: OrderedDict[int, _Silent] = OrderedDict()  # by descriptor, the oldest first
        self._due: deque[_Silent] = deque()  # they go on at a later turn
        self._left = A_TURN

    def __len__(self) -> int:
        return len(self._waiting)

    async def speaks(self, client: socket.socket) -> bool:
        """Wait until the client has sent something, or has gone; return False when it has not in time.

        Raises OSError when the socket cannot be watched.
        """
        fd = client.fileno()
        silent = _Silent(trio.lowlevel.current_task(), time.monotonic())
        self._epoll.register(fd, _ONCE)
        self._waiting[fd] = silent

        def abort(_: object) -> trio.lowlevel.Abort:
            silent.task = None
            if self._waiting.get(fd) is silent:
                self._forget(fd)
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)
        return silent.spoke

    def event(self, fd: int) -> bool:
        """Handle an event of a descriptor; return False when it is none of these clients'."""
        silent = self._waiting.get(fd)
        if silent is None:
            return False
        self._forget(fd)
        silent.spoke = True
        self._go_on(silent)
        return True

    def next_turn(self) -> None:
        """Let the next few go on: Trio has run those of the last turn."""
        self._left = A_TURN
        while self._left and self._due:
            self._go_on(self._due.popleft())

    def sweep(self, now: float) -> None:
        """Have those end whose time is over at `now`: seconds, monotonic."""
        while self._waiting:
            fd, oldest = next(iter(self._waiting.items()))
            if oldest.since + self.patience > now:
                break
            self._forget(fd)
            self._go_on(oldest)

    def dismiss(self) -> None:
        """Have all end that are silent now."""
        self.sweep(float("inf"))

    def _forget(self, fd: int) -> None:
        del self._waiting[fd]
        with suppress(OSError, ValueError):  # the pump has ended, and its epoll is closed
            self._epoll.unregister(fd)

    def _go_on(self, silent: _Silent) -> None:
        if silent.task is None:
            return
        if not self._left:
            self._due.append(silent)
            return
        self._left -= 1
        task, silent.task = silent.task, None
        trio.lowlevel.reschedule(task)
