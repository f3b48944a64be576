"""A receiver's queue: bounded by pushes and by bytes, filled without waiting, emptied by one task."""

from __future__ import annotations

from collections import deque
from typing import Final

import trio

from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.interface import OTLP, ReceiverCounters

MAX_PUSHES: Final = 20_000
"""Pushes that may wait: 10 s of the 2,000 a second that one core takes in."""

MAX_BYTES: Final = 64 * 2**20
"""Bytes of payloads that may wait."""


class Queued:
    """The half of a receiver that all have in common: `offer`, `flush`, counters. `run` is the other half's.

    What is taken from the queue is under way, and counts as queued, until it is settled: `flush` waits for it, and
    memory is bounded including it.
    """

    content_types = frozenset({OTLP})

    def __init__(self, name: str, *, max_pushes: int = MAX_PUSHES, max_bytes: int = MAX_BYTES) -> None:
        self.name = name
        self.counters = ReceiverCounters()
        self._max_pushes = max_pushes
        self._max_bytes = max_bytes
        self._queue: deque[Push] = deque()
        self._offered = trio.Event()
        self._settled = trio.Event()

    def offer(self, push: Push) -> bool:
        """Queues a push; False when there is no room for it."""
        counters, size = self.counters, len(push.payload)
        counters.offered += 1
        # One that is larger than all room there is gets its chance when it is alone.
        if counters.queued >= self._max_pushes or (counters.queued and counters.queued_bytes + size > self._max_bytes):
            counters.drop("full")
            return False
        counters.queued += 1
        counters.queued_bytes += size
        self._queue.append(push)
        self._offered.set()
        return True

    async def take(self, *, max_pushes: int = 1, max_bytes: int = MAX_BYTES) -> list[Push]:
        """The oldest pushes, at least one: waits for it. Each must be settled once it is delivered or dropped."""
        while not self._queue:
            self._offered = trio.Event()
            await self._offered.wait()
        taken = [self._queue.popleft()]
        size = len(taken[0].payload)
        while self._queue and len(taken) < max_pushes and size + len(self._queue[0].payload) <= max_bytes:
            size += len(self._queue[0].payload)
            taken.append(self._queue.popleft())
        return taken

    def give_back(self, pushes: list[Push]) -> None:
        """Puts what was taken and not settled in front again: the task that took it ends."""
        self._queue.extendleft(reversed(pushes))

    def delivered(self, *pushes: Push) -> None:
        """Settles pushes that are where they belong."""
        self.counters.delivered += len(pushes)
        self.counters.delivered_bytes += self._settle(pushes)

    def dropped(self, reason: str, *pushes: Push) -> None:
        """Settles pushes that are lost."""
        self.counters.drop(reason, len(pushes))
        self._settle(pushes)

    def _settle(self, pushes: tuple[Push, ...]) -> int:
        size = sum(len(push.payload) for push in pushes)
        self.counters.queued -= len(pushes)
        self.counters.queued_bytes -= size
        self._settled.set()
        return size

    async def flush(self) -> None:
        """Waits until nothing is queued or under way."""
        while self.counters.queued:
            self._settled = trio.Event()
            await self._settled.wait()
