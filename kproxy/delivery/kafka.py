"""A topic of Kafka: a record for each item, in the partition of its key, tried again until a leader has it."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Final, Generic, NamedTuple

import cramjam
import trio

from kproxy.config.delivery import check_topic
from kproxy.delivery.interface import T
from kproxy.delivery.produce import Said, produce, said
from kproxy.delivery.queued import MAX_BYTES, MAX_ITEMS, Queued
from kproxy.delivery.topic import NO_LEADER, Topic
from kproxy.delivery.verdict import Verdict, verdict_on_code
from kproxy.errors import UNKNOWN_SERVER_ERROR, UpstreamError
from kproxy.observe.error_names import ERROR_NAMES
from kproxy.upstream.backoff import full_jitter
from kproxy.upstream.client import UpstreamClient
from kproxy.wire.generated.produce_response import ProduceResponse
from kproxy.wire.records import GZIP, NO_COMPRESSION, ZSTD, Record, encode_batch, partition_of

BATCH_BYTES: Final = 900 * 1024
"""Of payloads at a time: brokers take batches of 1 MiB (message.max.bytes), with what records add."""

COMPRESSED_BATCH_BYTES: Final = 4 * BATCH_BYTES
"""Of those that shrink, to a fifth or less. A batch is several turns of Trio, which come late behind a busy relay."""

_BATCH_ITEMS: Final = 1000
_BACKOFF: Final = 0.1
_LONGEST_BACKOFF: Final = 10.0
_REPLICAS_MS: Final = 20_000  # the broker says that its replicas are slow before the request times out


class Compression(StrEnum):
    """Of batches. zstd is for brokers since Kafka 2.1."""

    NONE = "none"
    GZIP = "gzip"
    ZSTD = "zstd"


class _Written(NamedTuple, Generic[T]):
    item: T
    record: Record


class Kafka(Queued[T]):
    """Writes what waits, with acks=all, to the leaders of a topic; what no leader took is tried again, in its order.

    A leader that took records and could not say so is sent them again: an item arrives once or, rarely, more often.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], UpstreamClient],
        topic: str,
        record: Callable[[T], Record],
        *,
        compression: Compression = Compression.ZSTD,
        retry_for: float = 120.0,
        linger: float = 0.2,
        max_items: int = MAX_ITEMS,
        max_bytes: int = MAX_BYTES,
        rand: Callable[[], float] = random.random,
    ) -> None:
        """`connect` makes a client of the cluster, of its own, whenever `run` begins; `record` is made of each item.

        Times in seconds: items wait for others for `linger`, and are tried again for `retry_for`. ValueError for what
        is no topic.
        """
        check_topic(topic)
        super().__init__(name, max_items=max_items, max_bytes=max_bytes)
        self._connect = connect
        self._topic = topic
        self._record = record
        self._compression = compression
        self._batch_bytes = BATCH_BYTES if compression is Compression.NONE else COMPRESSED_BATCH_BYTES
        self._retry_for = retry_for
        self._linger = linger
        self._rand = rand

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Writes until cancelled; what is under way then goes back into the queue."""
        client = self._connect()
        topic = Topic(client, self._topic)
        try:
            async with trio.open_nursery() as nursery:
                await nursery.start(client.run)
                task_status.started()
                while True:
                    taken = await self.take(max_items=_BATCH_ITEMS, max_bytes=self._batch_bytes, linger=self._linger)
                    await self._deliver(client, topic, await trio.to_thread.run_sync(self._written, taken))
        finally:
            self.give_back()

    def _written(self, items: Sequence[T]) -> list[_Written[T]]:
        return [_Written(item, self._record(item)) for item in items]

    async def _deliver(self, client: UpstreamClient, topic: Topic, written: Sequence[_Written[T]]) -> None:
        give_up = trio.current_time() + self._retry_for
        failures = 0
        while written := await self._attempt(client, topic, written):
            topic.forget()
            failures += 1
            backoff = full_jitter(failures, self._rand(), base=_BACKOFF, cap=_LONGEST_BACKOFF)
            if trio.current_time() + backoff > give_up:
                self.dropped("late", *_items(written))
                return
            self.counters.retries += 1
            await trio.sleep(backoff)

    async def _attempt(self, client: UpstreamClient, topic: Topic, written: Sequence[_Written[T]]) -> list[_Written[T]]:
        """Those that may be tried again; the others are settled."""
        try:
            leaders = await topic.leaders()
        except UpstreamError as error:
            self.failed(str(error))
            return list(written)
        again: list[_Written[T]] = []
        by_leader = await trio.to_thread.run_sync(_by_leader, leaders, written)
        async with trio.open_nursery() as nursery:
            for leader, partitions in by_leader.items():
                nursery.start_soon(self._produce, partial(self._ask, client, topic, leader), leader, partitions, again)
        return again

    async def _produce(self, ask: _Ask[T], leader: int, partitions: _Partitions[T], again: list[_Written[T]]) -> None:
        try:
            answers = await ask(partitions)
        except UpstreamError as error:
            self.failed(str(error))
            again += [each for written in partitions.values() for each in written]
            return
        for index, written in partitions.items():
            answer = answers.get(index, _NOTHING_SAID)
            match self._judge(f"{self._topic}-{index} at node {leader}", answer):
                case Verdict.DELIVERED:
                    self.delivered(*_items(written))
                case Verdict.AGAIN:
                    again += written
                case Verdict.APART if len(written) > 1:
                    half = len(written) // 2
                    await self._produce(ask, leader, {index: written[:half]}, again)
                    await self._produce(ask, leader, {index: written[half:]}, again)
                case _:
                    self.dropped("refused", *_items(written))

    def _judge(self, where: str, answer: Said) -> Verdict:
        found = verdict_on_code(answer.code)
        if found is Verdict.DELIVERED:
            self.recovered()
        else:
            error = ERROR_NAMES.get(answer.code, answer.code)
            self.failed(f"{where}: {error}; {answer.message or 'see the log of the broker'}")
        return found

    async def _ask(
        self, client: UpstreamClient, topic: Topic, leader: int, partitions: _Partitions[T]
    ) -> dict[int, Said]:
        if leader == NO_LEADER:
            raise UpstreamError(f"{topic.name}: no leader for partitions {sorted(partitions)}; see the brokers' state")
        batches = await trio.to_thread.run_sync(self._batches, partitions)
        request = produce(topic.name, topic.id, batches, _REPLICAS_MS)
        return said(await client.request(request, ProduceResponse, node=leader))

    def _batches(self, partitions: _Partitions[T]) -> dict[int, bytes]:
        """All in one go, in a thread: each time that it comes back to Trio it waits for a turn behind the relay."""
        codec, compress = _CODECS[self._compression]
        return {
            index: encode_batch([each.record for each in written], codec=codec, compress=compress)
            for index, written in partitions.items()
        }


_Partitions = dict[int, list[_Written[T]]]
_Ask = Callable[[_Partitions[T]], Awaitable[dict[int, Said]]]


def _by_leader(leaders: Sequence[int], written: Sequence[_Written[T]]) -> dict[int, _Partitions[T]]:
    by_leader: dict[int, _Partitions[T]] = {}
    for each in written:
        index = partition_of(each.record.key or b"", len(leaders))
        by_leader.setdefault(leaders[index], {}).setdefault(index, []).append(each)
    return by_leader


def _items(written: Sequence[_Written[T]]) -> list[T]:
    return [each.item for each in written]


_NOTHING_SAID: Final = Said(UNKNOWN_SERVER_ERROR, "")
_CODECS: Final[Mapping[Compression, tuple[int, Callable[[bytes], bytes] | None]]] = MappingProxyType(
    {
        Compression.NONE: (NO_COMPRESSION, None),
        Compression.GZIP: (GZIP, lambda data: bytes(cramjam.gzip.compress(data, level=4))),
        Compression.ZSTD: (ZSTD, lambda data: bytes(cramjam.zstd.compress(data, level=3))),
    }
)
