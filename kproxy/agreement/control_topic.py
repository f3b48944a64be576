"""One upstream cluster's copy of the orders: a compacted topic of one partition, read from its beginning and followed.

`kproxy.cluster.agreement` has one for each upstream.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

import structlog
import trio

from kproxy.agreement.order import LaterVersionError, Order, decode_order, encode_order
from kproxy.delivery.batches import produce, said
from kproxy.errors import MalformedMessageError, RetriableError, UpstreamError
from kproxy.upstream.responses import check, refused
from kproxy.upstream.retries import Retries
from kproxy.wire.config_resources import TOPIC
from kproxy.wire.generated.create_topics_request import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kproxy.wire.generated.create_topics_response import CreateTopicsResponse
from kproxy.wire.generated.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kproxy.wire.generated.describe_configs_response import DescribeConfigsResponse
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kproxy.wire.generated.fetch_response import FetchResponse, PartitionData
from kproxy.wire.generated.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kproxy.wire.generated.list_offsets_response import ListOffsetsResponse
from kproxy.wire.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.generated.produce_response import ProduceResponse
from kproxy.wire.records import Record, encode_batch
from kproxy.wire.stored_records import StoredRecord, stored_records

if TYPE_CHECKING:
    from kproxy.upstream.client import UpstreamClient

POLL: Final = 5.0
"""Seconds for which a broker holds a Fetch that finds nothing new. It answers at once when a record comes."""
ANSWER: Final = 5.0
"""Seconds for any other answer."""
_CREATED: Final = 10.0
"""Seconds within which a new topic must have a leader."""
_LOOK_AGAIN: Final = 0.2
_MOST_BYTES: Final = 1 << 20
_EARLIEST: Final = -2
_SETTINGS: Final = {"cleanup.policy": "compact", "compression.type": "uncompressed"}

log = structlog.get_logger("kproxy.agreement")


class _Partition(NamedTuple):
    """Where the topic's one partition is."""

    topic_id: UUID
    leader: int


Ask = Callable[[Callable[["UpstreamClient"], Awaitable[None]]], Awaitable[None]]
"""Calls a function with a client of the upstream cluster, which runs; raises its UpstreamError."""


