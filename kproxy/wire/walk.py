# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""The building blocks of generated skims: functions that read at a position, and the types of their tables.

A skim is a walk over a response that finds its addresses without decoding it. Skims call these functions, and so do
rooms (packages of kproxy such as rebootstrap) that walk over responses themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from kproxy.errors import MalformedMessageError
from kproxy.wire.address import Address
from kproxy.wire.primitives import Buffer, read_uvarint

WalkFunction: TypeAlias = Callable[[Buffer, int, int, list[Address], list[int]], int]
"""(buf, pos, end, addresses, errors) -> position behind what was walked; appends to both lists."""
BytesWalk: TypeAlias = Callable[[bytes, int, int, list[Address], list[int]], int]
"""The same for plain bytes: compiled code reads them without making an object of each byte."""
Found: TypeAlias = tuple[int, int, int]
"""An error code that is not 0, and the positions of the names of the topic and of the group that it is about, or 0.

Each name is there with its length.
"""
ErrorFunction: TypeAlias = Callable[[Buffer, int, int, list[Found]], int]
"""(buf, pos, end, errors) -> position behind what was walked; appends to the list."""
StepFunction: TypeAlias = Callable[[Buffer, int, int, list[int]], tuple[int, int, int]]
"""(buf, pos, end, errors) -> (position reached, the count or size read before it, index of the step that ended).

The function continues over empty arrays, so a later step than its own may have ended. A count or size of -1 is null.
"""

RUN: Final = 0
ARRAY: Final = 1
BLOB: Final = 2


class Step(NamedTuple):
    """A part of a streamed message."""

    walk: StepFunction
    kind: int
    """What follows it: RUN, nothing; ARRAY, elements walked by `plan`; BLOB, bytes that need no look."""
    plan: tuple[Step, ...]


class StreamLayout(NamedTuple):
    """The plan for walking a response as it arrives, up to the section with its node endpoints."""

    plan: tuple[Step, ...]
    endpoints: WalkFunction
    """Walks the array of endpoints."""
    tag: int | None
    """The endpoints' tag; None when they are an ordinary field before the tagged section."""


def uvarint_at(buf: Buffer, pos: int) -> tuple[int, int]:
    """Do the same as `read_uvarint`, but fast for up to three bytes, which suffice for most sizes of records."""
    first = buf[pos]
    if first < 0x80:
        return first, pos + 1
    second = buf[pos + 1]
    if second < 0x80:
        return first & 0x7F | second << 7, pos + 2
    third = buf[pos + 2]
    if third < 0x80:
        return first & 0x7F | (second & 0x7F) << 7 | third << 14, pos + 3
    return read_uvarint(buf, pos)


def skip_tags(buf: Buffer, pos: int, end: int) -> int:
    """Return the position behind a section of tagged fields."""
    count, pos = read_uvarint(buf, pos)
    for _ in range(count):
        _, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        pos += size
        if pos > end:
            raise not_at_end()
    return pos


def no_length(length: int) -> MalformedMessageError:
    """Return the error for an impossible length or count."""
    return MalformedMessageError(f"a length of {length}")


def not_at_end() -> MalformedMessageError:
    """Return the error for a message with fields that do not end at its end."""
    return MalformedMessageError("the fields do not end where the message does")
