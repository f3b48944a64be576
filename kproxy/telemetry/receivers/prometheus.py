"""The `prometheus` receiver: clients' metrics at /metrics/clients, for Prometheus to scrape."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final

import trio

from kproxy.telemetry.errors import PayloadError
from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.accumulate import Accumulator
from kproxy.telemetry.receivers.exposition import CONTENT_TYPE, Snapshot, page, snapshot
from kproxy.telemetry.receivers.labels import DEFAULT_LABELS
from kproxy.telemetry.receivers.queued import MAX_BYTES, MAX_PUSHES, Queued

_EXPIRE_EVERY: Final = 30.0  # seconds, at least

# One at a time, as with /metrics: two threads that write pages would only take the interpreter from the relay.
_WRITING: Final = trio.CapacityLimiter(1)


class Prometheus(Queued):
    """Adds up what clients push. Pushes that are queued are taken in one by one, with a checkpoint after each."""

    def __init__(
        self,
        name: str = "prometheus",
        *,
        labels: Sequence[str] = DEFAULT_LABELS,
        attributes: Iterable[str] | None = None,
        constant: Mapping[str, str] = MappingProxyType({}),
        expiry: float = 900.0,
        max_clients: int = 20_000,
        max_series: int = 500_000,
        max_pushes: int = MAX_PUSHES,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """As `Accumulator` says; `max_pushes` and `max_bytes` may wait."""
        super().__init__(name, max_items=max_pushes, max_bytes=max_bytes)
        self.accumulator = Accumulator(
            labels=labels,
            attributes=attributes,
            constant=constant,
            expiry=expiry,
            max_clients=max_clients,
            max_series=max_series,
        )

    def offer(self, push: Push) -> bool:
        """Takes it in at once when it is like the client's last ones, in less time than it takes to wake the task."""
        counters = self.counters
        if counters.queued or not self.accumulator.again(push.info, push.payload, trio.current_time()):
            return super().offer(push)
        counters.offered += 1
        counters.delivered += 1
        counters.delivered_bytes += len(push.payload)
        return True

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Takes pushes in until cancelled."""
        task_status.started()
        while True:
            pushes = []
            with trio.move_on_after(_EXPIRE_EVERY):
                pushes = await self.take()
            for push in pushes:
                await self._add(push)
            self.accumulator.expire(trio.current_time())

    async def _add(self, push: Push) -> None:
        with trio.CancelScope(shield=True):
            now = trio.current_time()
            try:
                if not self.accumulator.again(push.info, push.payload, now):
                    for _ in self.accumulator.steps(push.info, push.metrics, now, push.payload):
                        await trio.lowlevel.checkpoint()
            except PayloadError as error:
                self.counters.last_error = str(error)
                self.dropped("malformed", push)
            else:
                self.delivered(push)
            await trio.lowlevel.checkpoint()

    async def snapshots(self) -> list[Snapshot]:
        """Every family as it is, in one moment each."""
        taken = []
        for family in list(self.accumulator.families.values()):
            taken.append(snapshot(family))
            await trio.lowlevel.checkpoint()
        return taken


async def clients_page(receivers: Iterable[Prometheus], *, compress: bool = False) -> tuple[str, bytes]:
    """The content type, and one page of all receivers; they need labels that tell them apart."""
    taken = [each for receiver in receivers for each in await receiver.snapshots()]
    return CONTENT_TYPE, await trio.to_thread.run_sync(partial(_write, taken, compress), limiter=_WRITING)


def _write(taken: list[Snapshot], compress: bool) -> bytes:
    text = page(taken).encode()
    return gzip.compress(text, 1) if compress else text
