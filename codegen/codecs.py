"""Generates a module for each message: slotted dataclasses with `read` and `write` that branch on the version.

`generate` calls `codec` for each message in `codegen.messages`.
"""

from __future__ import annotations

from typing import Final

from codegen.names import snake
from codegen.reading import emit_read
from codegen.schema import Message, Versions
from codegen.shapes import Shape
from codegen.source import HEADER, Source
from codegen.writing import emit_write

_IMPORTS: Final = (
    ("dataclasses", ("dataclass", "field")),
    ("typing", ("ClassVar", "Self")),
    ("uuid", ("UUID",)),
    ("kproxy.wire.message", ("WireMessage", "WireStruct", "absent")),
    ("kproxy.wire.primitives", ("ZERO_UUID", "Tags")),
    ("kproxy.wire.reader", ("Reader",)),
    ("kproxy.wire.writer", ("Writer", "not_null")),
)


def codec(message: Message, kafka_version: str) -> str:
    """Return the module's text."""
    classes = Source()
    ranges = _ranges(message)
    for struct in (*message.structs, message.struct):
        if versions := ranges.get(struct.name):
            _emit_class(classes, Shape(message, struct, versions))
    return _head(message, kafka_version, classes.text()) + classes.text()


def _head(message: Message, kafka_version: str, body: str) -> str:
    source = Source()
    source(f'"""{message.name}, versions {message.versions.low} to {message.versions.high}."""')
    source(HEADER.format(version=kafka_version))
    source()
    source("from __future__ import annotations")
    source()
    words = set("".join(c if c.isalnum() or c == "_" else " " for c in body).split())
    for module, names in _IMPORTS:
        if used := [name for name in names if name in words]:
            source(f"from {module} import {', '.join(used)}")
    return source.text()


def _ranges(message: Message) -> dict[str, Versions]:
    """Return the versions of the message in which each struct can occur."""
    ranges = {message.name: message.versions}
    for struct in (message.struct, *reversed(message.structs)):
        within = ranges.get(struct.name)
        for field in struct.fields if within else ():
            if field.struct and within and (here := field.versions & within):
                seen = ranges.get(field.struct.name, here)
                ranges[field.struct.name] = Versions(min(seen.low, here.low), max(seen.high, here.high))
    return ranges


def _emit_class(source: Source, shape: Shape) -> None:
    is_message = shape.struct is shape.message.struct
    source()
    source()
    source("@dataclass(slots=True)")
    with source.block(f"class {shape.name}({'WireMessage' if is_message else 'WireStruct'})"):
        if is_message:
            _emit_bounds(source, shape.message)
        for field in shape.fields:
            source(f"{snake(field.name)}: {shape.annotation(field)} = {shape.class_default(field)}")
        if shape.flexible != "False":
            source("unknown_tags: Tags = ()")
        source()
        emit_read(source, shape)
        source()
        emit_write(source, shape)


def _emit_bounds(source: Source, message: Message) -> None:
    if message.api_key is not None:
        source(f"api_key: ClassVar[int] = {message.api_key}")
    source(f"min_version: ClassVar[int] = {message.versions.low}")
    source(f"max_version: ClassVar[int] = {message.versions.high}")
    source()
