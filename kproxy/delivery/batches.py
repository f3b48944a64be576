# This module is pure (no I/O, no clock).
"""Writing items (pushes or events) to a topic: the batches for each leader, the Produce request, what its answer means.

kproxy.delivery.kafka calls it whenever items wait: `Batches` in a worker thread, the rest in Trio's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Final, Generic, NamedTuple
from uuid import UUID

import cramjam

from kproxy.delivery.destinations import T
from kproxy.errors import RefreshRetriableError, RetriableError
from kproxy.upstream.responses import refused
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kproxy.wire.generated.produce_response import ProduceResponse
from kproxy.wire.records import GZIP, NO_COMPRESSION, ZSTD, Record, encode_batch, partition_of


class Compression(StrEnum):
    """The compression of record batches. zstd needs brokers of Kafka 2.1 or newer."""

    NONE = "none"
    GZIP = "gzip"
    ZSTD = "zstd"


class Batch(NamedTuple, Generic[T]):
    """Items for one partition, and the record batch that holds all of them."""

    items: Sequence[T]
    encoded: bytes


class Batches(Generic[T]):
    """Makes batches of items; `record` makes the record of an item.

    A batch of a thousand takes tens of milliseconds: call it in a thread. It does all in one go, because a thread that
    comes back to Trio waits each time for a turn behind the relay.
    """

    def __init__(self, record: Callable[[T], Record], compression: Compression) -> None:
        self._record = record
        self._codec, self._compress = _CODECS[compression]

    def by_leader(self, leaders: Sequence[int], items: Sequence[T]) -> Mapping[int, Mapping[int, Batch[T]]]:
        """Return the batches by node, then by partition; `leaders` has the node of each partition."""
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
        """Split a batch of several items that is too large for its broker, or that has an item which it refuses."""
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
    """A partition's error code, and the broker's message about it; older brokers send none."""

    code: int
    message: str


def produce(topic: str, topic_id: UUID, batches: Mapping[int, bytes], timeout_ms: int) -> ProduceRequest:
    """Return a request with a record batch for each partition; its replicas have `timeout_ms` to take it.

    It has both the topic's name and its id: versions up to 12 carry the name, later ones the id.
    """
    partitions = [PartitionProduceData(index=index, records=batch) for index, batch in batches.items()]
    data = TopicProduceData(name=topic, topic_id=topic_id, partition_data=partitions)
    return ProduceRequest(acks=ACKS_ALL, timeout_ms=timeout_ms, topic_data=[data])


def said(answer: ProduceResponse) -> dict[int, Said]:
    """Return the answer for each partition; the answer has only one topic."""
    return {
        each.index: Said(each.error_code, each.error_message or "")
        for topic in answer.responses
        for each in topic.partition_responses
    }


class Verdict(Enum):
    """What happens to the items of a batch after its answer."""

    DELIVERED = "delivered"
    AGAIN = "again"
    """Send the same batch again: the broker may take it later."""
    REFRESH = "refresh"
    """Look the leaders up, then send the same batch again."""
    APART = "apart"
    """Send the items in smaller batches: they are too large together, or the broker refuses one of them."""
    REFUSED = "refused"


_TOO_LARGE: Final = frozenset({ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE})
"""By their codes: by their classes kproxy would give up, but it knows what to do, and makes smaller batches."""


def verdict_on_code(code: int) -> Verdict:
    """Return the verdict on a partition's error code: what its class asks for (KIP-1050)."""
    if code == ErrorCode.NONE:
        return Verdict.DELIVERED
    if code in _TOO_LARGE:
        return Verdict.APART
    error = refused("Produce", code)
    if isinstance(error, RefreshRetriableError):
        return Verdict.REFRESH
    return Verdict.AGAIN if isinstance(error, RetriableError) else Verdict.REFUSED
