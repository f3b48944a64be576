"""The interface of receivers of clients' metrics. Plug-ins are receivers of other packages, found by entry points.

`ClientTelemetry` makes a `Fanout` of its receivers when kproxy starts. Each accepted push is offered to it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from kproxy.delivery import queued
from kproxy.delivery.destinations import Counters, Destination, hand
from kproxy.delivery.destinations import Fanout as DeliveryFanout
from kproxy.observe.troubles import Troubles
from kproxy.telemetry.payload import Push

ENTRY_POINTS: Final = "kproxy.telemetry_receivers"
"""The group of entry points. Each is a `Factory`; its name is the receiver's `type` in the configuration."""

OTLP: Final = "application/x-protobuf;type=otlp+metrics"
"""The only content type that KIP-714 has so far: OTLP's MetricsData, decompressed."""

ReceiverCounters = Counters
"""Pushes: offered, delivered, dropped by reason, queued."""


class Receiver(Destination[Push], Protocol):
    """A destination of pushes: takes them in the Trio thread and delivers them in a task of its own."""

    content_types: frozenset[str]
    """The content types that it takes; it is not offered pushes of others."""


class Factory(Protocol):
    """An entry point: makes a receiver from its part of the configuration."""

    def __call__(self, name: str, options: Mapping[str, Any], labels: Mapping[str, str]) -> Receiver:
        """Return a receiver. `labels`, such as the virtual cluster's name, go with everything that it writes.

        `options` are as configured. Raise ValueError for invalid ones; its message says which, and what is allowed.
        """


MAX_PUSHES: Final = queued.MAX_ITEMS
MAX_BYTES: Final = queued.MAX_BYTES


class Queued(queued.Queued[Push]):
    """What all receivers have in common: `offer`, `flush` and counters. A subclass adds `run`."""

    content_types = frozenset({OTLP})


class Fanout(DeliveryFanout[Push]):
    """Runs all receivers until the end. A receiver's fault affects neither the others nor the client that pushed."""

    def __init__(
        self,
        receivers: Sequence[Receiver],
        *,
        rand: Callable[[], float] = random.random,
        troubles: Troubles | None = None,
    ) -> None:
        super().__init__(receivers, rand=rand, troubles=troubles)
        self.receivers = tuple(receivers)
        self._taking = [each for each in receivers if OTLP in each.content_types]

    def offer(self, push: Push) -> None:
        """Offer a push to all receivers. Never blocks, never raises; a receiver without room counts the push."""
        for receiver in self._taking:
            hand(receiver, push, self._troubles)
        push.release()
