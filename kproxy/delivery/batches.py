# This module is pure.
"""Items to a topic: which leader gets which batch, the Produce request, and what its answer means for the items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Final, Generic, NamedTuple
from uuid import UUID

import cramjam

from kproxy.delivery.destinations import T
from kproxy.errors import ErrorClass
from kproxy.wire.error_codes import classify
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kproxy.wire.generated.produce_response import ProduceResponse
from kproxy.wire.records import GZIP, NO_COMPRESSION, ZSTD, Record, encode_batch, partition_of


class Compression(StrEnum):
    """Kafka's, of record batches. zstd is for brokers since Kafka 2.1."""

    NONE = "none"
    GZIP = "gzip"
    ZSTD = "zstd"


class Batch(NamedTuple, Generic[T]):
    """Of one partition: the items, and all of them as a record batch."""

    items: Sequence[T]
    encoded: bytes


class Batches(Generic[T]):
    """Makes them of items, each of which `record` makes a record of.

    A batch of a thousand takes tens of milliseconds: for a thread, and all in one go, since each time that a thread
    comes back to Trio it waits for a turn behind the relay.
    """

    def __init__(self, record: Callable[[T], Record], compression: Compression) -> None:
        self._record = record
        self._codec, self._compress = _CODECS[compression]

    def by_leader(self, leaders: Sequence[int], items: Sequence[T]) -> Mapping[int, Mapping[int, Batch[T]]]:
        """By node, then by partition; `leaders` are the partitions' nodes."""
        parts: dict[int, tuple[list[T], list[Record]]] = {}
        for item in items:
            record = self._record(item)
            of, records = parts.setdefault(partition_of(record.key or b"", len(leaders)), ([], []))
            of.append(item)
            records.append(record)
        by_leader: dict[int, dict[int, Batch[T]]] = {}
        for index, (of, records) in parts.items():
            by_leader.setdefault(leaders[index], {})[index] = Batch(of, self._encoded(records))
        return by_leader

    def halves(self, batch: Batch[T]) -> tuple[Batch[T], Batch[T]]:
        """Of a batch of several items that is too large for its broker, or has one that is refused."""
        half = len(batch.items) // 2
        return self._of(batch.items[:half]), self._of(batch.items[half:])

    def _of(self, items: Sequence[T]) -> Batch[T]:
        return Batch(items, self._encoded([self._record(item) for item in items]))

    def _encoded(self, records: Sequence[Record]) -> bytes:
        return encode_batch(records, codec=self._codec, compress=self._compress)


_CODECS: Final[Mapping[Compression, tuple[int, Callable[[bytes], bytes] | None]]] = MappingProxyType(
    {
        Compression.NONE: (NO_COMPRESSION, None),
        Compression.GZIP: (GZIP, lambda data: bytes(cramjam.gzip.compress(data, level=4))),
        Compression.ZSTD: (ZSTD, lambda data: bytes(cramjam.zstd.compress(data, level=3))),
    }
)


ACKS_ALL: Final = -1


class Said(NamedTuple):
    """A partition's error code, and what the broker says of it, which older ones do not."""

    code: int
    message: str


def produce(topic: str, topic_id: UUID, batches: Mapping[int, bytes], timeout_ms: int) -> ProduceRequest:
    """A record batch for each partition; its replicas have `timeout_ms` to take it.

    With name and id both: versions up to 12 carry the one, later ones the other.
    """
    partitions = [PartitionProduceData(index=index, records=batch) for index, batch in batches.items()]
    data = TopicProduceData(name=topic, topic_id=topic_id, partition_data=partitions)
    return ProduceRequest(acks=ACKS_ALL, timeout_ms=timeout_ms, topic_data=[data])


def said(answer: ProduceResponse) -> dict[int, Said]:
    """By partition; all are of the one topic that was asked for."""
    return {
        each.index: Said(each.error_code, each.error_message or "")
        for topic in answer.responses
        for each in topic.partition_responses
    }


class Verdict(Enum):
    """What becomes of the items that an answer is about."""

    DELIVERED = "delivered"
    AGAIN = "again"
    """The same may be taken later."""
    APART = "apart"
    """Too large together, or one of them is not what is taken: the others may be."""
    REFUSED = "refused"


_TOO_LARGE: Final = frozenset({10, 18})  # MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE
_RETRIABLE: Final = frozenset({ErrorClass.RETRIABLE, ErrorClass.REFRESH_RETRIABLE})


def verdict_on_code(code: int) -> Verdict:
    """By Kafka's error code of a partition."""
    if code == ErrorCode.NONE:
        return Verdict.DELIVERED
    if code in _TOO_LARGE:
        return Verdict.APART
    return Verdict.AGAIN if classify(code) in _RETRIABLE else Verdict.REFUSED
