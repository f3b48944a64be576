"""A thread beside a test, from the beginning of a `with` block to its end."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Beside(ABC):
    """Runs `_run` in a thread; the end of the block sets `_done`, and waits for the thread."""

    def __init__(self, name: str) -> None:
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    @abstractmethod
    def _run(self) -> None:
        """Work until `_done` is set."""
