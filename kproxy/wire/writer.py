# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Writes a message's values in order.

`WireMessage.encode` makes a `Writer` for each message, `encode_request_header` one for each header.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from struct import Struct
from typing import Protocol, TypeVar
from uuid import UUID

from kproxy.wire.primitives import (
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    MAX_STRING,
    NULL_LENGTH,
    UINT16,
    UINT32,
    Buffer,
    uvarint,
)

T = TypeVar("T")


class Writable(Protocol):
    """A struct within a message."""

    def write(self, writer: Writer, version: int) -> None:
        """Append the struct; ValueError for a field that the version does not have."""


class Writer:
    """Appends values; ValueError for a value that its type cannot hold."""

    __slots__ = ("_out",)

    def __init__(self) -> None:
        self._out = bytearray()

    def value(self) -> bytes:
        """Return the bytes written so far."""
        return bytes(self._out)

    def boolean(self, value: bool) -> None:
        self._out.append(1 if value else 0)

    def int8(self, value: int) -> None:
        self._out += INT8.pack(value)

    def int16(self, value: int) -> None:
        self._out += INT16.pack(value)

    def uint16(self, value: int) -> None:
        self._out += UINT16.pack(value)

    def int32(self, value: int) -> None:
        self._out += INT32.pack(value)

    def uint32(self, value: int) -> None:
        self._out += UINT32.pack(value)

    def int64(self, value: int) -> None:
        self._out += INT64.pack(value)

    def float64(self, value: float) -> None:
        self._out += FLOAT64.pack(value)

    def uuid(self, value: UUID) -> None:
        self._out += value.bytes

    def uvarint(self, value: int) -> None:
        self._out += uvarint(value)

    def _length(self, form: Struct, length: int, flexible: bool) -> None:
        self._out += uvarint(length + 1) if flexible else form.pack(length)

    def nullable_string(self, value: str | None, flexible: bool) -> None:
        if value is None:
            self._length(INT16, NULL_LENGTH, flexible)
        else:
            self.string(value, flexible)

    def string(self, value: str, flexible: bool) -> None:
        raw = value.encode("utf-8")
        if len(raw) > MAX_STRING:
            raise ValueError(f"string of {len(raw)} bytes; Kafka's limit is {MAX_STRING}")
        self._length(INT16, len(raw), flexible)
        self._out += raw

    def nullable_blob(self, value: Buffer | None, flexible: bool) -> None:
        if value is None:
            self._length(INT32, NULL_LENGTH, flexible)
        else:
            self.blob(value, flexible)

    def blob(self, value: Buffer, flexible: bool) -> None:
        self._length(INT32, len(value), flexible)
        self._out += value

    def nullable_array(self, items: Sequence[T] | None, item: Callable[[T], None], flexible: bool) -> None:
        if items is None:
            self._length(INT32, NULL_LENGTH, flexible)
        else:
            self.array(items, item, flexible)

    def array(self, items: Sequence[T], item: Callable[[T], None], flexible: bool) -> None:
        self._length(INT32, len(items), flexible)
        for value in items:
            item(value)

    def nullable_struct(self, value: Writable | None, version: int) -> None:
        """Append the byte 1 and the struct, or the byte -1 for null, as Kafka does."""
        self.int8(NULL_LENGTH if value is None else 1)
        if value is not None:
            value.write(self, version)

    def nullable_structs(self, items: Sequence[Writable] | None, version: int, flexible: bool) -> None:
        self.nullable_array(items, lambda value: value.write(self, version), flexible)

    def structs(self, items: Sequence[Writable], version: int, flexible: bool) -> None:
        self.array(items, lambda value: value.write(self, version), flexible)

    def tagged_fields(self, fields: Iterable[tuple[int, bytes]]) -> None:
        """Append known and unknown tagged fields by ascending tag; ValueError for a duplicate tag."""
        ordered = sorted(fields)
        if len({tag for tag, _ in ordered}) < len(ordered):
            raise ValueError("a tag stands twice in one section")
        self.uvarint(len(ordered))
        for tag, data in ordered:
            self._out += uvarint(tag) + uvarint(len(data)) + data


def not_null(value: T | None, name: str, version: int) -> T:
    """Return the value of a field that may not be null in this version; ValueError when it is."""
    if value is None:
        raise ValueError(f"{name} may not be null in version {version}")
    return value
