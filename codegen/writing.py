"""Emits the method `write`, which writes an object to a `Writer`; it branches on the version.

`codec` calls it for each class that it generates.
"""

from __future__ import annotations

from codegen.names import snake
from codegen.schema import Field
from codegen.shapes import Shape, default, method
from codegen.source import Source


def emit_write(source: Source, shape: Shape) -> None:
    """Emit the method."""
    with source.block("def write(self, writer: Writer, version: int) -> None"):
        if shape.flexible not in ("True", "False"):
            source(f"flexible = {shape.flexible}")
        for field in shape.fields:
            if not field.tagged:
                _plain(source, shape, field)
        if shape.flexible == "True":
            _tags(source, shape)
        elif shape.flexible != "False":
            with source.block("if flexible"):
                _tags(source, shape)
            _refuse_tags(source, shape)
        elif not shape.fields:
            source("pass")


def _plain(source: Source, shape: Shape, field: Field) -> None:
    when = shape.present(field)
    source.only_if(when, _value(shape, field, "writer", shape.flexible_argument))
    if when != "True" and not field.ignorable:
        with source.block(f"elif {_is_set(field)}"):
            source(f'raise absent("{shape.name}.{snake(field.name)}", version)')


def _is_set(field: Field) -> str:
    value = default(field)
    return f"self.{snake(field.name)} {'is not' if value == 'None' else '!='} {value}"


def _value(shape: Shape, field: Field, writer: str, flexible: str) -> str:
    value = f"self.{snake(field.name)}"
    if field.width:
        return f"{writer}.{method(field.type)}({value})"
    if field.struct and not field.is_array:
        if shape.can_be_null(field):
            return f"{writer}.nullable_struct({value}, version)"
        return f"{value}.write({writer}, version)"
    return shape.by_nullability(field, lambda prefix: _call(shape, field, f"{writer}.{prefix}", flexible))


def _call(shape: Shape, field: Field, start: str, flexible: str) -> str:
    value = f"self.{snake(field.name)}"
    if not start.endswith("nullable_") and shape.can_be_null(field):
        value = f'not_null({value}, "{shape.name}.{snake(field.name)}", version)'
    if not field.is_array:
        return f"{start}{method(field.type)}({value}, {flexible})"
    if field.struct:
        return f"{start}structs({value}, version, {flexible})"
    item = f"{start.removesuffix('nullable_')}{method(field.element)}"
    if field.element in ("string", "bytes"):
        item = f"lambda item: {item}(item, {flexible})"
    return f"{start}array({value}, {item}, {flexible})"


def _tags(source: Source, shape: Shape) -> None:
    if not shape.tagged:
        source("writer.tagged_fields(self.unknown_tags)")
        return
    source("tags = list(self.unknown_tags)")
    for field in shape.tagged:
        when = shape.present_as_tag(field)
        with source.block(f"if {_is_set(field)}" + ("" if when == "True" else f" and {when}")):
            source("inner = Writer()")
            source(_value(shape, field, "inner", "True"))
            source(f"tags.append(({field.tag}, inner.value()))")
    source("writer.tagged_fields(tags)")


def _refuse_tags(source: Source, shape: Shape) -> None:
    tests = {"unknown_tags": "self.unknown_tags"}
    tests |= {snake(field.name): _is_set(field) for field in shape.tagged if not field.ignorable}
    for name, test in tests.items():
        with source.block(f"elif {test}"):
            source(f'raise absent("{shape.name}.{name}", version)')
