"""Places for handshakes, in all and of one address: whoever finds none has the one end that waits longest for its peer.

`Handshakes` takes a place of both kinds for each handshake of TLS, `Logins` for each client that authenticates. Who is
there needs one round trip to go on; without this, a few hundred clients that begin and stop would keep all others out
until their deadline.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import trio

GRACE: Final = 1.0
"""Seconds for which a handshake's client may let it wait, whoever needs the place: three long round trips."""


class Handshake:
    """One that is under way; its caller runs it in `scope`, which is cancelled when it has to go."""

    __slots__ = ("_places", "scope", "since")

    def __init__(self, *places: Places) -> None:
        self._places = places
        self.scope = trio.CancelScope()
        self.since = 0.0
        """When it began to wait for its client, by Trio's clock."""

    async def awaits(self, readable: Callable[[], Awaitable[None]]) -> None:
        """Wait for the client's next part, as `readable` does."""
        self.since = trio.current_time()
        for places in self._places:
            places.awaiting[self] = None
        try:
            await readable()
        finally:
            self._resume()

    def dismiss(self) -> None:
        """Have it end now."""
        self._resume()
        self.scope.cancel()

    def _resume(self) -> None:
        for places in self._places:
            places.awaiting.pop(self, None)


class Places:
    """So many; a context holds one. `awaiting` are handshakes in them that wait for clients, the longest wait first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._free = trio.Semaphore(most, max_value=most)
        self._queue = trio.lowlevel.ParkingLot()  # a Lock would keep an exception for each that waits
        self._looking = False
        self.awaiting: dict[Handshake, None] = {}

    @property
    def taken(self) -> int:
        """How many are taken."""
        return self._most - self._free.value

    def take_nowait(self) -> bool:
        """Take a place if one is free."""
        try:
            self._free.acquire_nowait()
        except trio.WouldBlock:
            return False
        return True

    async def take(self) -> None:
        """Wait for a place; after `GRACE` the handshake goes that has waited longest for its client.

        Who comes first looks for one, and then the next: when many handshakes are due at once, one goes in each pass of
        Trio's, and others are relayed between.
        """
        if not self._looking and self.take_nowait():
            return
        if self._looking:
            await self._queue.park()
        self._looking = True
        try:
            await self._take_next()
        finally:
            self._looking = bool(self._queue)
            self._queue.unpark()

    async def _take_next(self) -> None:
        while True:
            with trio.move_on_at(self._next_look()):
                await self._free.acquire()
                return
            if self._dismiss_one():  # its place is free at once
                await self._free.acquire()
                return

    async def __aenter__(self) -> None:
        await self.take()

    async def __aexit__(self, *_: object) -> None:
        self.give_back()

    def give_back(self) -> None:
        """Give a place back."""
        self._free.release()

    def _next_look(self) -> float:
        oldest = next(iter(self.awaiting), None)
        return GRACE + (trio.current_time() if oldest is None else oldest.since)

    def _dismiss_one(self) -> bool:
        oldest = next(iter(self.awaiting), None)
        if oldest is None or oldest.since + GRACE > trio.current_time():
            return False
        oldest.dismiss()
        return True
