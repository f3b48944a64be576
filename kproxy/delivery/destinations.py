"""Items, destinations and their counters; `Fanout` gives each item to every destination.

An item is a client's push of metrics, or an event. `ClientTelemetry` and `EventStream` make a `Fanout` when kproxy
starts. They offer it each item at once, and run its destinations until kproxy ends.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

import structlog
import trio

from kproxy.observe.faults import boundary, note
from kproxy.observe.troubles import Troubles, Where
from kproxy.upstream.attempts import full_jitter


class Item(Protocol):
    """Something to deliver; a queue is bounded by the payloads of its items."""

    @property
    def payload(self) -> bytes:
        """The bytes that count as its size."""


T = TypeVar("T", bound=Item)
T_contra = TypeVar("T_contra", bound=Item, contravariant=True)


@dataclass(slots=True)
class Counters:
    """Counts of items, and of bytes where the name says so. The Trio thread writes them, a scrape reads them.

    offered = delivered + dropped + queued; `queued` includes items under way. `dropped` is by reason: "full" (no room
    in the queue), "refused" (by the server, for good), "late" (not accepted within the time for retries),
    "malformed", "failed" (a fault of the destination).
    """

    offered: int = 0
    delivered: int = 0
    delivered_bytes: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    retries: int = 0
    queued: int = 0
    queued_bytes: int = 0
    last_error: str | None = None

    def drop(self, reason: str, items: int = 1) -> None:
        """Count items that are lost."""
        self.dropped[reason] = self.dropped.get(reason, 0) + items


class Destination(Protocol[T_contra]):
    """Takes items in the Trio thread and delivers them in a task of its own."""

    name: str
    """The configured name; the label of its metrics."""
    counters: Counters

    def offer(self, item: T_contra) -> bool:
        """Queue an item; never block or raise. Return False when there is no room: the item is counted as dropped."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Deliver until cancelled. An exception ends this destination only; it is logged, and `run` is called again."""

    async def flush(self) -> None:
        """Wait until every offered item has been delivered or dropped; the caller sets the deadline."""


log = structlog.get_logger("kproxy.delivery")

_BACKOFF: Final = 1.0
_LONGEST_BACKOFF: Final = 60.0
_TRIES: Final = 3
"""Failures in a row after which what is under way is lost: it may be what makes the destination fail."""
_WELL: Final = 60.0  # seconds of work after which a failure counts as the first one again


class Fanout(Generic[T]):
    """Gives each item to every destination; a fault of one affects neither the others nor the caller."""

    def __init__(
        self,
        destinations: Sequence[Destination[T]],
        *,
        rand: Callable[[], float] = random.random,
        troubles: Troubles | None = None,
    ) -> None:
        """`troubles` are the process'; by default they are the fanout's own."""
        self.destinations = tuple(destinations)
        self._troubles = troubles or Troubles()
        self._rand = rand
        self._running: dict[str, trio.CancelScope] = {}

    def offer(self, item: T) -> None:
        """Offer an item to all; never block, never raise. A destination without room counts it as dropped."""
        for destination in self.destinations:
            hand(destination, item, self._troubles)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run every destination until cancelled; one that ends is started again after a delay."""
        async with trio.open_nursery() as nursery:
            for destination in self.destinations:
                nursery.start_soon(self._keep, destination)
            task_status.started()

    def again(self, destination: Destination[T]) -> None:
        """Restart a destination, as it needs when its target has moved; its queue stays."""
        if (scope := self._running.get(destination.name)) is not None:
            scope.cancel()

    async def flush(self, limit: float) -> None:
        """Wait at most `limit` seconds until everything has been delivered or dropped."""
        with trio.move_on_after(limit):
            async with trio.open_nursery() as nursery:
                for destination in self.destinations:
                    nursery.start_soon(self._flush, destination)

    async def _keep(self, destination: Destination[T]) -> None:
        failures = stuck = 0
        while True:
            began, delivered = trio.current_time(), destination.counters.delivered
            try:
                with trio.CancelScope() as scope:
                    self._running[destination.name] = scope
                    await destination.run()
                if scope.cancelled_caught:
                    _settle(destination, lost=False)
                    continue
                log.error("delivery ended; it begins again", to=destination.name)
            except Exception as error:
                destination.counters.last_error = f"{type(error).__name__}: {error}"
                note(self._troubles, Where.DELIVERY, error, to=destination.name)
            stuck = stuck + 1 if destination.counters.delivered == delivered else 1
            _settle(destination, lost=stuck >= _TRIES)
            failures = 1 if trio.current_time() - began > _WELL else failures + 1
            await trio.sleep(full_jitter(failures, self._rand(), base=_BACKOFF, cap=_LONGEST_BACKOFF))

    async def _flush(self, destination: Destination[T]) -> None:
        with boundary(self._troubles, Where.DELIVERY):
            await destination.flush()


def _settle(destination: Destination[T], *, lost: bool) -> None:
    """Queue again what a destination that has ended had under way, or count it as failed; one may have no such code."""
    settle = getattr(destination, "give_up" if lost else "give_back", None)
    if settle is not None:
        settle()


def hand(destination: Destination[T], item: T, troubles: Troubles) -> None:
    """Offer an item to a destination; when that raises, the item counts as dropped."""
    try:
        destination.offer(item)
    except Exception as error:
        destination.counters.drop("failed")
        note(troubles, Where.DELIVERY, error, to=destination.name)
