"""Record batches of producers that are numbered, as kafka-python makes and reads them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

with warnings.catch_warnings():  # of kafka-python's own imports, which are none of ours
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.record.default_records import DefaultRecordBatchBuilder
    from kafka.record.memory_records import MemoryRecords

GZIP = 1


class Numbered(NamedTuple):
    """What a broker tells duplicates by, and what the batch holds."""

    producer_id: int
    epoch: int
    sequence: int
    transactional: bool
    values: tuple[bytes, ...]


def batch(
    producer_id: int,
    values: Sequence[bytes] = (b"value",),
    *,
    epoch: int = 3,
    sequence: int = 8,
    transactional: bool = False,
    compression: int = 0,
    timestamp: int | None = 1_700_000_000_000,
) -> bytes:
    """A batch of these values; without a timestamp it is of now, so that a broker keeps it."""
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=compression,
        is_transactional=transactional,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        batch_size=1 << 30,
    )
    for offset, value in enumerate(values):
        builder.append(offset, timestamp, None, value, [])
    return bytes(builder.build())


def read(data: bytes) -> Numbered:
    """A batch, whose checksum must be right."""
    found = MemoryRecords(data).next_batch()
    assert found is not None
    assert found.validate_crc()
    values = tuple(record.value for record in found)
    return Numbered(found.producer_id, found.producer_epoch, found.base_sequence, found.is_transactional, values)
