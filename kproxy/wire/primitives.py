# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Functions that read Kafka's primitive types at a position of a buffer, and the limits of these types.

`Reader`, the generated walks over messages, and rooms (packages of kproxy such as telemetry) call them.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Final, TypeAlias
from uuid import UUID

from kproxy.errors import MalformedMessageError

Buffer: TypeAlias = bytes | bytearray | memoryview
Tags: TypeAlias = tuple[tuple[int, bytes], ...]

INT8: Final = Struct(">b")
INT16: Final = Struct(">h")
UINT16: Final = Struct(">H")
INT32: Final = Struct(">i")
UINT32: Final = Struct(">I")
INT64: Final = Struct(">q")
FLOAT64: Final = Struct(">d")

# Annotated, so that their results are not `Any`.
int8_at: Final[Callable[[Buffer, int], tuple[int]]] = INT8.unpack_from
int16_at: Final[Callable[[Buffer, int], tuple[int]]] = INT16.unpack_from
uint16_at: Final[Callable[[Buffer, int], tuple[int]]] = UINT16.unpack_from
int32_at: Final[Callable[[Buffer, int], tuple[int]]] = INT32.unpack_from
uint32_at: Final[Callable[[Buffer, int], tuple[int]]] = UINT32.unpack_from
int64_at: Final[Callable[[Buffer, int], tuple[int]]] = INT64.unpack_from
float64_at: Final[Callable[[Buffer, int], tuple[float]]] = FLOAT64.unpack_from

MAX_STRING: Final = 0x7FFF  # Kafka refuses longer ones in the compact form too
MAX_INT32: Final = 0x7FFFFFFF
MAX_TAGS: Final = 1000
"""The most tagged fields of a section. Kafka's messages have ten at most; 500,000 of them would take 0.3 s to read."""
ZERO_UUID: Final = UUID(int=0)
NULL_LENGTH: Final = -1
_UVARINT_BYTES: Final = 5
_MORE: Final = 0x80


def uvarint(value: int) -> bytes:
    """Return a non-negative int32 as an unsigned varint, in the fewest bytes."""
    out = bytearray()
    while value >= _MORE:
        out.append(value & 0x7F | _MORE)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_uvarint(buf: Buffer, pos: int) -> tuple[int, int]:
    """Return an unsigned varint and the position behind it; IndexError when the bytes end too early."""
    value = 0
    for shift in range(0, 7 * _UVARINT_BYTES, 7):
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < _MORE:
            if value > MAX_INT32:
                raise MalformedMessageError(f"varint {value} is above int32")
            return value, pos
    raise MalformedMessageError(f"varint is longer than {_UVARINT_BYTES} bytes")


def frame(*chunks: Buffer) -> bytes:
    """Return the chunks as one frame, with their size in front."""
    return b"".join((INT32.pack(sum(map(len, chunks))), *chunks))
