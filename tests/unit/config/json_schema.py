"""Checks values as an editor does; implements the part of JSON Schema that kproxy's schema uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
}
_BOUNDS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "minimum": lambda v, bound: v >= bound,
    "maximum": lambda v, bound: v <= bound,
    "exclusiveMinimum": lambda v, bound: v > bound,
    "minItems": lambda v, bound: len(v) >= bound,
    "pattern": lambda v, bound: re.search(bound, v) is not None,
    "enum": lambda v, bound: v in bound,
    "const": lambda v, bound: v == bound,
}
_ANNOTATIONS: Final = {"$schema", "$defs", "title", "description", "default", "examples", "format", "writeOnly"}
_APPLICATORS: Final = {"$ref", "type", "anyOf", "properties", "required", "additionalProperties", "items", "not"}


def flaws(schema: dict[str, Any], value: Any, root: dict[str, Any], path: str = "$") -> Iterator[str]:
    """Yield the violations of the schema in `value`; AssertionError for a keyword that is not implemented here."""
    assert schema.keys() <= _ANNOTATIONS | _APPLICATORS | _BOUNDS.keys(), schema
    if "$ref" in schema:
        yield from flaws(root["$defs"][schema["$ref"].rpartition("/")[2]], value, root, path)
    if "anyOf" in schema and all(list(flaws(option, value, root, path)) for option in schema["anyOf"]):
        yield f"{path}: {value!r} is none of the forms"
    if "not" in schema and not list(flaws(schema["not"], value, root, path)):
        yield f"{path}: {value!r} is what it must not be"
    if "type" in schema and not _TYPES[schema["type"]](value):
        yield f"{path}: {value!r} is no {schema['type']}"
        return
    yield from (f"{path}: {k}" for k, holds in _BOUNDS.items() if k in schema and not holds(value, schema[k]))
    if isinstance(value, dict) and schema.get("type") == "object":
        yield from (f"{path}: lacks {key}" for key in schema.get("required", ()) if key not in value)
        for key, item in value.items():
            others = schema["additionalProperties"]
            inner = schema.get("properties", {}).get(key, {} if others is True else others)
            if inner is False:
                yield f"{path}: knows no {key}"
            else:
                yield from flaws(inner, item, root, f"{path}.{key}")
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from flaws(schema["items"], item, root, f"{path}[{index}]")
