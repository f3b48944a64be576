"""A destination's queue: bounded by items and by bytes. `offer` never waits; the destination's tasks take from it.

`Fanout` calls `offer` for each event or push when it occurs, and `flush` when kproxy is about to end.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final, Generic

import structlog
import trio

from kproxy.delivery.destinations import Counters, T

log = structlog.get_logger("kproxy.delivery")

MAX_ITEMS: Final = 20_000
"""Items that may wait: 10 s at 2,000 a second."""

MAX_BYTES: Final = 64 * 2**20
"""Bytes of payloads that may wait."""


class Queued(Generic[T]):
    """The part that all destinations share: `offer`, `flush`, counters. Subclasses add `run`.

    An item that is taken from the queue is under way until it is settled. It still counts as queued: `flush` waits for
    it, and the bounds include it.
    """

    def __init__(self, name: str, *, max_items: int = MAX_ITEMS, max_bytes: int = MAX_BYTES) -> None:
        self.name = name
        self.counters = Counters()
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._queue: deque[T] = deque()
        self._taken_at = -math.inf
        self._under_way: dict[int, T] = {}
        self._failing = False
        self._offered = trio.Event()
        self._settled = trio.Event()
        self._flushing = trio.Event()

    def offer(self, item: T) -> bool:
        """Queue an item; return False when there is no room for it."""
        counters, size = self.counters, len(item.payload)
        counters.offered += 1
        # An item that is larger than the bound is accepted when the queue is empty.
        if counters.queued >= self._max_items or (counters.queued and counters.queued_bytes + size > self._max_bytes):
            counters.drop("full")
            return False
        counters.queued += 1
        counters.queued_bytes += size
        self._queue.append(item)
        self._offered.set()
        return True

    async def take(self, *, max_items: int = 1, max_bytes: int = MAX_BYTES, linger: float = 0.0) -> list[T]:
        """Wait for an item, and up to `linger` seconds for others to fill a batch; return the oldest, at least one.

        The caller must settle each with `delivered` or `dropped`. Several tasks may take at the same time.
        """
        while not await self._gathered(max_items, max_bytes, linger):
            pass  # other tasks were faster
        taken = [self._queue.popleft()]
        size = len(taken[0].payload)
        while self._queue and len(taken) < max_items and size + len(self._queue[0].payload) <= max_bytes:
            size += len(self._queue[0].payload)
            taken.append(self._queue.popleft())
        self._taken_at = trio.current_time()
        self._under_way.update((id(item), item) for item in taken)
        return taken

    async def _gathered(self, max_items: int, max_bytes: int, linger: float) -> bool:
        """Wait for an item, then for others to fill a batch; return whether the queue has any now."""
        until = self._taken_at + linger  # items that wait now came after that, or did not fit into that batch
        if not self._queue:
            if self._offered.is_set():
                self._offered = trio.Event()
            await self._offered.wait()
            until = trio.current_time() + linger
        full = len(self._queue) >= max_items or sum(len(each.payload) for each in self._queue) >= max_bytes
        if not full and until > trio.current_time():
            with trio.move_on_at(until):
                await self._flushing.wait()
        return bool(self._queue)

    def give_back(self) -> None:
        """Put the items under way back at the front of the queue: the tasks that took them have ended."""
        self._queue.extendleft(reversed(self._under_way.values()))
        self._under_way.clear()

    def give_up(self) -> None:
        """Drop the items under way: the tasks that took them have failed, again and again."""
        self.dropped("failed", *list(self._under_way.values()))

    def delivered(self, *items: T) -> None:
        """Settle items that were delivered."""
        self.counters.delivered += len(items)
        self.counters.delivered_bytes += self._settle(items)

    def dropped(self, reason: str, *items: T) -> None:
        """Settle items that are lost; count them by reason."""
        self.counters.drop(reason, len(items))
        self._settle(items)

    def _settle(self, items: tuple[T, ...]) -> int:
        size = 0
        for item in items:
            size += len(item.payload)
            self._under_way.pop(id(item), None)
        self.counters.queued -= len(items)
        self.counters.queued_bytes -= size
        self._settled.set()
        return size

    async def flush(self) -> None:
        """Wait until nothing is queued or under way; meanwhile `take` does not linger."""
        self._flushing.set()
        try:
            while self.counters.queued:
                if self._settled.is_set():
                    self._settled = trio.Event()
                await self._settled.wait()
        finally:
            self._flushing = trio.Event()

    def failed(self, error: str) -> None:
        """Note an error: the log gets the first of several in a row, `last_error` the latest."""
        self.counters.last_error = error
        if not self._failing:
            log.warning("cannot deliver", to=self.name, error=error)
        self._failing = True

    def recovered(self) -> None:
        """Note that delivery works again; log it after a failure."""
        if self._failing:
            log.info("delivers again", to=self.name)
        self._failing = False
