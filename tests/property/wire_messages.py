"""Hypothesis strategies for messages with a codec, made from the schemas: any value that a version can carry."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple
from uuid import UUID

from hypothesis import strategies as st

from codegen.extraction import load
from codegen.messages import codec_names
from codegen.names import snake, words
from codegen.schema import Field, Message, Struct
from kproxy.wire.message import WireMessage, WireStruct
from kproxy.wire.primitives import Tags

SCHEMAS = load()
CODECS = [SCHEMAS.messages[name] for name in codec_names()]
CASES = [(message, version) for message in CODECS for version in message.versions]
"""Every message with a codec in every version."""

_FIRST_UNKNOWN_TAG = 50  # above all that Kafka has given out
_LAST_TAG = 2**31 - 2  # kafka-clients reads one more, but refuses to write it
_PRIMITIVES: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "int8": st.integers(-(2**7), 2**7 - 1),
    "int16": st.integers(-(2**15), 2**15 - 1),
    "uint16": st.integers(0, 2**16 - 1),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.floats(allow_nan=False),
    "uuid": st.uuids(),
    "string": st.text(max_size=12) | st.sampled_from(["", "x" * 127, "x" * 128, "ж" * 100]),
    "bytes": st.binary(max_size=20) | st.sampled_from([b"", bytes(126), bytes(127), bytes(300)]),
}
_PRIMITIVES["records"] = _PRIMITIVES["bytes"]
_TAME: dict[tuple[str, str], st.SearchStrategy[Any]] = {
    ("Code", "int16"): st.integers(-1, 119),
    ("Ms", "int64"): st.integers(-1, 10**9),
}
_TAGS: st.SearchStrategy[Tags] = st.dictionaries(
    st.integers(_FIRST_UNKNOWN_TAG, _LAST_TAG), st.binary(max_size=8), max_size=3
).map(lambda tags: tuple(sorted(tags.items())))


def case_id(value: object) -> str:
    """Return pytest's name of a case."""
    return value.name if isinstance(value, Message) else f"v{value}"


def class_of(message: Message) -> type[WireMessage]:
    """Return the generated class of a message."""
    found: type[WireMessage] = getattr(import_module(f"kproxy.wire.generated.{snake(message.name)}"), message.name)
    return found


def instances(message: Message, version: int, *, tame: bool = False) -> st.SearchStrategy[Any]:
    """Draw objects of a message's class, with values only in fields that the version has.

    `tame` ones have no unknown tagged fields, no unknown error codes, and no times beyond what Python can hold.
    """
    return _cached(message.name, version, tame)


@cache
def _cached(name: str, version: int, tame: bool) -> st.SearchStrategy[Any]:
    message = SCHEMAS.messages[name]
    module = import_module(f"kproxy.wire.generated.{snake(message.name)}")
    tags = _TAGS if version in message.flexible and not tame else None
    return _Maker(module, version, tags, tame).instances(message.struct, 0)


class _Maker(NamedTuple):
    """What is the same for all structs of one strategy."""

    module: Any
    version: int
    tags: st.SearchStrategy[Tags] | None
    tame: bool

    def instances(self, struct: Struct, depth: int) -> st.SearchStrategy[WireStruct]:
        """Objects of a struct's class, `depth` arrays deep."""
        fields = {snake(f.name): self._values(f, depth) for f in struct.fields if self.version in f.versions}
        if self.tags is not None:
            fields["unknown_tags"] = self.tags
        return st.builds(getattr(self.module, struct.name), **fields)

    def _values(self, field: Field, depth: int) -> st.SearchStrategy[Any]:
        values = self.instances(field.struct, depth + 1) if field.struct else self._primitives(field)
        if field.is_array:
            values = st.lists(values, max_size=max(1, 3 - depth))
        return st.none() | values if self.version in field.nullable else values

    def _primitives(self, field: Field) -> st.SearchStrategy[Any]:
        tame = _TAME.get((words(field.name)[-1], field.type)) if self.tame else None
        return _PRIMITIVES[field.element] if tame is None else tame


def to_json(struct: Struct, value: Any, version: int) -> dict[str, Any]:
    """Return what Kafka's own JSON converters give for the same content; unknown tagged fields are not in it."""
    fields = {}
    for field in struct.fields:
        content = getattr(value, snake(field.name), None)
        if version in field.versions and not (field.tagged and _is_default(field, content)):
            fields[field.name[0].lower() + field.name[1:]] = _json_value(field, content, version)
    return fields


def _is_default(field: Field, content: Any) -> bool:
    if field.default is not None:
        return str(content).lower() == field.default.replace("null", "none")
    return content in ([], "", b"", 0, False, UUID(int=0))


def _json_value(field: Field, content: Any, version: int) -> Any:
    if content is None:
        return None
    if field.is_array:
        return [_json_item(field, item, version) for item in content]
    return _json_item(field, content, version)


def _json_item(field: Field, item: Any, version: int) -> Any:
    if field.element == "records":
        return ""  # the converters leave records out
    if field.struct:
        return to_json(field.struct, item, version)
    if isinstance(item, UUID):
        return urlsafe_b64encode(item.bytes).decode().rstrip("=")
    return b64encode(item).decode() if isinstance(item, bytes) else item
