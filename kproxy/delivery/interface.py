"""What is delivered, to what, and how it is counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import trio


class Item(Protocol):
    """Whatever is delivered: a queue is bounded by its payloads."""

    @property
    def payload(self) -> bytes:
        """What makes up its size."""


T = TypeVar("T", bound=Item)
T_contra = TypeVar("T_contra", bound=Item, contravariant=True)


@dataclass(slots=True)
class Counters:
    """Written by the Trio thread; read at a scrape. Items, unless it says bytes.

    offered = delivered + dropped + what is queued or under way. `dropped` is by reason: "full" (the queue), "refused"
    (by where they were to go, for good), "late" (not taken within the time for retries), "malformed", "failed" (a fault
    of the destination).
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
        """Counts items that are lost."""
        self.dropped[reason] = self.dropped.get(reason, 0) + items


class Destination(Protocol[T_contra]):
    """Takes items in the Trio thread and brings them somewhere in a task of its own."""

    name: str
    """As configured; the label of its metrics."""
    counters: Counters

    def offer(self, item: T_contra) -> bool:
        """Never blocks, never raises. False: there was no room, the item is lost for this destination, and counted."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Works until cancelled. An exception ends this destination only; it is logged, and `run` is called again."""

    async def flush(self) -> None:
        """Returns when everything that was offered has been delivered or dropped; the caller sets the deadline."""