class ControlTopic:
    """The orders of one virtual cluster in the topic, where those of others may be, too: implements `Place`."""

    def __init__(self, topic: str, cluster: str, ask: Ask) -> None:
        self.topic = topic
        self._cluster = cluster
        self._ask = ask
        self._strange = 0  # records that are no orders, so that the first is logged

    async def follow(self, take: Callable[[Order], None], read: Callable[[], None]) -> None:
        """Hand the highest order that is there to `take`, call `read`, and hand on each that comes, until cancelled.

        The topic is created when it is not there. Raises UpstreamError, whatever its class: the caller begins anew,
        with a leader that is looked up and all orders, since another leader may have lost the last ones.
        """
        await self._ask(lambda client: self._follow(client, take, read))

    async def write(self, order: Order) -> None:
        """Append an order; raise UpstreamError, also where it is not known whether it is there now."""
        await self._ask(lambda client: self._write(client, order))

    async def _follow(self, client: UpstreamClient, take: Callable[[Order], None], read: Callable[[], None]) -> None:
        partition = await self._partition(client)
        await self._check_settings(client)
        offset = await self._read_all(client, partition, take)
        read()
        while True:
            found = await self._fetched(client, partition, offset, POLL)
            for order in self._orders(found):
                take(order)
            offset = found.next_offset(offset)
            if found.behind is None:
                await trio.sleep(_LOOK_AGAIN)

    async def _read_all(self, client: UpstreamClient, partition: _Partition, take: Callable[[Order], None]) -> int:
        """Hand the highest order to `take`; return the offset behind. One of the past is not to be followed."""
        offset, highest = await self._earliest(client, partition), list[Order]()
        while True:
            found = await self._fetched(client, partition, offset, 0.0)
            highest = sorted([*highest, *self._orders(found)], key=lambda order: order.rank)[-1:]
            offset = found.next_offset(offset)
            if offset >= found.end:
                break
            if found.behind is None:
                await trio.sleep(_LOOK_AGAIN)
        for order in highest:
            take(order)
        return offset

    async def _write(self, client: UpstreamClient, order: Order) -> None:
        """Write it; an error that may pass is obeyed for a while, since the same order twice counts once."""
        await Retries(partial(self._partition, client), seconds=ANSWER).ask(partial(self._written, client, order))

    async def _written(self, client: UpstreamClient, order: Order, partition: _Partition) -> None:
        batch = encode_batch([Record(order.key.encode(), encode_order(order), int(time.time() * 1000))])
        request = produce(self.topic, partition.topic_id, {0: batch}, int(ANSWER * 1000))
        answer = await client.request(request, ProduceResponse, node=partition.leader, limit=ANSWER)
        self._check("Produce", [each.code for each in said(answer).values()])

    async def _partition(self, client: UpstreamClient) -> _Partition:
        create = True
        until = trio.current_time() + _CREATED
        while True:
            request = MetadataRequest([MetadataRequestTopic(name=self.topic)], allow_auto_topic_creation=False)
            answer = await client.request(request, MetadataResponse, limit=ANSWER)
            client.set_nodes({broker.node_id: (broker.host, broker.port) for broker in answer.brokers})
            (topic,) = answer.topics
            leaders = {part.partition_index: part.leader_id for part in topic.partitions}
            if topic.error_code == ErrorCode.NONE and leaders.get(0, -1) in client.nodes:
                return _Partition(topic.topic_id, leaders[0])
            # By its code: of the errors that may pass only this one asks for a new topic.
            if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and create:
                create = not await self._created(client, answer.controller_id)
            elif not _may_pass(topic.error_code) or trio.current_time() > until:
                raise self._without_leader(topic.error_code, leaders)
            await trio.sleep(_LOOK_AGAIN)

    def _without_leader(self, code: int, leaders: Mapping[int, int]) -> UpstreamError:
        if code != ErrorCode.NONE:
            return refused("Metadata", code, asked=f"topic {self.topic}")
        why = "its partition 0 has no leader" if 0 in leaders else "it has no partition"
        return UpstreamError(f"topic {self.topic}: {why}")

    async def _created(self, client: UpstreamClient, controller: int) -> bool:
        """Create the topic; return False where that may succeed later. Raises UpstreamError."""
        settings = [CreatableTopicConfig(name, value) for name, value in _SETTINGS.items()]
        topic = CreatableTopic(name=self.topic, num_partitions=1, replication_factor=-1, configs=settings)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=int(ANSWER * 1000))
        node = controller if controller in client.nodes else None
        answer = await client.request(request, CreateTopicsResponse, node=node, limit=ANSWER)
        codes = {one.error_code: one.error_message or "" for one in answer.topics}
        codes.pop(ErrorCode.TOPIC_ALREADY_EXISTS, None)  # another replica of kproxy was first: as good as success
        for code, why in codes.items():
            if not _may_pass(code):
                raise refused("CreateTopics", code, asked=f"topic {self.topic} is not there", said=why)
        return all(code == ErrorCode.NONE for code in codes)

    async def _check_settings(self, client: UpstreamClient) -> None:
        """Refuse a topic that forgets; where kproxy may not ask for the settings, what is documented must hold."""
        resource = DescribeConfigsResource(TOPIC, self.topic, ["cleanup.policy"])
        answer = await client.request(DescribeConfigsRequest([resource]), DescribeConfigsResponse, limit=ANSWER)
        for one in answer.results:
            for setting in one.configs:
                if setting.name == "cleanup.policy" and setting.value != "compact":
                    raise UpstreamError(
                        f"topic {self.topic}: its cleanup.policy is {setting.value}, so that orders would be "
                        "forgotten; set it to compact"
                    )

    async def _earliest(self, client: UpstreamClient, partition: _Partition) -> int:
        topic = ListOffsetsTopic(self.topic, [ListOffsetsPartition(timestamp=_EARLIEST)])
        request = ListOffsetsRequest(topics=[topic], timeout_ms=int(ANSWER * 1000))
        answer = await client.request(request, ListOffsetsResponse, node=partition.leader, limit=ANSWER)
        found = [part for one in answer.topics for part in one.partitions]
        self._check("ListOffsets", [part.error_code for part in found])
        return found[0].offset

    async def _fetched(self, client: UpstreamClient, partition: _Partition, offset: int, wait: float) -> _Fetched:
        part = FetchPartition(fetch_offset=offset, partition_max_bytes=_MOST_BYTES)
        request = FetchRequest(
            max_wait_ms=int(wait * 1000),
            min_bytes=1,
            max_bytes=_MOST_BYTES,
            topics=[FetchTopic(self.topic, partition.topic_id, [part])],
        )
        answer = await client.request(request, FetchResponse, node=partition.leader, limit=wait + ANSWER)
        self._check("Fetch", [answer.error_code])
        found = [part for one in answer.responses for part in one.partitions]
        self._check("Fetch", [part.error_code for part in found])
        return _Fetched.of(found[0], self.topic)

    def _check(self, api: str, codes: list[int]) -> None:
        if not codes:
            raise UpstreamError(f"topic {self.topic}: the broker's answer to {api} says nothing of it")
        for code in codes:
            check(api, code, asked=f"topic {self.topic}")

    def _orders(self, found: _Fetched) -> Iterator[Order]:
        for record in found.records:
            try:
                order = decode_order(record.value or b"")
            except ValueError as error:
                if isinstance(error, LaterVersionError) and self._is_own(record):
                    raise UpstreamError(f"topic {self.topic}: offset {record.offset}: {error}") from error
                self._note_strange(record, error)
                continue
            if order.cluster == self._cluster:
                yield order

    def _is_own(self, record: StoredRecord) -> bool:
        """Whether an order that cannot be read is the virtual cluster's: its key says so in every version."""
        return (record.key or b"").startswith(Order.key_prefix(self._cluster).encode())

    def _note_strange(self, record: StoredRecord, error: ValueError) -> None:
        self._strange += 1
        if self._strange == 1 and record.value is not None:
            log.warning("a record is left out", topic=self.topic, offset=record.offset, reason=str(error))


class _Fetched(NamedTuple):
    """What one Fetch found."""

    records: list[StoredRecord]
    behind: int | None
    end: int

    @classmethod
    def of(cls, part: PartitionData, topic: str) -> _Fetched:
        try:
            records, behind = stored_records(part.records or b"")
        except MalformedMessageError as error:
            raise UpstreamError(f"topic {topic}: {error}") from error
        return cls(records, behind, part.high_watermark)

    def next_offset(self, offset: int) -> int:
        """Return where to go on that began at `offset`."""
        return offset if self.behind is None else self.behind


def _may_pass(code: int) -> bool:
    """True for NONE, too: a topic that was created a moment ago may have no leader yet."""
    return code == ErrorCode.NONE or isinstance(refused("Metadata", code), RetriableError)
