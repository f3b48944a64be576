"""Decompression in bounded memory and time: into a buffer of fixed size, whatever the compressed bytes promise.

A zstd frame of 6 kB inflates to 200 MB, and its own statement of a size is an attacker's word. Here nothing is ever
allocated beyond the limit, and no more is inflated than the limit, once or twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import cramjam

from kproxy.telemetry.errors import INVALID_RECORD, TELEMETRY_TOO_LARGE, UNSUPPORTED_COMPRESSION_TYPE, PayloadError
from kproxy.wire.primitives import int32_at

NONE: Final = 0
GZIP: Final = 1
SNAPPY: Final = 2
LZ4: Final = 3
ZSTD: Final = 4
ACCEPTED: Final = (ZSTD, LZ4, GZIP, SNAPPY)
"""By preference. "None" is not listed, and taken all the same."""
CODECS: Final = {NONE: "none", GZIP: "gzip", SNAPPY: "snappy", LZ4: "lz4", ZSTD: "zstd"}

Into = Callable[[bytes | memoryview, bytearray], int]
_STREAMED: Final[dict[int, Into]] = {
    GZIP: cramjam.gzip.decompress_into,
    LZ4: cramjam.lz4.decompress_into,
    ZSTD: cramjam.zstd.decompress_into,
}
_BUFFER_FULL: Final = "failed to write whole buffer"  # all that cramjam tells apart from corrupt bytes

# OTLP metrics shrink to a tenth at best, so that this guess is right at once in practice.
_GUESSED_RATIO: Final = 16
_SMALLEST_BUFFER: Final = 4096

# Each member sets up an inflater: a megabyte of empty ones takes 170 ms. No client makes more than one.
_GZIP_MAGIC: Final = b"\x1f\x8b\x08"
_GZIP_MEMBERS: Final = 64

# Java's snappy frames its blocks: a magic, two versions, then size and block in turns. librdkafka sends one bare block.
_XERIAL_MAGIC: Final = b"\x82SNAPPY\0"
_XERIAL_HEADER: Final = len(_XERIAL_MAGIC) + 8
_XERIAL_SIZE: Final = 4
# Its blocks are of 1 KiB at least, but for the last. Without a bound, a megabyte of one-byte blocks keeps a CPU busy.
_XERIAL_SMALLEST_BLOCK: Final = 1024


def decompress(codec: int, data: bytes, limit: int) -> bytes:
    """What was compressed, at most `limit` bytes.

    PayloadError: 76 for a codec that Kafka has not, 118 for more than `limit` bytes, 87 for what no codec made.
    """
    if codec not in CODECS:
        raise PayloadError(UNSUPPORTED_COMPRESSION_TYPE, f"compression type {codec} is not one of Kafka's")
    if codec == NONE:
        return data if len(data) <= limit else _too_large(limit)
    if codec == GZIP and data.count(_GZIP_MAGIC) > _GZIP_MEMBERS:
        raise PayloadError(INVALID_RECORD, f"not gzip: more than {_GZIP_MEMBERS} members")
    try:
        if codec == SNAPPY:
            return _xerial(data, limit) if data.startswith(_XERIAL_MAGIC) else _snappy(data, limit)
        return _streamed(_STREAMED[codec], data, limit)
    except cramjam.DecompressionError as error:
        raise PayloadError(INVALID_RECORD, f"not {CODECS[codec]}: {error}") from error


def _too_large(limit: int) -> bytes:
    raise PayloadError(TELEMETRY_TOO_LARGE, f"more than {limit} bytes when decompressed")


def _streamed(into: Into, data: bytes, limit: int) -> bytes:
    """Codecs that do not say the size, or not so that one could believe it: a guess first, then the limit."""
    guess = min(limit, max(_SMALLEST_BUFFER, _GUESSED_RATIO * len(data)))
    for size in sorted({guess, limit}):
        buffer = bytearray(size)
        try:
            return bytes(memoryview(buffer)[: into(data, buffer)])
        except cramjam.DecompressionError as error:
            if str(error) != _BUFFER_FULL:
                raise
    return _too_large(limit)


def _snappy(block: bytes | memoryview, limit: int) -> bytes:
    """One bare block: it begins with its size, which the codec holds it to."""
    size = cramjam.snappy.decompress_raw_len(block)
    if size > limit:
        return _too_large(limit)
    buffer = bytearray(size)
    cramjam.snappy.decompress_raw_into(block, buffer)
    return bytes(buffer)


def _xerial(data: bytes, limit: int) -> bytes:
    inflated = bytearray()
    for number, block in enumerate(_blocks(memoryview(data))):
        if number > limit // _XERIAL_SMALLEST_BLOCK:
            raise PayloadError(INVALID_RECORD, f"not snappy: more than {number} blocks for {limit} bytes at most")
        inflated += _snappy(block, limit - len(inflated))
    return bytes(inflated)


def _blocks(data: memoryview) -> Iterator[memoryview]:
    position = _XERIAL_HEADER
    while position < len(data):
        start = position + _XERIAL_SIZE
        size = int32_at(data, position)[0] if start <= len(data) else -1
        position = start + size
        if size < 0 or position > len(data):
            raise PayloadError(
                INVALID_RECORD, f"not snappy: a block of {size} bytes where {len(data) - start} are left"
            )
        yield data[start:position]
