"""Responses without a codec: their content from the schemas, and a plain, independent encoder for it.

A content is a dictionary of Kafka's field names; `TAGS` in it holds unknown tagged fields. The encoder is checked
against kafka-clients in tests/clients/test_wire_oracle.py.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from functools import cache
from typing import Any

from hypothesis import strategies as st

from codegen.schema import Field, Message, Struct
from kproxy.wire.generated.skims import SKIMS
from kproxy.wire.primitives import uvarint
from tests.property.wire_messages import SCHEMAS

Content = dict[str, Any]
TAGS = "unknown tags"
RESPONSES = {message.api_key: message for message in SCHEMAS.of_kind("response") if message.api_key is not None}
CARRIERS = sorted(SKIMS)
"""(api key, version) of every response with addresses."""
STREAMED = [(key, version) for key, version in CARRIERS if key in (1, 78)]

_FORMS = {
    "bool": ">?",
    "int8": ">b",
    "int16": ">h",
    "uint16": ">H",
    "int32": ">i",
    "uint32": ">I",
    "int64": ">q",
    "float64": ">d",
    "uuid": "16s",
}
_RANGES = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}
_HOSTS = ["b1", "broker-1.kafka.svc.cluster.local", "10.0.0.1", "x" * 130, "::1", "höst"]


def contents(key: int, version: int, *, tags: bool = True) -> st.SearchStrategy[Content]:
    """Draw contents of a response; with unknown tagged fields in a flexible version, unless `tags` is False."""
    return _contents(key, version, tags)


@cache
def _contents(key: int, version: int, tags: bool) -> st.SearchStrategy[Content]:
    message = RESPONSES[key]
    return _structs(message.struct, version, tags and version in message.flexible, 0)


def _structs(struct_: Struct, version: int, tags: bool, depth: int) -> st.SearchStrategy[Content]:
    plain = {field.name: _values(field, version, tags, depth) for field in struct_.plain(version)}
    tagged = {field.name: _values(field, version, tags, depth) for field in struct_.tagged(version)}
    if tags:
        unknown = st.dictionaries(st.integers(60, 400), st.binary(max_size=9), max_size=2)
        tagged[TAGS] = unknown.map(lambda found: sorted(found.items()))
    return st.fixed_dictionaries(plain, optional=tagged)


def _values(field: Field, version: int, tags: bool, depth: int) -> st.SearchStrategy[Any]:
    values = _structs(field.struct, version, tags, depth + 1) if field.struct else _primitives(field)
    if field.is_array:
        values = st.lists(values, max_size=max(1, 3 - depth))
    return st.none() | values if version in field.nullable else values


def _primitives(field: Field) -> st.SearchStrategy[Any]:
    if field.name == "Host":
        return st.sampled_from(_HOSTS)
    if field.name.endswith("ErrorCode"):
        return st.sampled_from([0, 0, 0, 0, 3, 6, -1, 129])
    if bits := _RANGES.get(field.element):
        return st.integers(-(2**bits), 2**bits - 1)
    by_type: dict[str, st.SearchStrategy[Any]] = {
        "bool": st.booleans(),
        "float64": st.floats(allow_nan=False, allow_infinity=False),
        "uint16": st.integers(0, 2**16 - 1),
        "uuid": st.binary(min_size=16, max_size=16),
        "string": st.text(max_size=8) | st.just("t" * 200),
        "bytes": st.binary(max_size=9),
        "records": st.binary(max_size=40) | st.sampled_from([bytes(127), b"\x7f" * 300, b"\xff" * 20_000]),
    }
    return by_type[field.element]


def encode(key: int, version: int, content: Content) -> bytes:
    """Return the body of a response."""
    return encode_message(RESPONSES[key], version, content)


def encode_message(message: Message, version: int, content: Content) -> bytes:
    """Return the body of any message."""
    return _struct_bytes(message, message.struct, version, content)


def _struct_bytes(message: Message, struct_: Struct, version: int, content: Content) -> bytes:
    out = b"".join(_field_bytes(message, field, version, content[field.name]) for field in struct_.plain(version))
    return out + _tag_bytes(message, struct_, version, content) if version in message.flexible else out


def _tag_bytes(message: Message, struct_: Struct, version: int, content: Content) -> bytes:
    tags = list(content.get(TAGS, ()))
    for field in struct_.tagged(version):
        if field.name in content and content[field.name] != _default(field):
            tags.append((field.tag, _field_bytes(message, field, version, content[field.name])))
    return uvarint(len(tags)) + b"".join(uvarint(tag) + uvarint(len(data)) + data for tag, data in sorted(tags))


def _default(field: Field) -> Any:
    if field.is_array:
        return []
    if field.struct:
        return {inner.name: _default(inner) for inner in field.struct.fields}
    if field.element in ("string", "bytes", "records"):
        return None if field.default == "null" else ""
    return field.default == "true" if field.element == "bool" else int(field.default or 0)


def _field_bytes(message: Message, field: Field, version: int, value: Any) -> bytes:
    if not field.is_array:
        return _item_bytes(message, field, version, value)
    items = b"".join(_item_bytes(message, field, version, item) for item in value or ())
    return _length(message, version, ">i", None if value is None else len(value)) + items


def _item_bytes(message: Message, field: Field, version: int, value: Any) -> bytes:
    if field.struct and field.is_array:
        return _struct_bytes(message, field.struct, version, value)
    if field.struct:
        marker = b"" if version not in field.nullable else b"\xff" if value is None else b"\x01"
        return marker + (_struct_bytes(message, field.struct, version, value) if value is not None else b"")
    if form := _FORMS.get(field.element):
        return struct.pack(form, value)
    raw = value.encode() if isinstance(value, str) else value
    form = ">h" if field.element == "string" else ">i"
    return _length(message, version, form, None if raw is None else len(raw)) + (raw or b"")


def _length(message: Message, version: int, form: str, length: int | None) -> bytes:
    if version in message.flexible:
        return uvarint(0 if length is None else length + 1)
    return struct.pack(form, -1 if length is None else length)


def as_json(key: int, version: int, content: Content) -> Content:
    """Return the content as Kafka's JSON converters want it."""
    return _json_struct(RESPONSES[key].struct, version, content)


