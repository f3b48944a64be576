"""Lanes: how many pages and how many commands the admin port works on at a time. Further ones wait, or get a 503.

`Connection` enters the lane of each request that is no probe, and leaves it when the response is out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

import trio

from kproxy.admin.message import HttpError


class Lane:
    """At most `limit` requests of one kind at a time.

    `queue` others wait, each for at most `seconds`, in the order of coming.
    """

    def __init__(self, name: str, limit: int, queue: int, seconds: float) -> None:
        """`name` is the kind, for people: "pages"."""
        self._name = name
        self._limit = limit
        self._queue = queue
        self._seconds = seconds
        self._free = trio.Semaphore(limit)

    @property
    def wanted(self) -> bool:
        """Whether a request waits for another one to leave."""
        return self._free.statistics().tasks_waiting > 0

    @asynccontextmanager
    async def entered(self) -> AsyncIterator[None]:
        """Be in the lane during the block; raises `HttpError` 503 when too many wait, or nobody leaves in time."""
        if self._free.statistics().tasks_waiting >= self._queue:
            raise self._refusal(f"{self._queue} wait")
        with trio.move_on_after(self._seconds) as patience:
            await self._free.acquire()
        if patience.cancelled_caught:
            raise self._refusal(f"none ended within {self._seconds:g} s")
        try:
            yield
        finally:
            self._free.release()

    def _refusal(self, why: str) -> HttpError:
        reason = f"{self._limit} {self._name} are under way, and {why}"
        return HttpError(HTTPStatus.SERVICE_UNAVAILABLE, reason, {"Retry-After": "1"})
