"""Record batches (magic 2) as a producer writes them, and the partition that a key belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple

import google_crc32c

from kproxy.wire.primitives import Buffer, uvarint

NO_COMPRESSION: Final = 0
GZIP: Final = 1
ZSTD: Final = 4

_SHORT: Final = 63
_NO_PRODUCER: Final = (-1, -1, -1)  # id, epoch, first sequence: neither idempotent nor of a transaction
_MAGIC: Final = 2
_LENGTH: Final = Struct(">qi")  # base offset, length of what follows
_HEAD: Final = Struct(">ibI")  # leader epoch, magic, CRC of what follows
_BODY: Final = Struct(">hiqqqhii")  # attributes … number of records


class Record(NamedTuple):
    """`timestamp` in Unix milliseconds; headers may repeat a key."""

    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: Sequence[tuple[str, bytes | None]] = ()


def encode_batch(
    records: Sequence[Record], *, codec: int = NO_COMPRESSION, compress: Callable[[bytes], Buffer] | None = None
) -> bytes:
    """One batch of at least one record, as a partition's part of a Produce request holds it.

    `compress` is that of the codec, which the batch names; gzip and zstd take the records as they are.
    """
    first = records[0].timestamp
    encoded = bytearray()
    for offset, record in enumerate(records):
        body = _record(record, offset, record.timestamp - first)
        encoded += _varint(len(body))
        encoded += body
    latest = max(record.timestamp for record in records)
    packed = encoded if compress is None else compress(bytes(encoded))
    body = _BODY.pack(codec, len(records) - 1, first, latest, *_NO_PRODUCER, len(records)) + packed
    head = _HEAD.pack(-1, _MAGIC, google_crc32c.value(body))
    return _LENGTH.pack(0, len(head) + len(body)) + head + body


@lru_cache(16_384)
def partition_of(key: bytes, partitions: int) -> int:
    """Where Java's producers, and those that follow them, send a key: consumers see all of a key in one partition."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """The 32 bits of Java's org.apache.kafka.common.utils.Utils.murmur2, unsigned."""
    h = 0x9747B28C ^ len(data)
    whole = len(data) & ~3
    for position in range(0, whole, 4):
        k = int.from_bytes(data[position : position + 4], "little") * _M & _MASK
        k = (k ^ k >> 24) * _M & _MASK
        h = h * _M & _MASK ^ k
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * _M & _MASK
    h = (h ^ h >> 13) * _M & _MASK
    return h ^ h >> 15


_M: Final = 0x5BD1E995
_MASK: Final = 0xFFFFFFFF


def _record(record: Record, offset: int, later: int) -> bytes:
    out = bytearray(b"\x00")  # attributes, of which there are none yet
    out += _varint(later) + _varint(offset)
    _put(out, record.key)
    _put(out, record.value)
    out += _varint(len(record.headers))
    for name, value in record.headers:
        _put(out, name.encode("utf-8", "replace"))
        _put(out, value)
    return bytes(out)


def _put(out: bytearray, data: bytes | None) -> None:
    if data is not None and len(data) <= _SHORT:
        out += _short(data)
    elif data is not None:
        out += _varint(len(data))
        out += data
    else:
        out += _varint(-1)


@lru_cache(8192)
def _short(data: bytes) -> bytes:
    """Names and values of headers, and keys, come again and again."""
    return _varint(len(data)) + data


def _varint(value: int) -> bytes:
    """Zigzag: small negative numbers are short too. Takes what an int64 holds."""
    return uvarint(value << 1 ^ value >> 63)
