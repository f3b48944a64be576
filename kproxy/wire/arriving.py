# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""The base of walks over a frame that is held until it is complete: each takes every byte once, as the bytes arrive.

The relay makes one for a frame of an API whose policy asks for it, and has it look at each read. So the work of a large
frame is spread over its reads, between which other connections have their turn.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Final

from kproxy.errors import MalformedMessageError
from kproxy.wire.primitives import MAX_STRING, Buffer
from kproxy.wire.walk import no_length, uvarint_at

_SHORT: Final = 0x80


class ArrivingWalk(metaclass=ABCMeta):
    """Goes through a frame item by item. An item is a few fields that are read at once, such as a name and its length.

    A subclass has `_step`, which is called for each item, and `_over`, which it sets behind the last item of interest.
    """

    __slots__ = ("_at", "_over", "_tags")

    def __init__(self) -> None:
        self._at = 0  # behind the last item; it may lie beyond the bytes that are there
        self._over = False
        self._tags = 0  # tagged fields still to come in the present section

    @property
    def kept(self) -> int:
        """The bytes that are kept of what was seen, apart from the frame. They count as held, as the frame's do."""
        return 0

    def look(self, buf: Buffer, pos: int, end: int) -> None:
        """Walk on over what has arrived: the frame's bytes behind its size, from `pos` to `end`.

        Raises `MalformedMessageError` for bytes that are no such message.
        """
        start = pos + self._at
        if self._over or start >= end:
            return
        data = bytes(memoryview(buf)[start:end])
        at, size = 0, len(data)
        try:
            while at < size and not self._over:
                at = self._tag(data, at) if self._tags else self._step(data, at)
        except IndexError:  # the item is not all there
            pass
        self._at += at

    def finish(self, size: int) -> None:
        """Raise `MalformedMessageError` if the frame, all of whose `size` bytes were looked at, ended too early."""
        if not self._over or self._at > size:
            raise MalformedMessageError(f"the message does not end within its {size} bytes")

    @abstractmethod
    def _step(self, data: bytes, pos: int) -> int:
        """Take the item at `pos`; return the position behind it. `IndexError` where it is not all there."""

    def _tag(self, data: bytes, pos: int) -> int:
        """Take one tagged field."""
        _, pos = number_at(data, pos)
        size, pos = number_at(data, pos)
        self._tags -= 1
        return pos + size


def number_at(data: bytes, pos: int) -> tuple[int, int]:
    """Return the unsigned varint at `pos`, and the position behind it; compiled, no object is made for a short one."""
    first = data[pos]
    return (first, pos + 1) if first < _SHORT else uvarint_at(data, pos)


def length_at(data: bytes, pos: int, flexible: bool) -> tuple[int, int]:
    """Return the length of a string at `pos`, -1 for null, and the position behind the length."""
    if flexible:
        length, pos = number_at(data, pos)
        length -= 1
    else:
        length = data[pos] << 8 | data[pos + 1]
        pos += 2
        if length > MAX_STRING:
            length -= 0x10000
    if not -1 <= length <= MAX_STRING:
        raise no_length(length)
    return length, pos


def behind_string(data: bytes, pos: int, flexible: bool) -> int:
    """Return the position behind the string at `pos`, which may be null."""
    length, pos = length_at(data, pos, flexible)
    return pos + length if length > 0 else pos


def count_at(data: bytes, pos: int, flexible: bool) -> tuple[int, int]:
    """Return how many elements the array at `pos` has, 0 if it is null, and the position of the first."""
    if flexible:
        count, pos = number_at(data, pos)
        count -= 1
    else:
        count = data[pos] << 24 | data[pos + 1] << 16 | data[pos + 2] << 8 | data[pos + 3]
        pos += 4
        if count >= 1 << 31:
            count -= 1 << 32
    if count < -1:
        raise no_length(count)
    return max(count, 0), pos


def text_at(data: bytes, pos: int, flexible: bool) -> tuple[bytes, int]:
    """Return the string at `pos`, b"" if it is null, and the position behind it; `IndexError` where it is cut."""
    length, pos = length_at(data, pos, flexible)
    if length < 1:
        return b"", pos
    if pos + length > len(data):
        raise IndexError("a string is not all there")
    return data[pos : pos + length], pos + length
