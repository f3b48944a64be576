# This module is pure (no I/O, no clock).
"""Reads the record batches (magic 2) of a Fetch response: offset, key and value of each record.

`kproxy.agreement.control_topic` reads the orders of its topic with it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

import google_crc32c
import zstandard

from kproxy.errors import MalformedMessageError
from kproxy.wire.records import GZIP, NO_COMPRESSION, ZSTD

MOST_BYTES: Final = 16 << 20
"""Of a batch's records, once they are not compressed any more."""
_HEAD: Final = Struct(">qiibIhiqqqhii")  # all of a batch that is before its records
_LENGTH_BYTES: Final = 12
"""Of the base offset and the length, which counts what follows it."""
_CRC_END: Final = 21
"""Where that begins which the checksum is of."""
_MAGIC_AT: Final = 16
_MAGIC: Final = 2
_CODEC: Final = 0x07
_CONTROL: Final = 0x20
"""A batch with the end of a transaction, for brokers and consumers only."""
_NAMES: Final = {2: "snappy", 3: "lz4"}


class StoredRecord(NamedTuple):
    """A record and its offset in the partition."""

    offset: int
    key: bytes | None
    value: bytes | None


def stored_records(data: bytes) -> tuple[list[StoredRecord], int | None]:
    """Return the records of all whole batches, and the offset behind the last one; None when none is whole.

    A broker cuts the last batch where the response would become too large. Raises MalformedMessageError for what is no
    batch, for a checksum that does not fit, and for batches in a compression that kproxy does not read.
    """
    found: list[StoredRecord] = []
    behind, at = None, 0
    while len(data) - at >= _HEAD.size:
        length = int.from_bytes(data[at + 8 : at + _LENGTH_BYTES], "big", signed=True)
        end = at + _LENGTH_BYTES + length
        if end > len(data):
            break
        if data[at + _MAGIC_AT] != _MAGIC or length < _HEAD.size - _LENGTH_BYTES:
            raise MalformedMessageError(f"a record batch with magic {data[at + _MAGIC_AT]} and {length} bytes")
        behind = _take(data[at:end], found)
        at = end
    return found, behind


def _take(batch: bytes, found: list[StoredRecord]) -> int:
    """Add the batch's records to `found`; return the offset behind its last one, which may have been compacted."""
    base, _, _, _, crc, attributes, last, _, _, _, _, _, count = _HEAD.unpack_from(batch)
    if google_crc32c.value(batch[_CRC_END:]) != crc:
        raise MalformedMessageError(f"the record batch at offset {base} does not fit its checksum")
    if not attributes & _CONTROL:
        try:
            found.extend(_records(_unpacked(batch[_HEAD.size :], attributes & _CODEC), base, count))
        except (IndexError, ValueError, struct.error, zlib.error, zstandard.ZstdError) as error:
            raise MalformedMessageError(f"the record batch at offset {base}: {error}") from error
    return int(base + last + 1)


def _unpacked(data: bytes, codec: int) -> bytes:
    if codec == NO_COMPRESSION:
        return data
    if codec == GZIP:
        return _gunzipped(data)
    if codec == ZSTD:
        return _unzstd(data)
    raise MalformedMessageError(f"records compressed with {_NAMES.get(codec, codec)}, which kproxy does not read")


def _unzstd(data: bytes) -> bytes:
    found = zstandard.ZstdDecompressor().stream_reader(data).read(MOST_BYTES + 1)
    if len(found) > MOST_BYTES:
        raise ValueError(f"zstd with more than {MOST_BYTES} bytes in it")
    return found


def _gunzipped(data: bytes) -> bytes:
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    found = unpacking.decompress(data, MOST_BYTES)
    if not unpacking.eof:
        raise ValueError(f"gzip that is cut short, or has more than {MOST_BYTES} bytes in it")
    return found


def _records(data: bytes, base: int, count: int) -> Iterator[StoredRecord]:
    at = 0
    for _ in range(count):
        size, at = _varint(data, at)
        end = at + size
        if size < 0 or end > len(data):
            raise ValueError(f"a record of {size} bytes, where {len(data) - at} are left")
        _, pos = _varint(data, at + 1)  # attributes take a byte; the time is not needed
        offset, pos = _varint(data, pos)
        key, pos = _blob(data, pos)
        value, _ = _blob(data, pos)
        yield StoredRecord(base + offset, key, value)
        at = end


def _blob(data: bytes, at: int) -> tuple[bytes | None, int]:
    size, at = _varint(data, at)
    if size < 0:
        return None, at
    if at + size > len(data):
        raise ValueError(f"{size} bytes, where {len(data) - at} are left")
    return data[at : at + size], at + size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a zigzag varint of at most 64 bits, and where what follows it begins."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value >> 1 ^ -(value & 1), at
    raise ValueError("a varint of more than 10 bytes")
