"""The client sockets that kproxy has closed and that linger: each gets its end in its time, and is forgotten."""

from __future__ import annotations

import select
import socket
from collections import deque
from typing import Final

import structlog
import trio

from kproxy.relay.lingering import LINGER_SECONDS, PAUSE_SECONDS, Lingering

_DELIVERY_SECONDS: Final = 0.02

log = structlog.get_logger("kproxy.relay")


class Departures:
    """Watched in the pump's epoll, which tells `event` of them; `run` is their task."""

    def __init__(self, epoll: select.epoll) -> None:
        self._epoll = epoll
        self._lingering: dict[int, Lingering] = {}
        self._to_end: deque[tuple[float, Lingering]] = deque()
        self._to_end_soon = trio.Event()

    def __len__(self) -> int:
        return len(self._lingering)

    def add(self, client: socket.socket, *, at_once: bool) -> None:
        """Let a socket linger, which is closed in the end; `at_once` where it need not wait for its last response."""
        now = trio.current_time()
        lingering = Lingering(client, self._epoll, now + LINGER_SECONDS)
        self._lingering[lingering.fd] = lingering
        if at_once:
            lingering.end()
        else:
            self._to_end.append((now + PAUSE_SECONDS, lingering))
            self._to_end_soon.set()

    def event(self, fd: int) -> None:
        """What epoll said of a descriptor, which may have gone in the same round; never raises."""
        lingering = self._lingering.get(fd)
        if lingering is None:
            return
        try:
            lingering.event()
        except Exception as error:  # a closing socket's failure is no connection's
            log.error("a closing socket failed", exc_info=error)

    async def run(self) -> None:
        """End each when its pause is over, until cancelled."""
        while True:
            await self._to_end_soon.wait()
            self._to_end_soon = trio.Event()
            while self._to_end:
                moment, lingering = self._to_end.popleft()
                await trio.sleep_until(moment)
                if self._lingering.get(lingering.fd) is lingering:
                    lingering.end()

    async def wait_delivered(self) -> None:
        """Wait until clients have taken what was sent to them, as long as their sockets linger for that."""
        while any(one.undelivered for one in self._lingering.values()):  # noqa: ASYNC110 (the kernel does not tell)
            await trio.sleep(_DELIVERY_SECONDS)

    def sweep(self) -> None:
        """Forget those that are done, and those whose time is over."""
        for lingering in list(self._lingering.values()):
            if lingering.done or lingering.deadline < trio.current_time():
                self._forget(lingering)

    def close(self) -> None:
        """Forget all of them now."""
        for lingering in list(self._lingering.values()):
            self._forget(lingering)

    def _forget(self, lingering: Lingering) -> None:
        del self._lingering[lingering.fd]
        lingering.close()
