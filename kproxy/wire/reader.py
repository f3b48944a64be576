# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Reads a message's values in order. It checks bounds: it allocates nothing for a length without enough bytes.

`WireMessage.decode` makes a `Reader` for each message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self, TypeVar
from uuid import UUID

from kproxy.errors import MalformedMessageError
from kproxy.wire.primitives import (
    MAX_STRING,
    MAX_TAGS,
    NULL_LENGTH,
    Buffer,
    Tags,
    float64_at,
    int8_at,
    int16_at,
    int32_at,
    int64_at,
    read_uvarint,
    uint16_at,
    uint32_at,
)

T = TypeVar("T")
S = TypeVar("S", bound="Readable")


class Readable(Protocol):
    """A struct within a message."""

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        """Return the struct that begins at the reader's position."""


class Reader:
    """Reads one value after another from a message.

    When bytes are missing it raises `IndexError` or `struct.error`, which `WireMessage.decode` turns into
    `MalformedMessageError`: so the many small reads need no checks of their own.
    """

    __slots__ = ("_buf", "_pos")

    def __init__(self, data: Buffer) -> None:
        self._buf = data if isinstance(data, bytes) else bytes(data)
        self._pos = 0

    def remaining(self) -> int:
        """Return the number of bytes not read so far."""
        return len(self._buf) - self._pos

    def finish(self) -> None:
        """Raise MalformedMessageError when there are bytes behind the last field."""
        if self.remaining():
            raise MalformedMessageError(f"{self.remaining()} bytes behind the last field")

    def boolean(self) -> bool:
        return self.int8() != 0

    def int8(self) -> int:
        self._pos = (pos := self._pos) + 1
        return int8_at(self._buf, pos)[0]

    def int16(self) -> int:
        self._pos = (pos := self._pos) + 2
        return int16_at(self._buf, pos)[0]

    def uint16(self) -> int:
        self._pos = (pos := self._pos) + 2
        return uint16_at(self._buf, pos)[0]

    def int32(self) -> int:
        self._pos = (pos := self._pos) + 4
        return int32_at(self._buf, pos)[0]

    def uint32(self) -> int:
        self._pos = (pos := self._pos) + 4
        return uint32_at(self._buf, pos)[0]

    def int64(self) -> int:
        self._pos = (pos := self._pos) + 8
        return int64_at(self._buf, pos)[0]

    def float64(self) -> float:
        self._pos = (pos := self._pos) + 8
        return float64_at(self._buf, pos)[0]

    def uuid(self) -> UUID:
        return UUID(bytes=self._take(16))

    def uvarint(self) -> int:
        value, self._pos = read_uvarint(self._buf, self._pos)
        return value

    def _take(self, size: int) -> bytes:
        if size > self.remaining():
            raise MalformedMessageError(f"a field of {size} bytes where {self.remaining()} are left")
        start = self._pos
        self._pos = start + size
        return self._buf[start : self._pos]

    def _length(self, fixed: Callable[[], int], flexible: bool) -> int:
        """Return a length or a count; -1 means null. Raise MalformedMessageError for other negative numbers."""
        length = self.uvarint() - 1 if flexible else fixed()
        if length < NULL_LENGTH:
            raise MalformedMessageError(f"length {length}")
        return length

    def nullable_string(self, flexible: bool) -> str | None:
        length = self._length(self.int16, flexible)
        if length > MAX_STRING:
            raise MalformedMessageError(f"string of {length} bytes")
        return None if length < 0 else str(self._take(length), "utf-8")

    def string(self, flexible: bool) -> str:
        return _present(self.nullable_string(flexible))

    def nullable_blob(self, flexible: bool) -> bytes | None:
        length = self._length(self.int32, flexible)
        return None if length < 0 else self._take(length)

    def blob(self, flexible: bool) -> bytes:
        return _present(self.nullable_blob(flexible))

    def nullable_array(self, item: Callable[[], T], flexible: bool) -> list[T] | None:
        count = self._length(self.int32, flexible)
        if count > self.remaining():  # each element takes a byte at least
            raise MalformedMessageError(f"array of {count} where {self.remaining()} bytes are left")
        return None if count < 0 else [item() for _ in range(count)]

    def array(self, item: Callable[[], T], flexible: bool) -> list[T]:
        return _present(self.nullable_array(item, flexible))

    def nullable_struct(self, kind: type[S], version: int) -> S | None:
        """Return the struct behind a byte that says whether there is one: negative means null."""
        return None if self.int8() < 0 else kind.read(self, version)

    def nullable_structs(self, kind: type[S], version: int, flexible: bool) -> list[S] | None:
        return self.nullable_array(lambda: kind.read(self, version), flexible)

    def structs(self, kind: type[S], version: int, flexible: bool) -> list[S]:
        return _present(self.nullable_structs(kind, version, flexible))

    def tagged_fields(self) -> Tags:
        """Return (tag, bytes) by ascending tag. As in Kafka, they may come in any order, but no tag twice."""
        count = self.uvarint()
        if not count:
            return ()
        if count > min(self.remaining(), MAX_TAGS):
            left = f"{count} tagged fields where {self.remaining()} bytes are left"
            raise MalformedMessageError(f"{left}; the limit is {MAX_TAGS}")
        fields = [(self.uvarint(), self._take(self.uvarint())) for _ in range(count)]
        if len({tag for tag, _ in fields}) < count:
            raise MalformedMessageError("a tag stands twice in one section")
        return tuple(sorted(fields))


def _present(value: T | None) -> T:
    if value is None:
        raise MalformedMessageError("null where the schema has none")
    return value
