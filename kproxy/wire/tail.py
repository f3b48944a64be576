# This module is pure (no I/O, no clock).
"""Replace broker addresses at the end of a response that streams (Fetch, ShareFetch), without changing its length.

`ResponseStream` calls it once for each such response, when the last section has arrived.

NodeEndpoints (KIP-951) are at the very end of a response, when the frame's length has already been sent. When they
get shorter, a tagged field of zeros fills the space; clients skip it, because they do not know its tag (KIP-482).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, TypeAlias

from kproxy.errors import MalformedMessageError
from kproxy.wire.address import Address, replace_addresses
from kproxy.wire.primitives import Tags, uvarint
from kproxy.wire.reader import Reader
from kproxy.wire.walk import StreamLayout

Advertise: TypeAlias = Callable[[int, str, int], tuple[str, int]]
"""(node id, host, port of the broker) -> host and port for the client."""

_EMPTY_ARRAY: Final = b"\x01"
_LAST_PADDING_TAG: Final = 0x7F  # far above the tags that Kafka assigns, and still one byte
_MOST_TAGS: Final = 100  # so that a tag is free, and the number of tags takes one byte


def neutralised(layout: StreamLayout, tail: bytes, advertise: Advertise) -> bytes:
    """Return the section at the same length, with other addresses; without endpoints when those do not fit."""
    try:
        endpoints, tags, behind = _split(layout, tail)
        if endpoints is None:
            return tail
        endpoints = _rewritten(layout, endpoints, advertise)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise MalformedMessageError(f"node endpoints: {error}") from error
    room = len(tail) - len(behind)
    prefix, fields = _section(layout, endpoints, tags)
    if len(prefix) + len(_encoded(fields)) > room:
        prefix, fields = _section(layout, None, tags)
    return prefix + _fitted(fields, room - len(prefix)) + behind


def _split(layout: StreamLayout, tail: bytes) -> tuple[bytes | None, Tags, bytes]:
    """Return the array of endpoints or None, the other tagged fields, and the bytes behind, which clients ignore."""
    if layout.tag is None:
        pos = layout.endpoints(tail, 0, len(tail), [], [])
        return tail[:pos], *_tags(tail[pos:])
    tags, behind = _tags(tail)
    return dict(tags).get(layout.tag), tuple(field for field in tags if field[0] != layout.tag), behind


def _tags(data: bytes) -> tuple[Tags, bytes]:
    reader = Reader(data)
    tags = reader.tagged_fields()
    if len(tags) > _MOST_TAGS:
        raise MalformedMessageError(f"{len(tags)} tagged fields behind the records")
    return tags, data[len(data) - reader.remaining() :]


def _rewritten(layout: StreamLayout, endpoints: bytes, advertise: Advertise) -> bytes:
    addresses: list[Address] = []
    if layout.endpoints(endpoints, 0, len(endpoints), addresses, []) != len(endpoints):
        raise MalformedMessageError("node endpoints: bytes behind the last one")
    replacements = [advertise(address.node_id, address.host, address.port) for address in addresses]
    return b"".join(replace_addresses(endpoints, 0, len(endpoints), addresses, replacements))


def _section(layout: StreamLayout, endpoints: bytes | None, tags: Tags) -> tuple[bytes, Tags]:
    """Return the bytes before the tagged fields, and the tagged fields."""
    if layout.tag is None:
        return endpoints or _EMPTY_ARRAY, tags
    return b"", tags if endpoints is None else ((layout.tag, endpoints), *tags)


def _encoded(tags: Tags) -> bytes:
    return uvarint(len(tags)) + b"".join(uvarint(tag) + uvarint(len(data)) + data for tag, data in sorted(tags))


def _fitted(tags: Tags, size: int) -> bytes:
    """Return the tagged section in exactly `size` bytes, which must be enough."""
    encoded = _encoded(tags)
    spare = size - len(encoded)
    if spare == 0:
        return encoded
    if spare == 1:  # too little for a tagged field
        return _stretched(len(tags), 2) + encoded[1:]
    return _padded(tags, spare)


def _padded(tags: Tags, spare: int) -> bytes:
    """Return the section with one more field of `spare` bytes: a tag, a size, zeros."""
    used = dict(tags)
    tag = next(number for number in range(_LAST_PADDING_TAG, 0, -1) if number not in used)
    width = 1
    while len(uvarint(spare - 1 - width)) > width:
        width += 1
    data = bytes(spare - 1 - width)
    before = [field for field in tags if field[0] < tag]
    behind = [field for field in tags if field[0] > tag]
    return (
        uvarint(len(tags) + 1)
        + _encoded(tuple(before))[1:]
        + uvarint(tag)
        + _stretched(len(data), width)
        + data
        + _encoded(tuple(behind))[1:]
    )


def _stretched(number: int, width: int) -> bytes:
    """Return a varint in exactly `width` bytes; all readers accept one that is longer than needed."""
    raw = uvarint(number)
    if len(raw) == width:
        return raw
    return raw[:-1] + bytes((raw[-1] | 0x80,)) + b"\x80" * (width - len(raw) - 1) + b"\0"
