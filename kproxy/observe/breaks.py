"""Breaks of a thread that writes a page, so that it does not delay the relay.

The threads that write /metrics and /metrics/clients take them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

Item = TypeVar("Item")

_SLICE: Final = 0.00005
_BREAK: Final = 0.0001
"""Seconds that a page is written for (`_SLICE`), and seconds that the thread sleeps then.

Without breaks the thread delays the relay at each of its socket calls: they release the interpreter, and get it back
when the switch interval is over, so that a request takes milliseconds longer.
"""
_BREAKS: Final = 1.5
"""The most seconds of all breaks of a page: Prometheus waits for ten."""


class Breaks:
    """The breaks of a thread that works for long."""

    def __init__(self) -> None:
        self._left = _BREAKS
        self._due = time.perf_counter() + _SLICE

    def take(self) -> None:
        """Sleep if a break is due, so that others get the interpreter."""
        now = time.perf_counter()
        if now < self._due or self._left <= 0:
            return
        time.sleep(_BREAK)  # noqa: TID251 - a worker thread's, with nothing to wait for
        ended = time.perf_counter()
        self._left -= ended - now
        self._due = ended + _SLICE

    def between(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, with a break before each one for which it is due."""
        for item in items:
            self.take()
            yield item
