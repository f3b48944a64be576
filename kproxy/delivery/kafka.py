"""Delivery to a topic of Kafka: a record for each item, in the partition of its key, with retries.

`Fanout` runs a task for each `Kafka` from start to end of kproxy: it writes the events or pushes in its queue.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import trio

from kproxy.config.topic import check_topic
from kproxy.delivery.batches import Batch, Batches, Compression, Said, Verdict, produce, said, verdict_on_code
from kproxy.delivery.destinations import T
from kproxy.delivery.queued import MAX_BYTES, MAX_ITEMS, Queued
from kproxy.errors import UpstreamError
from kproxy.upstream.attempts import full_jitter
from kproxy.upstream.client import UpstreamClient
from kproxy.wire.error_codes import error_name
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.generated.produce_response import ProduceResponse
from kproxy.wire.primitives import ZERO_UUID
from kproxy.wire.records import Record

MAX_AGE: Final = 300.0
"""Seconds until the leaders are looked up again, as Kafka's clients do: there may be more partitions."""

NO_LEADER: Final = -1


class Topic:
    """Looks up the leaders of a topic, and gives the client the brokers' addresses.

    `id` is all zeros before the first look-up, and at brokers before 2.8, which have no topic ids.
    """

    def __init__(self, client: UpstreamClient, name: str) -> None:
        self.name = name
        self.id = ZERO_UUID
        self._client = client
        self._leaders: Sequence[int] = ()
        self._expires = 0.0

    def forget(self) -> None:
        """Make the next `leaders` ask the brokers: a leader did not answer, or is no longer the leader."""
        self._expires = 0.0

    async def leaders(self) -> Sequence[int]:
        """Return the node id of each partition's leader, or NO_LEADER. Raises UpstreamError."""
        if trio.current_time() >= self._expires:
            self._leaders = await self._ask()
            self._expires = trio.current_time() + MAX_AGE
        return self._leaders

    async def _ask(self) -> Sequence[int]:
        # Brokers with auto.create.topics.enable create the topic.
        request = MetadataRequest(topics=[MetadataRequestTopic(name=self.name)], allow_auto_topic_creation=True)
        answer = await self._client.request(request, MetadataResponse)
        self._client.set_nodes({broker.node_id: (broker.host, broker.port) for broker in answer.brokers})
        for topic in answer.topics:
            if topic.name == self.name and topic.error_code == ErrorCode.NONE and topic.partitions:
                self.id = topic.topic_id
                leaders = {each.partition_index: each.leader_id for each in topic.partitions}
                return [leaders.get(index, NO_LEADER) for index in range(max(leaders) + 1)]
        codes = [topic.error_code for topic in answer.topics]
        codes_text = ", ".join(error_name(code) for code in codes) or "no answer"
        raise UpstreamError(f"topic {self.name}: {codes_text}; create it, or allow kproxy to write to it")


BATCH_BYTES: Final = 900 * 1024
"""Bytes of payloads in a batch: brokers accept batches of 1 MiB (message.max.bytes), overhead included."""

COMPRESSED_BATCH_BYTES: Final = 4 * BATCH_BYTES
"""The same for compressed batches: payloads shrink to a fifth or less.

Fewer and larger batches are better: each takes several turns of Trio, which come late behind a busy relay.
"""

_BATCH_ITEMS: Final = 1000
_BACKOFF: Final = 0.1
_LONGEST_BACKOFF: Final = 10.0
_REPLICAS_MS: Final = 20_000  # shorter than the request's timeout, so that the broker can report slow replicas


