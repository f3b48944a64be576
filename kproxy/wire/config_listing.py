# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Takes the resources of one type out of a ListConfigResources response, without decoding the others.

kproxy.telemetry.apis.listed calls it for a broker's response, which may list every topic of a cluster.

Version notes: v1 (KIP-1142) lists resources of all types; it is the only version that a broker is asked in.
"""

from __future__ import annotations

from typing import Final

from kproxy.errors import MalformedMessageError
from kproxy.wire.arriving import behind_string, count_at, number_at

_BEFORE_RESOURCES: Final = 6
"""Bytes of throttle time and error code."""


def without_type(body: bytes, resource_type: int) -> tuple[int, bytes]:
    """Return how many resources of a v1 response are of other types, and these as they were encoded.

    Raises `MalformedMessageError` for bytes that are no such response.
    """
    try:
        return _without_type(body, resource_type)
    except IndexError as error:
        raise MalformedMessageError(f"ListConfigResources response: {error}") from error


def _without_type(body: bytes, resource_type: int) -> tuple[int, bytes]:
    kept, pos = count_at(body, _BEFORE_RESOURCES, True)
    chunks: list[bytes] = []
    start = pos
    for _ in range(kept):
        begin = pos
        pos = behind_string(body, pos, True)
        kind = body[pos]
        pos = _behind_tags(body, pos + 1)
        if kind == resource_type:
            chunks.append(body[start:begin])
            start = pos
            kept -= 1
    if pos >= len(body):
        raise IndexError("it ends within its resources")
    chunks.append(body[start:pos])
    return kept, b"".join(chunks)


def _behind_tags(body: bytes, pos: int) -> int:
    count, pos = number_at(body, pos)
    for _ in range(count):
        _, pos = number_at(body, pos)
        size, pos = number_at(body, pos)
        pos += size
    return pos
