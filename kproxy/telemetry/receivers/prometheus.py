"""The `prometheus` receiver: clients' metrics at /metrics/clients, for Prometheus to scrape.

`Fanout` calls `offer` for each push; the admin port calls `clients_page` at each scrape.
"""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final
from uuid import UUID

import trio

from kproxy.telemetry.errors import PayloadError
from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.accumulate import Accumulator
from kproxy.telemetry.receivers.exposition import CONTENT_TYPE, Snapshot, pieces, snapshot
from kproxy.telemetry.receivers.interface import MAX_BYTES, MAX_PUSHES, Queued
from kproxy.telemetry.receivers.labels import DEFAULT_LABELS

_EXPIRE_EVERY: Final = 30.0  # seconds, at least
_TURN: Final = 0.00005
"""Seconds between two looks of the relay at its sockets while pushes are added up or a page's numbers are collected.

A fleet comes back at once. With 2 ms, an eighth less CPU is used, but the p99 of requests more than doubles.
"""
_GZIP: Final = 31  # zlib's window, and gzip's header
_SLICE: Final = 0.00005
_BREAK: Final = 0.0001
"""Seconds that a page is written for (`_SLICE`), and seconds that the thread sleeps then.

Without breaks the thread delays the relay at each of its socket calls: they release the interpreter, and get it back
when the switch interval is over, so that a request takes milliseconds longer.
"""
_BREAKS: Final = 1.5
"""The most seconds of all breaks of a page: Prometheus waits for ten."""

# One at a time, as with /metrics: two threads that write pages would only take the interpreter from the relay.
_WRITING: Final = trio.CapacityLimiter(1)


class Prometheus(Queued):
    """Adds up what clients push. Queued pushes are added up for 50 µs at a time, or for one step."""

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
        """Options are those of `Accumulator`; `max_pushes` and `max_bytes` bound the queue."""
        super().__init__(name, max_items=max_pushes, max_bytes=max_bytes)
        self._waiting: Counter[UUID] = Counter()
        self._turn_ends = 0.0
        self.accumulator = Accumulator(
            labels=labels,
            attributes=attributes,
            constant=constant,
            expiry=expiry,
            max_clients=max_clients,
            max_series=max_series,
        )

    def offer(self, push: Push) -> bool:
        """Add up a push like the client's last one at once: that takes less time than waking the task. Queue others."""
        counters, client, now = self.counters, push.info.client_instance_id, trio.current_time()
        # Only each client's own order counts: if others' queued pushes counted, a backlog would never end.
        waits = self._waiting and self._waiting[client]
        if waits or not self.accumulator.again(push.info, push.template, push.payload, now):
            queued = super().offer(push)
            if queued:
                self._waiting[client] += 1
            return queued
        counters.offered += 1
        counters.delivered += 1
        counters.delivered_bytes += len(push.payload)
        return True

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Add up queued pushes until cancelled."""
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
                if not self.accumulator.again(push.info, push.template, push.payload, now):
                    for _ in self.accumulator.steps(push.info, push.metrics, now, push.payload, push.template):
                        await self._pause()
            except PayloadError as error:
                self.counters.last_error = str(error)
                self.dropped("malformed", push)
            else:
                self.delivered(push)
            self._settled_one(push.info.client_instance_id)
        await trio.lowlevel.checkpoint_if_cancelled()  # every pause may come within a shielded push
        await self._pause()

    def _settled_one(self, client: UUID) -> None:
        self._waiting[client] -= 1
        if not self._waiting[client]:
            del self._waiting[client]

    async def _pause(self) -> None:
        """Give others, such as the relay, their turn once this one was long."""
        if time.perf_counter() >= self._turn_ends:
            await trio.lowlevel.checkpoint()
            self._turn_ends = time.perf_counter() + _TURN

    async def snapshots(self) -> list[Snapshot]:
        """Return a snapshot of every family."""
        taken = []
        for each in self._reading():
            if each is not None:
                taken.append(each)
            await self._pause()
        return taken

    def _reading(self) -> Iterator[Snapshot | None]:
        yield from self.accumulator.settling()
        yield from map(snapshot, list(self.accumulator.families.values()))


async def clients_page(receivers: Iterable[Prometheus], *, compress: bool = False) -> tuple[str, bytes]:
    """Return the content type, and one page of all receivers, which need labels that distinguish them."""
    taken = [each for receiver in receivers for each in await receiver.snapshots()]
    return CONTENT_TYPE, await trio.to_thread.run_sync(partial(_write, taken, compress), limiter=_WRITING)


def _write(taken: list[Snapshot], compress: bool) -> bytes:
    breaks, parts = _Breaks(), []
    gzip = zlib.compressobj(1, wbits=_GZIP) if compress else None
    for piece in pieces(taken):
        part = piece.encode()
        parts.append(part if gzip is None else gzip.compress(part))
        breaks.take()
    return b"".join(parts) + (b"" if gzip is None else gzip.flush())


class _Breaks:
    """The breaks of a thread that works for long."""

    def __init__(self) -> None:
        self._left = _BREAKS
        self._due = time.perf_counter() + _SLICE

    def take(self) -> None:
        """Sleep if a break is due, so that others get the interpreter."""
        now = time.perf_counter()
        if now < self._due or self._left <= 0:
            return
        time.sleep(_BREAK)  # noqa: TID251 - a worker thread's, with nothing to wait for
        ended = time.perf_counter()
        self._left -= ended - now
        self._due = ended + _SLICE
