"""Threads that do something again and again until the soak is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

REFUSALS = (OSError, EOFError)
"""What happens to clients that kproxy closes or refuses; http.client's errors of that kind are among them."""


class Loop:
    """Calls `act` every `every` seconds in a thread, for the first time after `first` seconds.

    `close` is called at the end. A refusal is counted; another exception is kept and ends it.
    """

    def __init__(
        self,
        name: str,
        act: Callable[[], object],
        every: float,
        first: float = 0.0,
        close: Callable[[], object] = lambda: None,
    ) -> None:
        self.name = name
        self.done = self.refused = 0
        self.error: Exception | None = None
        self._act, self._every, self._first = act, every, first
        self._close = close
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the present call, and close what it has open."""
        self._over.set()
        self._thread.join(30)
        self._close()

    def _run(self) -> None:
        due = time.monotonic() + self._first
        while not self._over.wait(max(0.0, due - time.monotonic())):
            due = max(due + self._every, time.monotonic())
            try:
                self._act()
                self.done += 1
            except REFUSALS:
                self.refused += 1
            except Exception as error:  # told by the verdict
                self.error = error
                return


class Loops:
    """Many of them, running inside the context."""

    def __init__(self, loops: Iterable[Loop]) -> None:
        self.all = tuple(loops)

    def __enter__(self) -> Self:
        for loop in self.all:
            loop.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for loop in self.all:
            loop.stop()
