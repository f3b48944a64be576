"""Record batches of producers with ids, made and read by kafka-python."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

with warnings.catch_warnings():  # kafka-python's own imports warn
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.record.default_records import DefaultRecordBatchBuilder
    from kafka.record.legacy_records import LegacyRecordBatchBuilder
    from kafka.record.memory_records import MemoryRecords

GZIP = 1


class Numbered(NamedTuple):
    """The fields by which a broker recognises duplicates, and what the batch holds."""

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
    """Return a batch of these values; without a timestamp it is dated now, so that a broker keeps it."""
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


def message_set(magic: int, values: Sequence[bytes], compression: int = 0) -> bytes:
    """Return a message set as Kafka before 0.11 has it; compressed, it is one message with the others in it."""
    builder = LegacyRecordBatchBuilder(magic=magic, compression_type=compression, batch_size=1 << 30)
    for offset, value in enumerate(values):
        builder.append(offset, 1_700_000_000_000, None, value)
    return bytes(builder.build())


def read(data: bytes) -> Numbered:
    """Parse a batch, whose checksum must be right."""
    found = MemoryRecords(data).next_batch()
    assert found is not None
    assert found.validate_crc()
    values = tuple(record.value for record in found)
    return Numbered(found.producer_id, found.producer_epoch, found.base_sequence, found.is_transactional, values)
