"""Accepts connections at the admin port: many at once if many wait, but never for longer than a turn.

`serve_admin` runs one for each address that it listens on.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Final

import structlog
import trio

from kproxy.admin.turns import AT_ONCE, SECONDS
from kproxy.config.address import join_host_port
from kproxy.observe.faults import note_shortage, shortage_in, supervised
from kproxy.observe.troubles import Troubles, Where

_PAUSE: Final = 0.1  # seconds

log = structlog.get_logger()


class Acceptor:
    """Accepts at one listening socket, which it closes at the end. `take` gets each new socket, and must not fail."""

    def __init__(
        self,
        listener: socket.socket,
        take: Callable[[socket.socket], None],
        room_in: Callable[[], float],
        free: Callable[[], bool],
        troubles: Troubles | None = None,
    ) -> None:
        """`room_in` returns in how many seconds there may be room, 0.0 for now; connections wait until then.

        `free` ends a connection, so that its descriptor can be used again; it returns whether there was one.
        `troubles` are the process'.
        """
        self._listener = listener
        self._take = take
        self._room_in = room_in
        self._free = free
        self._troubles = troubles or Troubles()

    async def run(self) -> None:
        """Accept until cancelled; after a fault begin again."""
        with self._listener:
            await supervised(self._troubles, Where.ADMIN, self._accept)

    async def _accept(self) -> None:
        while True:
            await trio.lowlevel.wait_readable(self._listener)
            try:
                self._accept_some()
            except BlockingIOError:
                pass
            except OSError as error:
                await self._fail(error)
            if seconds := self._room_in():
                await trio.sleep(seconds)

    def _accept_some(self) -> None:
        ends = time.perf_counter() + SECONDS
        for _ in range(AT_ONCE):  # not faster than requests are read
            if self._room_in():
                return
            accepted, _ = self._listener.accept()
            self._take(accepted)
            if time.perf_counter() >= ends:
                return

    async def _fail(self, error: OSError) -> None:
        """Go on after an error: that of one connection, or a shortage, which costs a waiting connection its place."""
        shortage = shortage_in(error)
        if shortage is None:
            log.debug("admin client gone", error=repr(error))
            return
        freed = self._free()
        address = join_host_port(*self._listener.getsockname()[:2])
        note_shortage(self._troubles, shortage, f"accept at the admin port {address}")
        if not freed:
            await trio.sleep(_PAUSE)
