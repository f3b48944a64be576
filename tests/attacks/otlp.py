"""OTLP metrics and PushTelemetry requests as hostile clients make them, byte by byte."""

from __future__ import annotations

import os
import struct
from typing import Final

import zstandard

from tests.bench.frames import compact, framed

GET: Final = 71
PUSH: Final = 72
NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
MAX_BYTES: Final = 1 << 20
"""What a push may have, decompressed, by default."""
INSTANCE_AT: Final = 4 + 2 + 2 + 4
"""Where a request's client id begins; `pushes` puts other ids and instances into copies of one request."""
_FIELD_TYPES: Final = {int: 0, bytes: 2, float: 1}


def varint(number: int) -> bytes:
    """A protobuf varint."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, value: int | bytes | float) -> bytes:
    """A field of a protobuf message: a varint, length-delimited bytes, or a double."""
    tag = varint(number << 3 | _FIELD_TYPES[type(value)])
    if isinstance(value, bytes):
        return tag + varint(len(value)) + value
    return tag + (struct.pack("<d", value) if isinstance(value, float) else varint(value))


def key_value(key: str, text: str) -> bytes:
    """The content of a KeyValue of text."""
    return field(1, key.encode()) + field(2, field(1, text.encode()))


def point(value: float, *attributes: bytes) -> bytes:
    """The content of a NumberDataPoint with the given contents of KeyValues."""
    return field(4, value) + b"".join(field(7, attribute) for attribute in attributes)


def gauge(name: str, *points: bytes) -> bytes:
    """The content of a Metric."""
    return field(1, name.encode()) + field(5, b"".join(field(1, one) for one in points))


def metrics_data(*metrics: bytes, resource: bytes = b"") -> bytes:
    """A MetricsData of one resource and one scope."""
    scope = field(2, b"".join(field(2, metric) for metric in metrics))
    return field(1, field(1, resource) + scope)


def zstd(payload: bytes) -> bytes:
    """Compress as well as it goes."""
    return zstandard.ZstdCompressor(level=19).compress(payload)


def get(instance: bytes = bytes(16), client_id: str = "attacker") -> bytes:
    """GetTelemetrySubscriptions v0, a frame."""
    return framed(GET, 0, instance + b"\0", client_id)


def push(
    instance: bytes, subscription_id: int, metrics: bytes, codec: int = ZSTD, client_id: str = "attacker"
) -> bytes:
    """PushTelemetry v0, a frame."""
    head = instance + struct.pack(">i?b", subscription_id, False, codec)
    return framed(PUSH, 0, head + compact(metrics) + b"\0", client_id)


def subscribed(answer: bytes) -> tuple[bytes, int]:
    """Return the instance id and the subscription id of a response to `get`, which must have no error."""
    error, instance, subscription_id = struct.unpack_from(">4x x 4x h 16s i", answer)
    assert error == 0, f"GetTelemetrySubscriptions was answered with error {error}"
    return instance, subscription_id


def pushed(answer: bytes) -> int:
    """Return the error code of a response to `push`."""
    (error,) = struct.unpack_from(">4x x 4x h", answer)
    return int(error)


class Ids:
    """Subscription ids for instances that never asked for one: kproxy folds the instance id into a checksum.

    One honest answer gives the checksum away.
    """

    def __init__(self, answer: bytes) -> None:
        instance, subscription_id = subscribed(answer)
        self._checksum = (subscription_id & 0xFFFFFFFF) ^ _folded(instance)

    def fresh(self) -> tuple[bytes, int]:
        """Return a new instance id with its subscription id."""
        instance = os.urandom(16)
        unsigned = self._checksum ^ _folded(instance)
        return instance, struct.unpack(">i", struct.pack(">I", unsigned))[0]


def _folded(instance: bytes) -> int:
    a, b, c, d = struct.unpack(">4I", instance)
    return int(a ^ b ^ c ^ d)
