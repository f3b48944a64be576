"""aiokafka in the cells of the error conformance table: see conformance.py. All clients share one event loop."""

from __future__ import annotations

import asyncio  # noqa: TID251 - a client of its own process
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from conformance import Cell, Library, described, run

T = TypeVar("T")
LOOP = asyncio.new_event_loop()
SHORT = 2.0
"""Seconds to close a client that may be dead."""


def done(work: Coroutine[Any, Any, T]) -> T:
    """Wait for it in the thread that asks."""
    return asyncio.run_coroutine_threadsafe(work, LOOP).result()


async def made(make: Callable[[], T]) -> T:
    """Make a client where its loop runs."""
    return make()


async def limited(work: Awaitable[T], seconds: float) -> T:
    """Wait for so long."""
    return await asyncio.wait_for(work, seconds)


class Transactional:
    """A producer, which initializes its transactions when it is started."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        settings = {"bootstrap_servers": cell.bootstrap, "client_id": cell.name}
        own = {"transactional_id": cell.transactional_id}
        self._producer: Any = done(made(lambda: AIOKafkaProducer(**settings, **own)))

    def init(self) -> None:
        done(self._producer.start())

    def transact(self, value: str) -> None:
        done(self._transact(value))

    async def _transact(self, value: str) -> None:
        await self._producer.begin_transaction()
        await self._producer.send_and_wait(self._cell.topic, value.encode(), partition=0)
        if self._cell.offsets:
            await self._producer.send_offsets_to_transaction({TopicPartition(self._cell.topic, 0): 1}, self._cell.group)
        await self._producer.commit_transaction()

    def abort(self) -> None:
        done(self._producer.abort_transaction())

    def close(self) -> None:
        done(limited(self._producer.stop(), SHORT))


class Reading:
    """A consumer."""

    def __init__(self, cell: Cell) -> None:
        settings = {"bootstrap_servers": cell.bootstrap, "client_id": cell.name, "group_id": cell.group}
        own = {"auto_offset_reset": "earliest", "enable_auto_commit": False, "session_timeout_ms": 6000}
        self._consumer: Any = done(made(lambda: AIOKafkaConsumer(cell.topic, **settings, **own)))
        self._next: dict[Any, int] = {}
        self._started = False

    def read(self, seconds: float) -> bool:
        if not self._started:
            done(self._consumer.start())
            self._started = True
        for partition, records in done(self._consumer.getmany(timeout_ms=int(1000 * seconds))).items():
            self._next[partition] = records[-1].offset + 1
            return True
        return False

    def commit(self) -> None:
        done(self._consumer.commit(self._next))

    def close(self) -> None:
        done(limited(self._consumer.stop(), SHORT))


if __name__ == "__main__":
    threading.Thread(target=LOOP.run_forever, daemon=True).start()
    run(Library(Transactional, Reading, described))
