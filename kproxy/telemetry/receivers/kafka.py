"""The `kafka` receiver: a record for each push; key the client's instance id, value OTLP, who pushed in the headers."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import cramjam
import trio

from kproxy.errors import UNKNOWN_SERVER_ERROR, UpstreamError
from kproxy.observe.error_names import ERROR_NAMES
from kproxy.telemetry.instance import ClientInfo, kafka_text
from kproxy.telemetry.receivers.interface import OTLP
from kproxy.telemetry.receivers.labels import known
from kproxy.telemetry.receivers.produce import ProduceRequest, ProduceResponse
from kproxy.telemetry.receivers.queued import MAX_BYTES, MAX_PUSHES, Queued
from kproxy.telemetry.receivers.topic import NO_LEADER, Topic, check_name
from kproxy.telemetry.receivers.verdicts import Verdict, verdict_on_code
from kproxy.upstream.backoff import full_jitter
from kproxy.upstream.client import UpstreamClient
from kproxy.wire.records import GZIP, NO_COMPRESSION, ZSTD, Record, encode_batch, partition_of

if TYPE_CHECKING:
    from kproxy.telemetry.payload import Push

BATCH_BYTES: Final = 900 * 1024
"""Of payloads at a time: brokers take batches of 1 MiB (message.max.bytes), with what records add."""

_BATCH_PUSHES: Final = 1000
_BACKOFF: Final = 0.1
_LONGEST_BACKOFF: Final = 10.0
_REPLICAS_MS: Final = 20_000  # the broker says that its replicas are slow before the request times out

_Headers = Sequence[tuple[str, bytes]]
_Partitions = dict[int, list["Push"]]


class Compression(StrEnum):
    """Of batches. zstd is for brokers since Kafka 2.1."""

    NONE = "none"
    GZIP = "gzip"
    ZSTD = "zstd"


class Kafka(Queued):
    """Writes what waits, with acks=all, to the leaders of a topic; what no leader took is tried again, in its order.

    A leader that took records and could not say so is sent them again: a push arrives once or, rarely, more often. The
    instance id and the timestamp tell.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], UpstreamClient],
        topic: str,
        *,
        compression: Compression = Compression.ZSTD,
        constant: Mapping[str, str] = MappingProxyType({}),
        retry_for: float = 120.0,
        linger: float = 0.2,
        max_pushes: int = MAX_PUSHES,
        max_bytes: int = MAX_BYTES,
        rand: Callable[[], float] = random.random,
    ) -> None:
        """`connect` makes a client of the cluster, of the receiver's own, whenever `run` begins.

        Times in seconds: pushes wait for others for `linger`, and are tried again for `retry_for`. `constant` headers
        stand on every record. ValueError for what is no topic.
        """
        check_name(topic)
        super().__init__(name, max_pushes=max_pushes, max_bytes=max_bytes)
        self._connect = connect
        self._topic = topic
        self._compression = compression
        self._retry_for = retry_for
        self._linger = linger
        self._rand = rand
        self._constant = [(key, value.encode()) for key, value in constant.items()]
        self._headers = lru_cache(16_384)(self._headers_of)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Writes until cancelled; what is under way then goes back into the queue."""
        client = self._connect()
        topic = Topic(client, self._topic)
        try:
            async with trio.open_nursery() as nursery:
                await nursery.start(client.run)
                task_status.started()
                while True:
                    taken = await self.take(max_pushes=_BATCH_PUSHES, max_bytes=BATCH_BYTES, linger=self._linger)
                    await self._deliver(client, topic, taken)
        finally:
            self.give_back()

    async def _deliver(self, client: UpstreamClient, topic: Topic, pushes: Sequence[Push]) -> None:
        give_up = trio.current_time() + self._retry_for
        failures = 0
        while pushes := await self._attempt(client, topic, pushes):
            topic.forget()
            failures += 1
            backoff = full_jitter(failures, self._rand(), base=_BACKOFF, cap=_LONGEST_BACKOFF)
            if trio.current_time() + backoff > give_up:
                self.dropped("late", *pushes)
                return
            self.counters.retries += 1
            await trio.sleep(backoff)

    async def _attempt(self, client: UpstreamClient, topic: Topic, pushes: Sequence[Push]) -> list[Push]:
        """Those that may be tried again; the others are settled."""
        try:
            leaders = await topic.leaders()
        except UpstreamError as error:
            self.failed(str(error))
            return list(pushes)
        again: list[Push] = []
        async with trio.open_nursery() as nursery:
            for leader, partitions in self._by_leader(leaders, pushes).items():
                nursery.start_soon(self._produce, client, leader, partitions, again)
        return again

    def _by_leader(self, leaders: Sequence[int], pushes: Sequence[Push]) -> dict[int, _Partitions]:
        by_leader: dict[int, _Partitions] = {}
        for push in pushes:
            index = partition_of(_key(push), len(leaders))
            by_leader.setdefault(leaders[index], {}).setdefault(index, []).append(push)
        return by_leader

    async def _produce(self, client: UpstreamClient, leader: int, partitions: _Partitions, again: list[Push]) -> None:
        try:
            answer = await self._ask(client, leader, partitions)
        except UpstreamError as error:
            self.failed(str(error))
            again += [push for pushes in partitions.values() for push in pushes]
            return
        for index, pushes in partitions.items():
            code = answer.errors.get(index, UNKNOWN_SERVER_ERROR)
            found = verdict_on_code(code)
            if found is Verdict.DELIVERED:
                self.recovered()
                self.delivered(*pushes)
                continue
            said = answer.messages.get(index) or "see the broker's log"
            self.failed(f"{self._topic}-{index} at node {leader}: {ERROR_NAMES.get(code, code)}; {said}")
            if found is Verdict.AGAIN:
                again += pushes
            elif found is Verdict.APART and len(pushes) > 1:
                half = len(pushes) // 2
                await self._produce(client, leader, {index: pushes[:half]}, again)
                await self._produce(client, leader, {index: pushes[half:]}, again)
            else:
                self.dropped("refused", *pushes)

    async def _ask(self, client: UpstreamClient, leader: int, partitions: _Partitions) -> ProduceResponse:
        if leader == NO_LEADER:
            raise UpstreamError(f"{self._topic}: no leader for partitions {sorted(partitions)}; see the brokers' state")
        batches = {index: await self._batch(pushes) for index, pushes in partitions.items()}
        return await client.request(
            ProduceRequest(self._topic, batches, timeout_ms=_REPLICAS_MS), ProduceResponse, node=leader
        )

    async def _batch(self, pushes: Sequence[Push]) -> bytes:
        records = [
            Record(_key(push), push.payload, int(push.received_at * 1000), self._headers_for(push)) for push in pushes
        ]
        codec, compress = _CODECS[self._compression]
        return await trio.to_thread.run_sync(partial(encode_batch, records, codec=codec, compress=compress))

    def _headers_for(self, push: Push) -> _Headers:
        return [*self._headers(push.info), ("terminating", b"true" if push.terminating else b"false")]

    def _headers_of(self, info: ClientInfo) -> _Headers:
        said = [(name, value.encode("utf-8", "replace")) for name, value in known(info)]
        return [("content-type", OTLP.encode()), *said, *self._constant]


def _key(push: Push) -> bytes:
    return kafka_text(push.info.client_instance_id).encode()


_CODECS: Final[Mapping[Compression, tuple[int, Callable[[bytes], bytes] | None]]] = MappingProxyType(
    {
        Compression.NONE: (NO_COMPRESSION, None),
        Compression.GZIP: (GZIP, lambda data: bytes(cramjam.gzip.compress(data, level=4))),
        Compression.ZSTD: (ZSTD, lambda data: bytes(cramjam.zstd.compress(data, level=3))),
    }
)
