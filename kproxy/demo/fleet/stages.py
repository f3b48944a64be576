"""Shows how far the sample is: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn


class Stages:
    """Measures what is done, one after the other; a context manager around all of it."""

    def __init__(self) -> None:
        self.took: dict[str, float] = {}
        """Seconds by stage, as far as they are done."""
        self._name: str | None = None
        self._began = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._next(None)

    def begin(self, name: str) -> None:
        """The stage before is done, and the next one begins."""
        self._next(name)

    def part(self, done: float) -> None:
        """This part of the present stage is done, from 0 to 1."""

    def _next(self, name: str | None) -> str | None:
        """Note how long the present stage took; return its name."""
        before, now = self._name, time.monotonic()
        if before is not None:
            self.took[before] = now - self._began
        self._name, self._began = name, now
        return before


def stages(console: Console) -> Stages:
    """Return what suits the output."""
    return _Bars(console) if console.is_terminal and not console.is_dumb_terminal else _Lines(console)


class _Lines(Stages):
    """A line at the beginning of each stage, and one at its end."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def _next(self, name: str | None) -> str | None:
        if (before := super()._next(name)) is not None:
            self._console.print(f"{before}: {self.took[before]:.0f} s")
        if name is not None:
            self._console.print(f"{name} …")
        return before


class _Bars(Stages):
    """A bar for each stage; one that moves while nobody knows how much is done."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        columns = (SpinnerColumn(finished_text="✓"), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console)
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        super().__exit__(kind)
        self._progress.stop()

    def part(self, done: float) -> None:
        if self._task is not None:
            self._progress.update(self._task, total=1.0, completed=done)

    def _next(self, name: str | None) -> str | None:
        self.part(1.0)
        self._task = None if name is None else self._progress.add_task(name, total=None)
        return super()._next(name)
