"""How many dials of one broker may be under way: others wait for a slot, within their own deadline.

The acceptor takes a slot for each dial. A broker whose backlog is full answers the dials that wait for it all at once;
thousands of them would hold the relay for seconds. Each address has slots of its own, so a broker that does not answer
keeps no client from another.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import trio

SLOTS: Final = 64
"""Dials of one address at a time: about 10 ms when all are answered at once; 640 a second over a 100 ms round trip."""


class DialSlots:
    """The slots of all addresses; it remembers only those that are dialled at present."""

    def __init__(self) -> None:
        self._slots: dict[tuple[str, int], trio.Semaphore] = {}

    def __len__(self) -> int:
        """Return how many addresses are dialled."""
        return len(self._slots)

    @asynccontextmanager
    async def slot(self, address: tuple[str, int]) -> AsyncIterator[None]:
        """Wait for a slot of the address and hold it for as long as the context lasts."""
        slots = self._slots.setdefault(address, trio.Semaphore(SLOTS, max_value=SLOTS))
        try:
            slots.acquire_nowait()
        except trio.WouldBlock:
            await slots.acquire()
        try:
            yield
        finally:
            slots.release()
            if slots.value == SLOTS:
                self._slots.pop(address, None)