def _json_struct(struct_: Struct, version: int, content: Content) -> Content:
    fields = [*struct_.plain(version), *(field for field in struct_.tagged(version) if field.name in content)]
    return {field.name[0].lower() + field.name[1:]: _json(field, version, content[field.name]) for field in fields}


def _json(field: Field, version: int, value: Any) -> Any:
    if isinstance(value, list):
        return [_json(field, version, item) for item in value]
    if field.struct and value is not None:
        return _json_struct(field.struct, version, value)
    if isinstance(value, bytes):
        encoded = base64.urlsafe_b64encode(value) if field.element == "uuid" else base64.b64encode(value)
        return encoded.decode().rstrip("=" if field.element == "uuid" else "")
    return value


def addresses(key: int, version: int, content: Content) -> list[tuple[int, str, int]]:
    """Return (node id, host, port) of every address in the order of the bytes."""
    return list(_addresses(RESPONSES[key].struct, version, content, -1))


def _addresses(struct_: Struct, version: int, content: Content, node: int) -> Iterator[tuple[int, str, int]]:
    for field in (*struct_.plain(version), *struct_.tagged(version)):
        value: Any = content.get(field.name)
        if field.name in ("NodeId", "BrokerId", "LeaderId"):
            node = value
        elif field.name == "Host":
            yield node, value, content["Port"]
        elif field.struct and value and not (field.tag is not None and value == _default(field)):
            for item in value if field.is_array else [value]:
                yield from _addresses(field.struct, version, item, node)


def errors(key: int, version: int, content: Content) -> list[int]:
    """Return all error codes other than zero, in the order of the bytes, outside of tagged fields."""
    return list(_errors(RESPONSES[key].struct, version, content))


def _errors(struct_: Struct, version: int, content: Content) -> Iterator[int]:
    for field in struct_.plain(version):
        value = content[field.name]
        if field.name.endswith("ErrorCode"):
            yield from [value] if value else []
        elif field.struct:
            for item in (value or ()) if field.is_array else [value]:
                yield from _errors(field.struct, version, item)


def answered(key: int, version: int, content: Content) -> list[tuple[int, str | None, str | None]]:
    """Return all error codes other than zero, in tagged fields too, each with its topic and its group, sorted."""
    return sorted(_answered(RESPONSES[key].struct, version, content, None, None), key=str)


def _answered(
    struct_: Struct, version: int, content: Content, topic: str | None, group: str | None
) -> Iterator[tuple[int, str | None, str | None]]:
    for name in ("Name", "Topic", "TopicName"):
        topic = (
            content.get(name, topic) if any(f.name == name and f.type == "string" for f in struct_.fields) else topic
        )
    group = content.get("GroupId", group)
    for field in (*struct_.plain(version), *struct_.tagged(version)):
        value: Any = content.get(field.name)
        if field.name.endswith("ErrorCode"):
            yield from [(value, topic or None, group or None)] if value else []
        elif field.struct and value:
            for item in value if field.is_array else [value]:
                yield from _answered(field.struct, version, item, topic, group)


def has_codes(key: int, version: int) -> bool:
    """True when a response of this version has an error code, at any depth."""
    return _has_codes(RESPONSES[key].struct, version)


def _has_codes(struct_: Struct, version: int) -> bool:
    fields = (*struct_.plain(version), *struct_.tagged(version))
    return any(f.name.endswith("ErrorCode") or (f.struct is not None and _has_codes(f.struct, version)) for f in fields)


def replaced(content: Any, new: list[tuple[str, int]]) -> Any:
    """Return the content, or its JSON, with the addresses of `new` in the order of the bytes."""
    return _replaced(content, iter(new))


def _replaced(content: Any, new: Iterator[tuple[str, int]]) -> Any:
    if isinstance(content, list):
        return [_replaced(item, new) for item in content]
    if not isinstance(content, dict):
        return content
    fields = {name: _replaced(value, new) for name, value in content.items()}
    for host, port in (("Host", "Port"), ("host", "port")):
        if host in fields:
            fields[host], fields[port] = next(new)
    return fields


def at_fixed_place(key: int, version: int) -> bool:
    """True when only fields of a fixed width come before the top-level error code."""
    names = [field.name for field in RESPONSES[key].struct.plain(version)]
    before = RESPONSES[key].struct.plain(version)[: names.index("ErrorCode")]
    return all(field.element in _FORMS and not field.is_array for field in before)
