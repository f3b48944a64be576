# This module is pure.
"""From a stream's chunks to whole response frames, never more than a set size in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kproxy.errors import MalformedMessageError

SIZE_BYTES: Final = 4
_SMALLEST: Final = 4  # a response has at least its correlation id


class FrameSplitter:
    """Cuts what arrives into frames; a size is judged as soon as its four bytes are there, before its body is kept."""

    __slots__ = ("_buffer", "_max_size")

    def __init__(self, max_size: int) -> None:
        self._buffer = bytearray()
        self._max_size = max_size

    @property
    def pending(self) -> int:
        """Bytes of a frame that is not whole yet: at the stream's end this tells a clean end from a torn frame."""
        return len(self._buffer)

    def feed(self, data: bytes | bytearray) -> Iterator[bytes]:
        """The frames (without their size) that `data` completes. MalformedMessageError for an impossible size."""
        self._buffer += data
        while len(self._buffer) >= SIZE_BYTES:
            size = self._size()
            if len(self._buffer) < SIZE_BYTES + size:
                return
            frame = bytes(memoryview(self._buffer)[SIZE_BYTES : SIZE_BYTES + size])
            del self._buffer[: SIZE_BYTES + size]
            yield frame

    def _size(self) -> int:
        size = int.from_bytes(self._buffer[:SIZE_BYTES], "big", signed=True)
        if not _SMALLEST <= size <= self._max_size:
            raise MalformedMessageError(
                f"a response of {size} bytes, where {_SMALLEST} to {self._max_size} are allowed"
            )
        return size
