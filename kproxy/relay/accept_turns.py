"""Whose turn it is to accept clients, how many at once, and when the rate of new connections allows it.

The relay has one `AcceptTurns` for all listeners. Each asks it before it accepts (`kproxy.routing.listeners.accept`).
"""

from __future__ import annotations

import time
from typing import Final

import trio

from kproxy.relay.token_bucket import TokenBucket

A_TURN: Final = 16
"""Clients that are accepted, on all listeners together, before there is a pass of Trio's scheduler: 1 to 2 ms."""


class AcceptTurns:
    """One listener at a time accepts a few clients; then relayed bytes, other tasks and other listeners get a turn.

    Clients beyond `rate` a second wait in the kernel's backlog. After a quiet second there may be `rate` at once.
    """

    def __init__(self, rate: int) -> None:
        self.pauses = 0
        """Times that accepting paused because the rate was reached."""
        self._lock = trio.Lock()
        self._left = A_TURN
        self._rate = 0
        self.pace(rate)

    def pace(self, rate: int) -> None:
        """Accept at this rate from now on. When it is another one, there may be `rate` at once at first."""
        if rate != self._rate:
            self._rate = rate
            self._pause = min(A_TURN, rate) / rate
            self._bucket = TokenBucket(rate, rate)

    async def begin(self) -> int:
        """Wait for this task's turn; return how many clients it may accept, at least one. `end` must follow."""
        try:
            self._lock.acquire_nowait()
        except trio.WouldBlock:
            await self._lock.acquire()
        try:
            if not self._left:
                await trio.lowlevel.checkpoint()
                self._left = A_TURN
            while (available := self._bucket.available(time.monotonic())) < 1:
                self.pauses += 1
                await trio.sleep(self._pause)
        except BaseException:
            self._lock.release()
            raise
        return min(self._left, available)

    def end(self, accepted: int) -> None:
        """End the turn, in which so many clients were accepted."""
        if accepted:
            self._left -= accepted
            self._bucket.take(accepted, time.monotonic())
        self._lock.release()

    def give_back(self) -> None:
        """Do not count a client that was accepted: it is closed at once, so that others need not wait for it."""
        self._bucket.give_back(1)
