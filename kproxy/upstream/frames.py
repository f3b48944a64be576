# This module is pure (no I/O, no clock).
"""Cuts a connection's stream into whole response frames, and finds the requests that they answer, in order.

`Connection` (kproxy.upstream.connection) feeds it all bytes that come from a broker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

from kproxy.errors import MalformedMessageError

SIZE_BYTES: Final = 4
_SMALLEST: Final = 4  # a response has at least its correlation id


class FrameSplitter:
    """Cuts received bytes into frames; a size is checked once its four bytes are there, before its body is kept."""

    __slots__ = ("_buffer", "_max_size")

    def __init__(self, max_size: int) -> None:
        self._buffer = bytearray()
        self._max_size = max_size

    @property
    def pending(self) -> int:
        """Bytes of an incomplete frame: at the stream's end they distinguish a torn frame from a clean end."""
        return len(self._buffer)

    def feed(self, data: bytes | bytearray) -> Iterator[bytes]:
        """Yield the frames (without their size) that `data` completes. MalformedMessageError for an impossible size."""
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


T = TypeVar("T")

_LAST_ID: Final = 2**31 - 1


class InFlight(Generic[T]):
    """A FIFO of unanswered requests; `T` is what the caller keeps for each."""

    __slots__ = ("_next_id", "_queue")

    def __init__(self, first_id: int = 0) -> None:
        self._next_id = first_id
        self._queue: deque[tuple[int, T]] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def push(self, item: T) -> int:
        """Add a request; return its correlation id, unique among those in flight."""
        correlation_id = self._next_id
        self._next_id = 0 if correlation_id == _LAST_ID else correlation_id + 1
        self._queue.append((correlation_id, item))
        return correlation_id

    def answered(self, correlation_id: int) -> T:
        """Remove and return the oldest request; raise MalformedMessageError when the response answers another one."""
        if not self._queue:
            raise MalformedMessageError(f"a response with correlation id {correlation_id} to no request")
        expected, item = self._queue[0]
        if correlation_id != expected:
            raise MalformedMessageError(f"a response with correlation id {correlation_id} where {expected} is due")
        self._queue.popleft()
        return item

    def drain(self) -> list[T]:
        """Remove and return all requests, oldest first; none of them will be answered any more."""
        items = [item for _, item in self._queue]
        self._queue.clear()
        return items
