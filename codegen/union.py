"""Unites two releases' schemas of one message: the older one's lowest versions, and all versions of the newest.

`extraction.load` calls `united` for each message of which the newest release has removed versions (KIP-896).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from codegen.schema import Field, Message, Struct, Versions


def united(newest: Message, older: Message) -> Message:
    """Return the message with both releases' versions.

    A version that both know is the newest's. ValueError where a gap would be between the two, or where the union would
    not lay out a version as the release does that it is from.
    """
    removed = Versions(older.versions.low, newest.valid.low - 1)
    if not removed or removed.high > older.versions.high:
        raise ValueError(f"{newest.name}: v{older.versions.low} to v{older.versions.high} end before {newest.valid}")
    struct = _struct(newest.struct, older.struct, removed)
    valid = Versions(removed.low, newest.valid.high)
    found = replace(newest, struct=struct, structs=tuple(_inner(struct).values()), valid=valid)
    for version in valid:
        _check(found, older if version in removed else newest, version)
    return found


def _struct(newest: Struct, older: Struct, removed: Versions) -> Struct:
    """Return the newest's fields, and behind the field that each follows the older's that are gone."""
    there = {field.name: field for field in newest.fields}
    fields = {field.name: _field(field, older, removed) for field in newest.fields}
    order = list(fields)
    place = 0
    for field in older.fields:
        if field.name in there:
            place = order.index(field.name) + 1
        elif left := field.versions & removed:
            fields[field.name] = replace(field, versions=left, nullable=field.nullable & left)
            order.insert(place, field.name)
            place += 1
    return Struct(newest.name, tuple(fields[name] for name in order))


def _field(newest: Field, older: Struct, removed: Versions) -> Field:
    """Return a field of the newest, in the removed versions, too, where the older release has it there."""
    before = next((field for field in older.fields if field.name == newest.name), None)
    if before is None:
        return newest
    struct = newest.struct
    if struct is not None and before.struct is not None:
        struct = _struct(struct, before.struct, removed)
    return replace(
        newest,
        versions=_from(newest.versions, before.versions & removed),
        nullable=_from(newest.nullable, before.nullable & removed),
        struct=struct,
    )


def _from(newest: Versions, removed: Versions) -> Versions:
    if not removed:
        return newest
    return Versions(min(removed.low, newest.low), max(removed.high, newest.high)) if newest else removed


def _inner(struct: Struct) -> dict[str, Struct]:
    """Return the structs within one by name, in the order to define their classes."""
    found: dict[str, Struct] = {}
    for field in struct.fields:
        if field.struct is not None:
            found |= _inner(field.struct) | {field.struct.name: field.struct}
    return found


def _check(found: Message, release: Message, version: int) -> None:
    if _layout(found.struct, version) != _layout(release.struct, version):
        raise ValueError(f"{found.name} v{version}: the union is not what the release has")
    if (version in found.flexible) != (version in release.flexible):
        raise ValueError(f"{found.name} v{version} is flexible in one release only")


def _layout(struct: Struct, version: int) -> list[Any]:
    """Return what a version's bytes depend on."""
    return [
        (field.name, field.type, version in field.nullable, field.tag, field.struct and _layout(field.struct, version))
        for field in (*struct.plain(version), *struct.tagged(version))
    ]
