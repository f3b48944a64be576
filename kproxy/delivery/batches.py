# This module is pure.
"""What goes to which leader: items by the partition of their key, those of a partition as one batch. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Generic, NamedTuple

import cramjam

from kproxy.delivery.interface import T
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
