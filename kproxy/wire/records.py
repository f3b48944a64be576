# This module is pure (no I/O, no clock).
"""Record batches (magic 2): encode them, read or replace their producer id; choose the partition of a key.

kproxy.delivery encodes telemetry and events that go to topics. kproxy.producers reads and replaces the producer ids in
clients' Produce requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import chain
from struct import Struct
from typing import Final, NamedTuple, TypeAlias

import google_crc32c

from kproxy.wire.primitives import Buffer, uvarint

_POLYNOMIAL: Final = 0x82F63B78
"""The Castagnoli polynomial, reflected."""
_NIBBLES: Final = 8
_LENGTH_BITS: Final = 32

Step: TypeAlias = tuple[tuple[int, ...], ...]
"""For each nibble of a CRC, from the lowest up: what each of its 16 values becomes."""


@lru_cache(4096)  # producers of small records send batches of few sizes
def crc32c_difference(bits: int, behind: int) -> int:
    """Return what to XOR a CRC-32C with when 8 bytes are XORed with `bits` (big-endian) and `behind` bytes follow."""
    crc, steps, place = _of_bits(bits), _steps(), 0
    while behind:
        if behind & 1:
            crc = _taken(steps[place], crc)
        behind >>= 1
        place += 1
    return crc


@lru_cache(64)
def _of_bits(bits: int) -> int:
    step, crc = _steps()[0], 0
    for byte in bits.to_bytes(8, "big"):
        crc = _taken(step, crc ^ byte)
    return crc


def _taken(step: Step, crc: int) -> int:
    found = 0
    for nibble in step:
        found ^= nibble[crc & 15]
        crc >>= 4
    return found


@cache
def _steps() -> tuple[Step, ...]:
    """Return the steps over 1, 2, 4 … 2**31 zero bytes; the first call takes 5 ms."""
    bits = [_zero_byte(1 << bit) for bit in range(32)]
    steps = []
    for _ in range(_LENGTH_BITS):
        steps.append(tuple(_nibble(bits[4 * place : 4 * place + 4]) for place in range(_NIBBLES)))
        bits = [_taken(steps[-1], one) for one in bits]
    return tuple(steps)


def _nibble(bits: list[int]) -> tuple[int, ...]:
    """Return what each value of four bits becomes, from what each single bit becomes."""
    values = [0]
    for bit in bits:
        values = list(chain(values, (value ^ bit for value in values)))
    return tuple(values)


def _zero_byte(crc: int) -> int:
    for _ in range(8):
        crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc


NO_COMPRESSION: Final = 0
GZIP: Final = 1
ZSTD: Final = 4

_NO_PRODUCER: Final = (-1, -1, -1)  # id, epoch, first sequence: neither idempotent nor of a transaction
_MAGIC: Final = 2
_LENGTH: Final = Struct(">qi")  # base offset, length of what follows
_HEAD: Final = Struct(">ibI")  # leader epoch, magic, CRC of what follows
_BODY: Final = Struct(">hiqqqhii")  # attributes … number of records


HEAD_BYTES: Final = 51
"""The bytes of a batch from its start to the end of its producer id."""
_PRODUCER_HEAD: Final = Struct(">8xi4xbIH20xq")  # length of what follows, magic, CRC, attributes, producer id
_LENGTH_BYTES: Final = _LENGTH.size
_CRC_AT: Final = 17
_ID_AT: Final = 43
_CRC: Final = Struct(">I")
_ID: Final = Struct(">q")
_TRANSACTIONAL: Final = 0x10


Headers = tuple[tuple[str, bytes | None], ...]


class Record(NamedTuple):
    """`timestamp` in Unix milliseconds; headers may repeat a key."""

    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: Headers = ()


def encode_batch(
    records: Sequence[Record], *, codec: int = NO_COMPRESSION, compress: Callable[[bytes], Buffer] | None = None
) -> bytes:
    """Return a batch of at least one record, for one partition of a Produce request.

    `compress` is the codec's function; the batch names the codec. gzip and zstd compress the records as they are.
    """
    first = records[0].timestamp
    encoded: list[bytes] = []
    for offset, record in enumerate(records):
        fields = _fields(record, offset, record.timestamp - first)
        encoded += (_varint(sum(map(len, fields))), *fields)
    latest = max(record.timestamp for record in records)
    joined = b"".join(encoded)
    packed = joined if compress is None else compress(joined)
    body = _BODY.pack(codec, len(records) - 1, first, latest, *_NO_PRODUCER, len(records)) + packed
    head = _HEAD.pack(-1, _MAGIC, google_crc32c.value(body))
    return b"".join((_LENGTH.pack(0, len(head) + len(body)), head, body))


def producer_of(head: Buffer, size: int) -> tuple[int, bool]:
    """Return the producer id of a batch of `size` bytes, and whether the batch is part of a transaction.

    `head` has the batch's first `HEAD_BYTES`. The id is -1 for none, and for bytes that are not a batch of this size:
    the broker will refuse those.
    """
    length, magic, _, attributes, producer_id = _PRODUCER_HEAD.unpack_from(head)
    if magic != _MAGIC or length + _LENGTH_BYTES != size:
        return -1, False
    return int(producer_id), bool(attributes & _TRANSACTIONAL)


def with_producer(head: Buffer, size: int, producer_id: int) -> bytes:
    """Return the batch's head with another producer id, and with the checksum that matches it.

    A CRC is linear: its change depends on the bits that differ and on how many bytes follow them, not on the values of
    those bytes. So a batch that was damaged before is still detected as damaged.
    """
    _, _, crc, _, before = _PRODUCER_HEAD.unpack_from(head)
    changed = bytearray(head[:HEAD_BYTES])
    _CRC.pack_into(changed, _CRC_AT, crc ^ crc32c_difference(before ^ producer_id, size - HEAD_BYTES))
    _ID.pack_into(changed, _ID_AT, producer_id)
    return bytes(changed)


@lru_cache(16_384)
def partition_of(key: bytes, partitions: int) -> int:
    """Return the partition that Java's producers, and those compatible with them, choose for a key."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """Return the unsigned 32 bits of Java's org.apache.kafka.common.utils.Utils.murmur2."""
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


def _fields(record: Record, offset: int, later: int) -> tuple[bytes, ...]:
    """Return a record's fields behind its length, in order."""
    key, value, _, headers = record
    return (_NO_ATTRIBUTES, _varint(later), _varint(offset), _short(key), *_long(value), _headers(headers))


def _long(data: bytes | None) -> tuple[bytes, ...]:
    return (_NULL,) if data is None else (_varint(len(data)), data)


# A client's keys and headers repeat: they are encoded once.
@lru_cache(16_384)
def _short(data: bytes | None) -> bytes:
    return b"".join(_long(data))


@lru_cache(16_384)
def _headers(headers: Headers) -> bytes:
    fields = [_varint(len(headers))]
    for name, value in headers:
        fields += (*_long(name.encode("utf-8", "replace")), *_long(value))
    return b"".join(fields)


@lru_cache(16_384)
def _varint(value: int) -> bytes:
    """Return an int64 as a zigzag varint: small negative numbers are short too."""
    return uvarint(value << 1 ^ value >> 63)


_NO_ATTRIBUTES: Final = b"\x00"  # Kafka defines none yet
_NULL: Final = _varint(-1)