class Kafka(Queued[T]):
    """Writes the waiting items to a topic's leaders with acks=all; retries those that no leader took, in order.

    Records that a leader took are sent again if its answer is lost: rarely, an item arrives more than once.
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
        """`connect` makes a client of the cluster, at each start of `run`; `record` makes an item's record.

        Items wait `linger` seconds for others, and are retried for `retry_for` seconds. Raises ValueError for an
        invalid topic name.
        """
        check_topic(topic)
        super().__init__(name, max_items=max_items, max_bytes=max_bytes)
        self._connect = connect
        self._topic = topic
        self._batches = Batches(record, compression)
        self._batch_bytes = BATCH_BYTES if compression is Compression.NONE else COMPRESSED_BATCH_BYTES
        self._retry_for = retry_for
        self._linger = linger
        self._rand = rand

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Write until cancelled; items that are under way then go back into the queue."""
        client = self._connect()
        topic = Topic(client, self._topic)
        # Make the next batches while these are written: behind a busy relay, both wait for their turns.
        made, making = trio.open_memory_channel[_Made[T]](0)
        try:
            async with trio.open_nursery() as nursery:
                await nursery.start(client.run)
                nursery.start_soon(self._make_all, topic, made)
                task_status.started()
                async for items, by_leader in making:
                    await self._deliver(client, topic, items, by_leader)
        finally:
            self.give_back()

    async def _make_all(self, topic: Topic, made: trio.MemorySendChannel[_Made[T]]) -> None:
        while True:
            items = await self.take(max_items=_BATCH_ITEMS, max_bytes=self._batch_bytes, linger=self._linger)
            await made.send((items, await self._by_leader(topic, items)))

    async def _by_leader(self, topic: Topic, items: Sequence[T]) -> _ByLeader[T] | None:
        """Return the batches by leader; None when the leaders cannot be looked up."""
        try:
            leaders = await topic.leaders()
        except UpstreamError as error:
            self.failed(str(error))
            return None
        return await trio.to_thread.run_sync(self._batches.by_leader, leaders, items)

    async def _deliver(
        self, client: UpstreamClient, topic: Topic, items: Sequence[T], by_leader: _ByLeader[T] | None
    ) -> None:
        give_up = trio.current_time() + self._retry_for
        failures = 0
        while items := items if by_leader is None else await self._write(client, topic, by_leader):
            failures += 1
            backoff = full_jitter(failures, self._rand(), base=_BACKOFF, cap=_LONGEST_BACKOFF)
            if trio.current_time() + backoff > give_up:
                self.dropped("late", *items)
                return
            self.counters.retries += 1
            await trio.sleep(backoff)
            by_leader = await self._by_leader(topic, items)

    async def _write(self, client: UpstreamClient, topic: Topic, by_leader: _ByLeader[T]) -> Sequence[T]:
        """Write the batches; return the items to try again. The others are settled."""
        again: list[T] = []
        async with trio.open_nursery() as nursery:
            for leader, batches in by_leader.items():
                nursery.start_soon(self._produce, _Leader(client, topic, leader), batches, again)
        return again

    async def _produce(self, leader: _Leader, batches: Mapping[int, Batch[T]], again: list[T]) -> None:
        try:
            answers = await leader.ask(batches)
        except UpstreamError as error:
            self.failed(str(error))
            leader.topic.forget()  # another node may lead by now
            again += [item for batch in batches.values() for item in batch.items]
            return
        for index, batch in batches.items():
            answer = answers.get(index, _NOTHING_SAID)
            match self._verdict(f"{self._topic}-{index} at node {leader.node}", answer):
                case Verdict.DELIVERED:
                    self.delivered(*batch.items)
                case Verdict.AGAIN:
                    again += batch.items
                case Verdict.REFRESH:
                    leader.topic.forget()
                    again += batch.items
                case Verdict.APART if len(batch.items) > 1:
                    for half in await trio.to_thread.run_sync(self._batches.halves, batch):
                        await self._produce(leader, {index: half}, again)
                case _:
                    self.dropped("refused", *batch.items)

    def _verdict(self, where: str, answer: Said) -> Verdict:
        found = verdict_on_code(answer.code)
        if found is Verdict.DELIVERED:
            self.recovered()
        else:
            error = error_name(answer.code)
            self.failed(f"{where}: {error}; {answer.message or 'see the log of the broker'}")
        return found


_ByLeader = Mapping[int, Mapping[int, Batch[T]]]
_Made = tuple[Sequence[T], _ByLeader[T] | None]


class _Leader(NamedTuple):
    """A node that leads partitions of the topic."""

    client: UpstreamClient
    topic: Topic
    node: int

    async def ask(self, batches: Mapping[int, Batch[T]]) -> dict[int, Said]:
        """Return its answer for each partition. Raises UpstreamError."""
        if self.node == NO_LEADER:
            raise UpstreamError(
                f"{self.topic.name}: no leader for partitions {sorted(batches)}; see the brokers' state"
            )
        encoded = {index: batch.encoded for index, batch in batches.items()}
        request = produce(self.topic.name, self.topic.id, encoded, _REPLICAS_MS)
        return said(await self.client.request(request, ProduceResponse, node=self.node))


_NOTHING_SAID: Final = Said(ErrorCode.UNKNOWN_SERVER_ERROR, "")
