"""All receivers of a virtual cluster: each push is offered to those that take what it is."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from kproxy.delivery import fanout
from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.interface import OTLP, Receiver


class Fanout(fanout.Fanout[Push]):
    """Runs them all until the end; one receiver's fault costs the others nothing, nor the client that pushed."""

    def __init__(self, receivers: Sequence[Receiver], *, rand: Callable[[], float] = random.random) -> None:
        super().__init__(receivers, rand=rand)
        self.receivers = tuple(receivers)
        self._taking = [each for each in receivers if OTLP in each.content_types]

    def offer(self, push: Push) -> None:
        """Never blocks, never raises; what a receiver has no room for is in its counters."""
        for receiver in self._taking:
            fanout.hand(receiver, push)
        push.release()
