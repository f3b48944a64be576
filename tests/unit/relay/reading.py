"""A response as a strict client reads it: field by field from Kafka's schemas, tagged fields in ascending order.

kio reads the same, but stops at a tagged field that it does not know; a Kafka client skips it.
"""

from __future__ import annotations

from struct import calcsize, unpack_from
from typing import Any

from codegen.schema import Field, Message, Struct
from tests.property.wire_contents import RESPONSES, TAGS, Content

_FORMS = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}


def read(key: int, version: int, body: bytes) -> Content:
    """The content of a response's body, unknown tagged fields under `TAGS`; AssertionError for any byte too many."""
    message = RESPONSES[key]
    reader = _Reader(body, message, version)
    content = reader.struct(message.struct)
    assert reader.pos == len(body), f"{len(body) - reader.pos} bytes are left"
    return content


class _Reader:
    def __init__(self, data: bytes, message: Message, version: int) -> None:
        self.data = data
        self.pos = 0
        self.message = message
        self.version = version
        self.flexible = version in message.flexible

    def fixed(self, form: str) -> Any:
        (value,) = unpack_from(f">{form}", self.data, self.pos)
        self.pos += calcsize(f">{form}")
        return value

    def uvarint(self) -> int:
        value = shift = 0
        while True:
            byte: int = self.fixed("B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def take(self, size: int) -> bytes:
        assert 0 <= size <= len(self.data) - self.pos
        self.pos += size
        return self.data[self.pos - size : self.pos]

    def length(self, form: str) -> Any:
        return self.uvarint() - 1 if self.flexible else self.fixed(form)

    def struct(self, struct: Struct) -> Content:
        content = {field.name: self.field(field) for field in struct.plain(self.version)}
        if self.flexible:
            self.tags(struct, content)
        return content

    def tags(self, struct: Struct, content: Content) -> None:
        known = {field.tag: field for field in struct.tagged(self.version)}
        last, unknown = -1, []
        for _ in range(self.uvarint()):
            tag, size = self.uvarint(), self.uvarint()
            assert tag > last, "tags must ascend"
            last, end = tag, self.pos + size
            if tag in known:
                content[known[tag].name] = self.field(known[tag])
            else:
                unknown.append((tag, self.take(size)))
            assert self.pos == end, "a tagged field ends elsewhere than its size says"
        if unknown:
            content[TAGS] = unknown

    def field(self, field: Field) -> Any:
        if not field.is_array:
            return self.item(field)
        count = self.length("i")
        return None if count < 0 else [self.item(field) for _ in range(count)]

    def item(self, field: Field) -> Any:
        if field.struct:
            if not field.is_array and self.version in field.nullable and self.fixed("b") < 0:
                return None
            return self.struct(field.struct)
        if form := _FORMS.get(field.element):
            return self.fixed(form)
        size = self.length("h" if field.element == "string" else "i")
        if size < 0:
            return None
        return self.take(size).decode() if field.element == "string" else self.take(size)
