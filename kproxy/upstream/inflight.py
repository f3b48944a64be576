# This module is pure.
"""The requests under way on one connection, in the order sent: the order in which a broker answers."""

from __future__ import annotations

from collections import deque
from typing import Final, Generic, TypeVar

from kproxy.errors import MalformedMessageError

T = TypeVar("T")

_LAST_ID: Final = 2**31 - 1


class InFlight(Generic[T]):
    """A FIFO of requests without their answers yet; `T` is whatever the caller keeps for each."""

    __slots__ = ("_next_id", "_queue")

    def __init__(self, first_id: int = 0) -> None:
        self._next_id = first_id
        self._queue: deque[tuple[int, T]] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def push(self, item: T) -> int:
        """Adds a request; its correlation id, unique among those in flight."""
        correlation_id = self._next_id
        self._next_id = 0 if correlation_id == _LAST_ID else correlation_id + 1
        self._queue.append((correlation_id, item))
        return correlation_id

    def answered(self, correlation_id: int) -> T:
        """Removes and returns the oldest request; raises MalformedMessageError when the response is not to that one."""
        if not self._queue:
            raise MalformedMessageError(f"a response with correlation id {correlation_id} to no request")
        expected, item = self._queue[0]
        if correlation_id != expected:
            raise MalformedMessageError(f"a response with correlation id {correlation_id} where {expected} is due")
        self._queue.popleft()
        return item

    def drain(self) -> list[T]:
        """Removes and returns all that will not be answered any more, oldest first."""
        items = [item for _, item in self._queue]
        self._queue.clear()
        return items
