"""Makes a page once for all who ask for it at the same time, as many scrapers do at once, or one that is impatient.

`/metrics` is such a page: it takes a thread and up to a second of its time, and there is one thread for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

import trio

Page = TypeVar("Page")

MANY: Final = 16
"""Who asks while so many wait gets the last page at once: no scraper has to wait for the place of all others'."""
OLD: Final = 5.0
"""Seconds from when a page was begun until nobody gets it any more."""


class _Making(Generic[Page]):
    def __init__(self) -> None:
        self.done = trio.Event()
        self.waiting = 1
        self.made: list[Page] = []
        """The page, when it is done; none if whoever made it was cancelled or failed."""


class SharedPage(Generic[Page]):
    """One page at a time is made; everyone who asked before it was begun gets the same one."""

    def __init__(self) -> None:
        self._one = trio.CapacityLimiter(1)
        self._next: dict[Hashable, _Making[Page]] = {}
        """The pages that are not begun yet, by form."""
        self._last: dict[Hashable, tuple[float, Page]] = {}
        """Pages for which many waited, and when each was begun; by form."""

    async def get(self, form: Hashable, make: Callable[[], Awaitable[Page]]) -> Page:
        """Return a page of this form that is begun from now on; an older one while many wait.

        `make` makes one. Raises what `make` raises.
        """
        while (making := self._next.get(form)) is not None:
            last = self._last.get(form)
            if making.waiting >= MANY and last is not None and trio.current_time() - last[0] < OLD:
                return last[1]
            making.waiting += 1
            await making.done.wait()
            if making.made:
                return making.made[0]
        making = self._next[form] = _Making()
        try:
            async with self._one:
                del self._next[form]
                begun = trio.current_time()
                making.made.append(await make())
        finally:
            if self._next.get(form) is making:
                del self._next[form]
            making.done.set()
        self._last.pop(form, None)
        if making.waiting >= MANY:
            self._last[form] = begun, making.made[0]
        return making.made[0]
