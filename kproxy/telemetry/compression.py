# This module is pure (no I/O, no clock).
"""Decompress the metrics of PushTelemetry requests in bounded memory and time. Runs once for each push.

A zstd frame of 6 kB can inflate to 200 MB, and an attacker may state any size in it. No buffer of this
module is larger than the limit, whatever the compressed bytes promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import cramjam
import zstandard

from kproxy.telemetry.errors import PayloadError
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.primitives import int32_at

NONE: Final = 0
GZIP: Final = 1
SNAPPY: Final = 2
LZ4: Final = 3
ZSTD: Final = 4
ACCEPTED: Final = (ZSTD, LZ4, GZIP, SNAPPY)
"""In order of preference. "None" is not listed but accepted."""
CODECS: Final = {NONE: "none", GZIP: "gzip", SNAPPY: "snappy", LZ4: "lz4", ZSTD: "zstd"}

Into = Callable[[bytes | memoryview, bytearray], int]
_STREAMED: Final[dict[int, Into]] = {
    GZIP: cramjam.gzip.decompress_into,
    LZ4: cramjam.lz4.decompress_into,
    ZSTD: cramjam.zstd.decompress_into,
}
# One for all pushes: making it takes longer than a push. Java's clients compress a stream of unknown size, whose
# frame needs a window, of 2 MiB at Kafka's levels.
_ZSTD: Final = zstandard.ZstdDecompressor(max_window_size=8 << 20)
_ZSTD_BLOCKS: Final = 64  # of 128 KiB each, except the last one
_LAST_BLOCK, _BLOCK_TYPE, _REPEATED, _CHECKSUM = 1, 6, 2, 4
_BUFFER_FULL: Final = "failed to write whole buffer"  # the only error that cramjam distinguishes from corrupt bytes

# Java's metrics shrink to a tenth, those of many partitions to a fiftieth: the first guess is mostly large enough.
_GUESSED_RATIO: Final = 64
_SMALLEST_BUFFER: Final = 4096

# Each member or frame needs a codec's state anew: a megabyte of empty gzip members takes 170 ms, of zstd frames 5 ms.
# No client makes more than one. Skippable frames have the last magic, in zstd as in LZ4.
_MAGICS: Final[dict[int, tuple[bytes, ...]]] = {
    GZIP: (b"\x1f\x8b\x08",),
    LZ4: (b"\x04\x22\x4d\x18", b"\x2a\x4d\x18"),
    ZSTD: (b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"),
}
_FRAMES: Final = 64

# Java's snappy frames its blocks: a magic, two versions, then size and block in turn. librdkafka sends one bare block.
_XERIAL_MAGIC: Final = b"\x82SNAPPY\0"
_XERIAL_HEADER: Final = len(_XERIAL_MAGIC) + 8
_XERIAL_SIZE: Final = 4
# Java's blocks have at least 1 KiB, except the last. Without a bound, a megabyte of one-byte blocks keeps a CPU busy.
_XERIAL_SMALLEST_BLOCK: Final = 1024


def decompress(codec: int, data: bytes, limit: int) -> bytes:
    """Return the decompressed bytes, at most `limit`.

    Raise PayloadError: 76 for a codec that Kafka does not have, 118 for more than `limit` bytes, 87 for malformed data.
    """
    if codec not in CODECS:
        raise PayloadError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"compression type {codec} is not one of Kafka's")
    if codec == NONE:
        return data if len(data) <= limit else _too_large(limit)
    if any(data.count(magic) > _FRAMES for magic in _MAGICS.get(codec, ())):
        raise PayloadError(ErrorCode.INVALID_RECORD, f"not {CODECS[codec]}: more than {_FRAMES} frames")
    try:
        if codec == SNAPPY:
            return _xerial(data, limit) if data.startswith(_XERIAL_MAGIC) else _snappy(data, limit)
        inflated = _one_frame(data, limit) if codec == ZSTD else None
        return _streamed(_STREAMED[codec], data, limit) if inflated is None else inflated
    except cramjam.DecompressionError as error:
        raise PayloadError(ErrorCode.INVALID_RECORD, f"not {CODECS[codec]}: {error}") from error


def _too_large(limit: int) -> bytes:
    raise PayloadError(ErrorCode.TELEMETRY_TOO_LARGE, f"more than {limit} bytes when decompressed")


def _one_frame(data: bytes, limit: int) -> bytes | None:
    """Return the content of one usual zstd frame; None for anything else, which the slow path handles."""
    try:
        # zstandard would allocate the stated size and ignore bytes behind the frame: `_streamed` does not.
        if zstandard.frame_content_size(data) > limit or _frame_end(data) != len(data):
            return None
        return _ZSTD.decompress(data, max_output_size=_guess(data, limit))
    except zstandard.ZstdError:
        return None


def _frame_end(data: bytes) -> int:
    """Return where the first frame ends (RFC 8878, 3.1.1); -1 if it has more blocks than clients make."""
    position: int = zstandard.frame_header_size(data)
    for _ in range(_ZSTD_BLOCKS):
        block = int.from_bytes(data[position : position + 3], "little")
        position += 3 + (1 if block & _BLOCK_TYPE == _REPEATED else block >> 3)
        if block & _LAST_BLOCK:
            return position + (4 if data[4] & _CHECKSUM else 0)
    return -1


def _guess(data: bytes, limit: int) -> int:
    return min(limit, max(_SMALLEST_BUFFER, _GUESSED_RATIO * len(data)))


def _streamed(into: Into, data: bytes, limit: int) -> bytes:
    """Decompress with a codec that states no size, or none to be trusted: try a guessed size, then the limit."""
    for size in sorted({_guess(data, limit), limit}):
        buffer = bytearray(size)
        try:
            return bytes(memoryview(buffer)[: into(data, buffer)])
        except cramjam.DecompressionError as error:
            if str(error) != _BUFFER_FULL:
                raise
    return _too_large(limit)


def _snappy(block: bytes | memoryview, limit: int) -> bytes:
    """Decompress one bare block. It begins with its size, which the codec enforces."""
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
            raise PayloadError(
                ErrorCode.INVALID_RECORD, f"not snappy: more than {number} blocks for {limit} bytes at most"
            )
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
                ErrorCode.INVALID_RECORD, f"not snappy: a block of {size} bytes where {len(data) - start} are left"
            )
        yield data[start:position]
