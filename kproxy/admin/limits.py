"""What one client of the admin port may take: sizes, deadlines, and how many clients there are at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import trio


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes and seconds. `idle_seconds` is above a minute, so that Prometheus keeps its connection between scrapes."""

    connections: int = 64
    header_bytes: int = 16 * 1024
    body_bytes: int = 64 * 1024
    idle_seconds: float = 120
    request_seconds: float = 10
    response_seconds: float = 30
    linger_seconds: float = 1


class Slots:
    """At most `limit` connections; a new one takes the place of the one that is idle longest, if there is one.

    So clients that hold connections open cannot keep the kubelet's probes out.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken = 0
        self._idle: dict[trio.CancelScope, None] = {}

    @contextmanager
    def taken(self) -> Iterator[bool]:
        """Whether there is room; the slot is held inside of the block."""
        room = self._taken < self._limit or self._evict()
        self._taken += room
        try:
            yield room
        finally:
            self._taken -= room

    @contextmanager
    def idle(self, seconds: float) -> Iterator[trio.CancelScope]:
        """A block that waits for a client; it ends after `seconds`, or when the slot is needed."""
        with trio.move_on_after(seconds) as scope:
            self._idle[scope] = None
            try:
                yield scope
            finally:
                self._idle.pop(scope, None)

    def _evict(self) -> bool:
        for scope in self._idle:
            del self._idle[scope]
            scope.cancel()
            return True
        return False
