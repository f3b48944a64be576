"""Emits the method `read`, which makes an object from a `Reader`; it branches on the version.

`codec` calls it for each class that it generates.
"""

from __future__ import annotations

from codegen.names import snake
from codegen.schema import Field
from codegen.shapes import Shape, method
from codegen.source import Source


def emit_read(source: Source, shape: Shape) -> None:
    """Emit the class method."""
    source("@classmethod")
    with source.block("def read(cls, reader: Reader, version: int) -> Self"):
        if shape.flexible not in ("True", "False"):
            source(f"flexible = {shape.flexible}")
        source("self = cls()")
        for field in shape.fields:
            line = f"self.{snake(field.name)} = {_value(shape, field, 'reader', shape.flexible_argument)}"
            source.only_if(shape.present(field), line)
        if shape.flexible == "True":
            _tags(source, shape)
        elif shape.flexible != "False":
            with source.block("if flexible"):
                _tags(source, shape)
        source("return self")


def _value(shape: Shape, field: Field, reader: str, flexible: str) -> str:
    if field.width:
        return f"{reader}.{method(field.type)}()"
    if field.struct and not field.is_array:
        if shape.can_be_null(field):
            shape.refuse_sometimes_nullable(field)
            return f"{reader}.nullable_struct({field.type}, version)"
        return f"{field.type}.read({reader}, version)"
    return shape.by_nullability(field, lambda prefix: _call(field, f"{reader}.{prefix}", reader, flexible))


def _call(field: Field, start: str, reader: str, flexible: str) -> str:
    if not field.is_array:
        return f"{start}{method(field.type)}({flexible})"
    if field.struct:
        return f"{start}structs({field.element}, version, {flexible})"
    item = f"{reader}.{method(field.element)}"
    if field.element in ("string", "bytes"):
        item = f"lambda: {item}({flexible})"
    return f"{start}array({item}, {flexible})"


def _tags(source: Source, shape: Shape) -> None:
    if not shape.tagged:
        source("self.unknown_tags = reader.tagged_fields()")
        return
    source("unknown = []")
    with source.block("for tag, data in reader.tagged_fields()"):
        source("inner = Reader(data)")
        for number, field in enumerate(shape.tagged):
            when = shape.present_as_tag(field)
            test = f"tag == {field.tag}" + ("" if when == "True" else f" and {when}")
            with source.block(f"{'elif' if number else 'if'} {test}"):
                source(f"self.{snake(field.name)} = {_value(shape, field, 'inner', 'True')}")
        with source.block("else"):
            source("unknown.append((tag, data))")
            source("continue")
        source("inner.finish()")
    source("self.unknown_tags = tuple(unknown)")
