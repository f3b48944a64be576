"""Emits straight-line code that walks over one version of a struct and notes addresses and error codes.

`skims` and `streams` generate the bodies of their functions with a `Walk`. Fixed widths add up in `offset`, so that the
code moves `pos` only at a length.
"""

from __future__ import annotations

from typing import Final

from codegen.addresses import (
    CONTROLLER_ENDPOINTS,
    CONTROLLERS,
    ENDPOINT_TYPE,
    NODE_ID_NAMES,
    carries,
    is_host,
    left_alone,
)
from codegen.schema import OPEN, Field, Message, Struct, Versions
from codegen.source import Source

_LAYOUTS: Final = {
    (False, "int32"): "STRING_INT32",
    (True, "int32"): "COMPACT_INT32",
    (True, "uint16"): "COMPACT_UINT16",
}
_NULL_BYTE: Final = 128
"""A nullable struct begins with a signed byte: -1 for null, 1 otherwise."""


class Walk:
    """Emits the code for one version of a message into `source`. `ErrorWalk` notes error codes only."""

    def __init__(self, source: Source, message: Message, version: int) -> None:
        self.source = source
        self.version = version
        self.flexible = version in message.flexible
        self.kind = "CONTROLLER" if message.name in CONTROLLERS else "BROKER"
        self.size_at = "None"
        self.offset = 0
        self._depth = 0
        self._node_wanted = False  # True when the structs around still have an address to come

    def at(self, more: int = 0) -> str:
        """Return the position that the walk has reached, as an expression."""
        offset = self.offset + more
        return f"pos + {offset}" if offset else "pos"

    def settle(self, more: int = 0) -> None:
        """Move `pos` to the position that the walk has reached."""
        offset = self.offset + more
        if offset:
            self.source(f"pos += {offset}")
        self.offset = 0

    def struct(self, struct: Struct, path: str) -> None:
        """Walk over a whole struct, with its tagged fields."""
        self.plain(struct, struct.plain(self.version), path)
        self.tags(struct, path)

    def plain(self, struct: Struct, fields: list[Field], path: str) -> None:
        """Walk over fields in order."""
        skipped = None
        around = self._node_wanted
        self._node_wanted |= any(self.is_host(struct, f) or self.carries(f, f"{path}.{f.name}") for f in fields)
        for field in fields:
            if self.is_host(struct, field):
                skipped = struct.fields[struct.fields.index(field) + 1]
                self._address(skipped, path)
            elif field is not skipped:
                self.field(field, f"{path}.{field.name}")
        self._node_wanted = around

    def is_host(self, struct: Struct, field: Field) -> bool:
        """Return True for a field whose address is noted."""
        return is_host(struct, field)

    def carries(self, field: Field, path: str) -> bool:
        """Return True when something in a tagged field is noted, so that it cannot be skipped by its size."""
        return carries(field, path)

    def field(self, field: Field, path: str) -> None:
        """Walk over one field."""
        if field.width:
            self._fixed(field)
        elif field.is_array:
            self._array(field, path)
        elif field.struct:
            self._single(field, field.struct, path)
        else:
            self.length(field)
            self._skip()

    def _single(self, field: Field, struct: Struct, path: str) -> None:
        if self.version not in field.nullable:
            self.struct(struct, path)
            return
        self.source(f"n = buf[{self.at()}]")
        self.settle(1)
        with self.source.block(f"if n < {_NULL_BYTE}"):
            self.struct(struct, path)
            self.settle()

    def _fixed(self, field: Field) -> None:
        if field.type == "int16" and field.name.endswith("ErrorCode"):
            with self.source.block(f"if buf[{self.at()}] or buf[{self.at(1)}]"):
                self.source(f"errors.append(int16_at(buf, {self.at()})[0])")
        elif field.type == "int32" and field.name in NODE_ID_NAMES and self._node_wanted:
            self.source(f"node = int32_at(buf, {self.at()})[0]")
        elif field.name == ENDPOINT_TYPE:
            self.source(f"kind = CONTROLLER if buf[{self.at()}] == {CONTROLLER_ENDPOINTS} else BROKER")
            self.kind = "kind"
        self.offset += field.width or 0

    def length(self, field: Field, name: str = "n") -> None:
        """Read a length or count into `name` (one more than the number when flexible), and move `pos` behind it."""
        if self.flexible:
            self.source(f"{name} = buf[{self.at()}]")
            self.settle(1)
            with self.source.block(f"if {name} > 127"):
                self.source(f"{name}, pos = uvarint_at(buf, pos - 1)")
            return
        width = 2 if field.type == "string" else 4
        self.source(f"{name} = int{8 * width}_at(buf, {self.at()})[0]")
        self.settle(width)
        with self.source.block(f"if {name} < -1"):
            self.source(f"raise no_length({name})")

    def _skip(self) -> None:
        with self.source.block("if n > 1" if self.flexible else "if n > 0"):
            self.source("pos += n - 1" if self.flexible else "pos += n")

    def _array(self, field: Field, path: str) -> None:
        name = f"n{self._depth}"
        self.length(field, name)
        count = f"{name} - 1" if self.flexible else name
        with self.source.block(f"if {name} > {int(self.flexible)}"):
            with self.source.block(f"if {count} > end - pos"):
                self.source(f"raise no_length({count})")
            if field.struct:
                self._elements(field.struct, count, path)
            elif field.element == "string":
                self._strings(count)
            else:
                width = Field(field.name, field.element, field.versions).width
                self.source(f"pos += ({count}) * {width}")

    def _strings(self, count: str) -> None:
        with self.source.block(f"for _ in range({count})"):
            with self.source.block("if pos > end"):
                self.source("raise not_at_end()")
            self.length(Field("", "string", Versions(0, OPEN)))
            self._skip()

    def _elements(self, struct: Struct, count: str, path: str) -> None:
        self._depth += 1
        with self.source.block(f"for _ in range({count})"):
            with self.source.block("if pos > end"):
                self.source("raise not_at_end()")
            self.struct(struct, path)
            self.settle()
        self._depth -= 1

    def tags(self, struct: Struct, path: str) -> None:
        """Walk over the tagged section at the end of a flexible struct."""
        if not self.flexible:
            return
        wanted = [field for field in struct.tagged(self.version) if self.carries(field, f"{path}.{field.name}")]
        if wanted:
            self._wanted_tags(wanted, path)
            return
        with self.source.block(f"if buf[{self.at()}]"):
            self.source(f"pos = skip_tags(buf, {self.at()}, end)")
        with self.source.block("else"):
            self.source(f"pos += {self.offset + 1}")
        self.offset = 0

    def _wanted_tags(self, wanted: list[Field], path: str) -> None:
        source, name = self.source, f"n{self._depth}"
        self.length(wanted[0], name)
        self._depth += 1
        with source.block(f"for _ in range({name})"):
            source("tag, size_start = uvarint_at(buf, pos)")
            source("size, pos = uvarint_at(buf, size_start)")
            source("size_at = size_start, pos")
            source("limit = pos + size")
            for number, field in enumerate(wanted):
                with source.block(f"{'elif' if number else 'if'} tag == {field.tag}"):
                    self._tagged_value(field, f"{path}.{field.name}")
            with source.block("else"):
                source("pos = limit")
        self._depth -= 1

    def _tagged_value(self, field: Field, path: str) -> None:
        if self.size_at != "None":
            raise ValueError(f"{path}: an address in a tagged field within another")
        self.size_at = "size_at"
        self.field(field, path)
        self.settle()
        self.size_at = "None"
        with self.source.block("if pos != limit"):
            self.source("raise no_length(size)")

    def _address(self, port: Field, path: str) -> None:
        if left_alone(path):
            raise ValueError(f"{path}: a message with addresses to replace has one to leave alone")
        layout = _LAYOUTS[self.flexible, port.type]
        width = 4 if port.type == "int32" else 2
        self.settle()
        self.source("start = pos")
        self.length(Field("Host", "string", port.versions))
        with self.source.block("if n < 1" if self.flexible else "if n < 0"):
            self.source("raise no_length(-1)")
        self.source("host = pos")
        self.source("pos += n - 1" if self.flexible else "pos += n")
        values = f'node, str(buf[host:pos], "utf-8"), {port.type}_at(buf, pos)[0]'
        where = f"start, pos + {width}, {layout}, {self.size_at}, {self.kind}"
        self.source(f"addresses.append(Address({values}, {where}))")
        self.offset = width
