"""Clients that are throttled: each is read again once its time is over.

The pump has one. A connection adds itself when a policy throttles its client.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from heapq import heappop, heappush
from math import inf

import trio


class ThrottledClients:
    """Connections by number, and when each is to be read again: seconds on the monotonic clock."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int]] = []
        self._sooner = trio.Event()

    def add(self, number: int, until: float) -> None:
        """Have a connection resumed at a moment; it may be there with an earlier one, too."""
        heappush(self._due, (until, number))
        if self._due[0][1] == number:
            self._sooner.set()

    async def run(self, resume: Callable[[int], None]) -> None:
        """Call `resume`, which must not raise, with each connection's number in its time; until cancelled."""
        while True:
            self._sooner = trio.Event()
            until = self._due[0][0] if self._due else inf
            with trio.move_on_after(max(0.0, until - time.monotonic())):
                await self._sooner.wait()
            now = time.monotonic()
            while self._due and self._due[0][0] <= now:
                resume(heappop(self._due)[1])
