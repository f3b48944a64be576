"""Contents of any message from the schemas and a random generator, where Hypothesis would be too slow: for fuzzing."""

from __future__ import annotations

from random import Random
from typing import Any

from codegen.schema import Field, Struct
from tests.property.wire_contents import TAGS, Content

_NUMBERS = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}


def random_content(struct: Struct, version: int, rng: Random) -> Content:
    """Return a content of the struct as a version has it, small and valid."""
    content = {field.name: _value(field, version, rng) for field in struct.plain(version)}
    content |= {field.name: _value(field, version, rng) for field in struct.tagged(version)}
    return content | {TAGS: [(70, b"tag")] if rng.random() < 0.2 else []}


def _value(field: Field, version: int, rng: Random) -> Any:
    if version in field.nullable and rng.random() < 0.3:
        return None
    if field.is_array:
        return [_item(field, version, rng) for _ in range(rng.randrange(3))]
    return _item(field, version, rng)


def _item(field: Field, version: int, rng: Random) -> Any:
    if field.struct:
        return random_content(field.struct, version, rng)
    if bits := _NUMBERS.get(field.element):
        return rng.choice([0, -1, rng.getrandbits(bits)])
    if field.element == "string":
        return "s" * rng.choice([0, 1, 5, 140])
    sizes = {"uuid": 16, "bytes": 9, "records": 300}
    return rng.randbytes(sizes[field.element]) if field.element in sizes else 1
