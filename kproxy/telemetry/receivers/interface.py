"""What a receiver is: where clients' metrics go. Plug-ins are receivers of other packages, by entry points."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from kproxy.delivery import queued
from kproxy.delivery.destinations import Counters, Destination, hand
from kproxy.delivery.destinations import Fanout as DeliveryFanout
from kproxy.telemetry.payload import Push

ENTRY_POINTS: Final = "kproxy.telemetry_receivers"
"""The group of entry points; each is a `Factory`, named as `type` in the configuration names it."""

OTLP: Final = "application/x-protobuf;type=otlp+metrics"
"""The only content type that KIP-714 has so far: OTLP's MetricsData, decompressed."""

ReceiverCounters = Counters
"""Pushes: offered, delivered, dropped by reason, queued."""


class Receiver(Destination[Push], Protocol):
    """Takes pushes in the Trio thread and brings them somewhere in a task of its own: a destination of pushes."""

    content_types: frozenset[str]
    """What it takes; a push of another content type is not offered to it."""


class Factory(Protocol):
    """What an entry point is: makes a receiver of its part of the configuration."""

    def __call__(self, name: str, options: Mapping[str, Any], labels: Mapping[str, str]) -> Receiver:
        """`options` as configured; `labels`, as the virtual cluster's name, go with everything it writes.

        ValueError for options that it does not take: it says which, and what it would take.
        """


MAX_PUSHES: Final = queued.MAX_ITEMS
MAX_BYTES: Final = queued.MAX_BYTES


class Queued(queued.Queued[Push]):
    """The half of a receiver that all have in common: `offer`, `flush`, counters. `run` is the other half's."""

    content_types = frozenset({OTLP})


class Fanout(DeliveryFanout[Push]):
    """Runs them all until the end; one receiver's fault costs the others nothing, nor the client that pushed."""

    def __init__(self, receivers: Sequence[Receiver], *, rand: Callable[[], float] = random.random) -> None:
        super().__init__(receivers, rand=rand)
        self.receivers = tuple(receivers)
        self._taking = [each for each in receivers if OTLP in each.content_types]

    def offer(self, push: Push) -> None:
        """Never blocks, never raises; what a receiver has no room for is in its counters."""
        for receiver in self._taking:
            hand(receiver, push)
        push.release()
