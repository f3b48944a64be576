"""Payloads as clients compress them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import cramjam

from kproxy.telemetry.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD

XERIAL_HEADER: Final = b"\x82SNAPPY\0" + (1).to_bytes(4, "big") * 2


def xerial(data: bytes, block: int = 32 * 1024) -> bytes:
    """As snappy-java frames it for Kafka's Java client."""
    parts = [bytes(cramjam.snappy.compress_raw(data[at : at + block])) for at in range(0, len(data), block)]
    return XERIAL_HEADER + b"".join(len(part).to_bytes(4, "big") + part for part in parts)


COMPRESS: Final[dict[str, tuple[int, Callable[[bytes], bytes]]]] = {
    "none": (NONE, lambda data: data),
    "gzip": (GZIP, lambda data: bytes(cramjam.gzip.compress(data))),
    "snappy, raw": (SNAPPY, lambda data: bytes(cramjam.snappy.compress_raw(data))),
    "snappy, xerial": (SNAPPY, xerial),
    "lz4": (LZ4, lambda data: bytes(cramjam.lz4.compress(data))),
    "zstd": (ZSTD, lambda data: bytes(cramjam.zstd.compress(data))),
}
