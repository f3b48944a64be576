"""A receiver's queue: bounded by pushes and by bytes, filled without waiting, emptied by one task."""

from __future__ import annotations

from collections import deque
from typing import Final

import structlog
import trio

from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.interface import OTLP, ReceiverCounters

log = structlog.get_logger("kproxy.telemetry")

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
        self._under_way: dict[int, Push] = {}
        self._failing = False
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

    async def take(self, *, max_pushes: int = 1, max_bytes: int = MAX_BYTES, linger: float = 0.0) -> list[Push]:
        """The oldest pushes, at least one: waits for it, and for others up to `linger` seconds.

        Each must be settled once it is delivered or dropped. Any number of tasks may take.
        """
        while not self._queue:
            await self._pushes(max_bytes, linger)
        taken = [self._queue.popleft()]
        size = len(taken[0].payload)
        while self._queue and len(taken) < max_pushes and size + len(self._queue[0].payload) <= max_bytes:
            size += len(self._queue[0].payload)
            taken.append(self._queue.popleft())
        self._under_way.update((id(push), push) for push in taken)
        return taken

    async def _pushes(self, max_bytes: int, linger: float) -> None:
        if self._offered.is_set():
            self._offered = trio.Event()
        await self._offered.wait()
        if self.counters.queued_bytes < max_bytes:
            await trio.sleep(linger)

    def give_back(self) -> None:
        """Puts what is under way in front of the queue again: the tasks that took it have ended."""
        self._queue.extendleft(reversed(self._under_way.values()))
        self._under_way.clear()

    def delivered(self, *pushes: Push) -> None:
        """Settles pushes that are where they belong."""
        self.counters.delivered += len(pushes)
        self.counters.delivered_bytes += self._settle(pushes)

    def dropped(self, reason: str, *pushes: Push) -> None:
        """Settles pushes that are lost."""
        self.counters.drop(reason, len(pushes))
        self._settle(pushes)

    def _settle(self, pushes: tuple[Push, ...]) -> int:
        size = 0
        for push in pushes:
            size += len(push.payload)
            self._under_way.pop(id(push), None)
        self.counters.queued -= len(pushes)
        self.counters.queued_bytes -= size
        self._settled.set()
        return size

    async def flush(self) -> None:
        """Waits until nothing is queued or under way."""
        while self.counters.queued:
            if self._settled.is_set():
                self._settled = trio.Event()
            await self._settled.wait()

    def failed(self, error: str) -> None:
        """What went wrong; the log has the first failure in a row, the counters the last."""
        self.counters.last_error = error
        if not self._failing:
            log.warning("receiver cannot deliver", receiver=self.name, error=error)
        self._failing = True

    def recovered(self) -> None:
        """Something was delivered."""
        if self._failing:
            log.info("receiver delivers again", receiver=self.name)
        self._failing = False
