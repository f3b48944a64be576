"""Kafka's primitive types: a bounds-checked `Reader` and a `Writer`, both used by the generated codecs.

Of a length that is claimed, nothing is allocated before the bytes for it are known to be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar
from uuid import UUID

from kproxy.errors import MalformedMessageError

if TYPE_CHECKING:
    from kproxy.wire.message import WireStruct

Buffer: TypeAlias = bytes | bytearray | memoryview
Tags: TypeAlias = tuple[tuple[int, bytes], ...]
T = TypeVar("T")
S = TypeVar("S", bound="WireStruct")

INT8: Final = Struct(">b")
INT16: Final = Struct(">h")
UINT16: Final = Struct(">H")
INT32: Final = Struct(">i")
UINT32: Final = Struct(">I")
INT64: Final = Struct(">q")
FLOAT64: Final = Struct(">d")

MAX_STRING: Final = 0x7FFF  # Kafka refuses longer ones in the compact form too
MAX_INT32: Final = 0x7FFFFFFF
ZERO_UUID: Final = UUID(int=0)
_NULL: Final = -1
_UVARINT_BYTES: Final = 5
_MORE: Final = 0x80


def uvarint(value: int) -> bytes:
    """An unsigned varint of a non-negative int32, in as few bytes as it takes."""
    out = bytearray()
    while value >= _MORE:
        out.append(value & 0x7F | _MORE)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_uvarint(buf: Buffer, pos: int) -> tuple[int, int]:
    """An unsigned varint and the position behind it; IndexError when the bytes end before it does."""
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


class Reader:
    """Reads one value after another out of a message.

    Where bytes are missing it raises `IndexError` or `struct.error`, which `WireStruct.decode` turns into
    `MalformedMessageError`: so the many small reads pay for no check of their own.
    """

    __slots__ = ("_buf", "_pos")

    def __init__(self, data: Buffer) -> None:
        self._buf = data if isinstance(data, bytes) else bytes(data)
        self._pos = 0

    def remaining(self) -> int:
        """Bytes not read so far."""
        return len(self._buf) - self._pos

    def finish(self) -> None:
        """Refuse bytes behind the last field."""
        if self.remaining():
            raise MalformedMessageError(f"{self.remaining()} bytes behind the last field")

    def _unpack(self, form: Struct) -> int:
        pos = self._pos
        self._pos = pos + form.size
        value: int = form.unpack_from(self._buf, pos)[0]
        return value

    def boolean(self) -> bool:
        return self._unpack(INT8) != 0

    def int8(self) -> int:
        return self._unpack(INT8)

    def int16(self) -> int:
        return self._unpack(INT16)

    def uint16(self) -> int:
        return self._unpack(UINT16)

    def int32(self) -> int:
        return self._unpack(INT32)

    def uint32(self) -> int:
        return self._unpack(UINT32)

    def int64(self) -> int:
        return self._unpack(INT64)

    def float64(self) -> float:
        return self._unpack(FLOAT64)

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

    def _length(self, form: Struct, flexible: bool) -> int:
        """A length or a count; -1 is null. No other negative number is one."""
        length = self.uvarint() - 1 if flexible else self._unpack(form)
        if length < _NULL:
            raise MalformedMessageError(f"length {length}")
        return length

    def nullable_string(self, flexible: bool) -> str | None:
        length = self._length(INT16, flexible)
        if length > MAX_STRING:
            raise MalformedMessageError(f"string of {length} bytes")
        return None if length < 0 else str(self._take(length), "utf-8")

    def string(self, flexible: bool) -> str:
        return _present(self.nullable_string(flexible))

    def nullable_blob(self, flexible: bool) -> bytes | None:
        length = self._length(INT32, flexible)
        return None if length < 0 else self._take(length)

    def blob(self, flexible: bool) -> bytes:
        return _present(self.nullable_blob(flexible))

    def nullable_array(self, item: Callable[[], T], flexible: bool) -> list[T] | None:
        count = self._length(INT32, flexible)
        if count > self.remaining():  # each element takes a byte at least
            raise MalformedMessageError(f"array of {count} where {self.remaining()} bytes are left")
        return None if count < 0 else [item() for _ in range(count)]

    def array(self, item: Callable[[], T], flexible: bool) -> list[T]:
        return _present(self.nullable_array(item, flexible))

    def nullable_structs(self, kind: type[S], version: int, flexible: bool) -> list[S] | None:
        return self.nullable_array(lambda: kind.read(self, version), flexible)

    def structs(self, kind: type[S], version: int, flexible: bool) -> list[S]:
        return _present(self.nullable_structs(kind, version, flexible))

    def tagged_fields(self) -> Tags:
        """(tag, bytes) by ascending tag: Kafka reads them in any order, but no tag may come twice."""
        count = self.uvarint()
        if not count:
            return ()
        if count > self.remaining():
            raise MalformedMessageError(f"{count} tagged fields where {self.remaining()} bytes are left")
        fields = [(self.uvarint(), self._take(self.uvarint())) for _ in range(count)]
        if len({tag for tag, _ in fields}) < count:
            raise MalformedMessageError("a tag stands twice in one section")
        return tuple(sorted(fields))


class Writer:
    """Appends values; ValueError for one that its type cannot hold."""

    __slots__ = ("_out",)

    def __init__(self) -> None:
        self._out = bytearray()

    def value(self) -> bytes:
        """What was written so far."""
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
            self._length(INT16, _NULL, flexible)
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
            self._length(INT32, _NULL, flexible)
        else:
            self.blob(value, flexible)

    def blob(self, value: Buffer, flexible: bool) -> None:
        self._length(INT32, len(value), flexible)
        self._out += value

    def nullable_array(self, items: Sequence[T] | None, item: Callable[[T], None], flexible: bool) -> None:
        if items is None:
            self._length(INT32, _NULL, flexible)
        else:
            self.array(items, item, flexible)

    def array(self, items: Sequence[T], item: Callable[[T], None], flexible: bool) -> None:
        self._length(INT32, len(items), flexible)
        for value in items:
            item(value)

    def nullable_structs(self, items: Sequence[WireStruct] | None, version: int, flexible: bool) -> None:
        self.nullable_array(items, lambda value: value.write(self, version), flexible)

    def structs(self, items: Sequence[WireStruct], version: int, flexible: bool) -> None:
        self.array(items, lambda value: value.write(self, version), flexible)

    def tagged_fields(self, fields: Iterable[tuple[int, bytes]]) -> None:
        """Known and unknown ones together, by ascending tag."""
        ordered = sorted(fields)
        if len({tag for tag, _ in ordered}) < len(ordered):
            raise ValueError("a tag stands twice in one section")
        self.uvarint(len(ordered))
        for tag, data in ordered:
            self._out += uvarint(tag) + uvarint(len(data)) + data


def not_null(value: T | None, name: str, version: int) -> T:
    """The value of a field that may not be null in this version; ValueError when it is."""
    if value is None:
        raise ValueError(f"{name} may not be null in version {version}")
    return value


def _present(value: T | None) -> T:
    if value is None:
        raise MalformedMessageError("null where the schema has none")
    return value
