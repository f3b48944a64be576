"""What a receiver is: where clients' metrics go. Plug-ins are receivers of other packages, by entry points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

import trio

if TYPE_CHECKING:
    from kproxy.telemetry.payload import Push

ENTRY_POINTS: Final = "kproxy.telemetry_receivers"
"""The group of entry points; each is a `Factory`, named as `type` in the configuration names it."""

OTLP: Final = "application/x-protobuf;type=otlp+metrics"
"""The only content type that KIP-714 has so far: OTLP's MetricsData, decompressed."""


@dataclass(slots=True)
class ReceiverCounters:
    """Written by the Trio thread; read at a scrape. Pushes, unless it says bytes.

    offered = delivered + dropped + what is queued or under way. `dropped` is by reason: "full" (the queue), "refused"
    (by where they were to go, for good), "late" (not taken within the time for retries), "malformed", "failed" (a fault
    of the receiver).
    """

    offered: int = 0
    delivered: int = 0
    delivered_bytes: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    retries: int = 0
    queued: int = 0
    queued_bytes: int = 0
    last_error: str | None = None

    def drop(self, reason: str, pushes: int = 1) -> None:
        """Counts pushes that are lost."""
        self.dropped[reason] = self.dropped.get(reason, 0) + pushes


class Receiver(Protocol):
    """Takes pushes in the Trio thread and brings them somewhere in a task of its own."""

    name: str
    """As configured; the label of its metrics."""
    content_types: frozenset[str]
    """What it takes; a push of another content type is not offered to it."""
    counters: ReceiverCounters

    def offer(self, push: Push) -> bool:
        """Never blocks, never raises. False: there was no room, the push is lost for this receiver, and counted."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Works until cancelled. An exception ends this receiver only; it is logged, and `run` is called again."""

    async def flush(self) -> None:
        """Returns when everything that was offered has been delivered or dropped; the caller sets the deadline."""


class Factory(Protocol):
    """What an entry point is: makes a receiver of its part of the configuration."""

    def __call__(self, name: str, options: Mapping[str, Any], labels: Mapping[str, str]) -> Receiver:
        """`options` as configured; `labels`, as the virtual cluster's name, go with everything it writes.

        ValueError for options that it does not take: it says which, and what it would take.
        """
