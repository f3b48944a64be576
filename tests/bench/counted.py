"""Counts what the relay does, not how long it takes: the same on every machine, however busy."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

import kproxy

_SOURCES: Final = str(Path(kproxy.__file__).parent)
_WAITING: Final = frozenset({"_serve", "_relay", "_round", "_sweep"})
"""The pump's own coroutines and their step: how often they run depends on time."""


class Work:
    """`builtins` are calls from kproxy's code into C by qualified name, `functions` calls of kproxy's own functions."""

    def __init__(self) -> None:
        self.builtins: Counter[str] = Counter()
        self.functions: Counter[str] = Counter()

    def note(self, frame: FrameType, event: str, what: Any) -> None:
        """Count an event as `sys.setprofile` gives it."""
        code = frame.f_code
        if not code.co_filename.startswith(_SOURCES):
            return
        if event == "c_call":
            self.builtins[what.__qualname__] += 1
        elif event == "call" and code.co_name not in _WAITING:
            self.functions[code.co_qualname] += 1


@contextmanager
def counted() -> Iterator[Work]:
    """Count what kproxy's code does in this thread."""
    work = Work()
    sys.setprofile(work.note)
    try:
        yield work
    finally:
        sys.setprofile(None)
