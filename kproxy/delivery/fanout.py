"""Several destinations: each item is offered to each, and each of them runs until the end."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final, Generic

import structlog
import trio

from kproxy.delivery.interface import Destination, T
from kproxy.upstream.backoff import full_jitter

log = structlog.get_logger("kproxy.delivery")

_BACKOFF: Final = 1.0
_LONGEST_BACKOFF: Final = 60.0
_WELL: Final = 60.0  # seconds of work after which an end is the first one again


class Fanout(Generic[T]):
    """One destination's fault costs the others nothing, nor whoever offers."""

    def __init__(self, destinations: Sequence[Destination[T]], *, rand: Callable[[], float] = random.random) -> None:
        self.destinations = tuple(destinations)
        self._rand = rand
        self._running: dict[str, trio.CancelScope] = {}

    def offer(self, item: T) -> None:
        """Never blocks, never raises; what a destination has no room for is in its counters."""
        for destination in self.destinations:
            hand(destination, item)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Runs every destination until cancelled; one that ends is run again after a while."""
        async with trio.open_nursery() as nursery:
            for destination in self.destinations:
                nursery.start_soon(self._keep, destination)
            task_status.started()

    def again(self, destination: Destination[T]) -> None:
        """Have it begin anew, as it must when where it writes to has moved; what it has queued stays."""
        if (scope := self._running.get(destination.name)) is not None:
            scope.cancel()

    async def flush(self, limit: float) -> None:
        """Waits until everything has been delivered or dropped, `limit` seconds at most."""
        with trio.move_on_after(limit):
            async with trio.open_nursery() as nursery:
                for destination in self.destinations:
                    nursery.start_soon(self._flush, destination)

    async def _keep(self, destination: Destination[T]) -> None:
        failures = 0
        while True:
            began = trio.current_time()
            try:
                with trio.CancelScope() as scope:
                    self._running[destination.name] = scope
                    await destination.run()
                if scope.cancelled_caught:
                    continue
                log.error("delivery ended; it begins again", to=destination.name)
            except Exception as error:
                destination.counters.last_error = f"{type(error).__name__}: {error}"
                log.exception("delivery failed; it begins again", to=destination.name)
            failures = 1 if trio.current_time() - began > _WELL else failures + 1
            await trio.sleep(full_jitter(failures, self._rand(), base=_BACKOFF, cap=_LONGEST_BACKOFF))

    @staticmethod
    async def _flush(destination: Destination[T]) -> None:
        try:
            await destination.flush()
        except Exception:
            log.exception("delivery failed to flush", to=destination.name)


def hand(destination: Destination[T], item: T) -> None:
    """Offer an item; a destination that raises has dropped it."""
    try:
        destination.offer(item)
    except Exception:
        destination.counters.drop("failed")
        log.exception("delivery failed on an item", to=destination.name)
