"""All receivers of a virtual cluster: each push is offered to each, and each of them runs until the end."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.telemetry.receivers.interface import OTLP, Receiver
from kproxy.upstream.backoff import full_jitter

if TYPE_CHECKING:
    from kproxy.telemetry.payload import Push

log = structlog.get_logger("kproxy.telemetry")

_BACKOFF: Final = 1.0
_LONGEST_BACKOFF: Final = 60.0
_WELL: Final = 60.0  # seconds of work after which an end is the first one again


class Fanout:
    """One receiver's fault costs the others nothing, nor the client that pushed."""

    def __init__(self, receivers: Sequence[Receiver], *, rand: Callable[[], float] = random.random) -> None:
        self.receivers = tuple(receivers)
        self._rand = rand
        self._taking = [each for each in receivers if OTLP in each.content_types]
        self._running: dict[str, trio.CancelScope] = {}

    def offer(self, push: Push) -> None:
        """Never blocks, never raises; what a receiver has no room for is in its counters."""
        for receiver in self._taking:
            try:
                receiver.offer(push)
            except Exception:
                receiver.counters.drop("failed")
                log.exception("receiver failed on a push", receiver=receiver.name)
        push.release()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Runs every receiver until cancelled; one that ends is run again after a while."""
        async with trio.open_nursery() as nursery:
            for receiver in self.receivers:
                nursery.start_soon(self._keep, receiver)
            task_status.started()

    def again(self, receiver: Receiver) -> None:
        """Have it begin anew, as it must when where it writes to has moved; what it has queued stays."""
        if (scope := self._running.get(receiver.name)) is not None:
            scope.cancel()

    async def flush(self, limit: float) -> None:
        """Waits until everything has been delivered or dropped, `limit` seconds at most."""
        with trio.move_on_after(limit):
            async with trio.open_nursery() as nursery:
                for receiver in self.receivers:
                    nursery.start_soon(self._flush, receiver)

    async def _keep(self, receiver: Receiver) -> None:
        failures = 0
        while True:
            began = trio.current_time()
            try:
                with trio.CancelScope() as scope:
                    self._running[receiver.name] = scope
                    await receiver.run()
                if scope.cancelled_caught:
                    continue
                log.error("receiver ended; it is run again", receiver=receiver.name)
            except Exception as error:
                receiver.counters.last_error = f"{type(error).__name__}: {error}"
                log.exception("receiver failed; it is run again", receiver=receiver.name)
            failures = 1 if trio.current_time() - began > _WELL else failures + 1
            await trio.sleep(full_jitter(failures, self._rand(), base=_BACKOFF, cap=_LONGEST_BACKOFF))

    @staticmethod
    async def _flush(receiver: Receiver) -> None:
        try:
            await receiver.flush()
        except Exception:
            log.exception("receiver failed to flush", receiver=receiver.name)
