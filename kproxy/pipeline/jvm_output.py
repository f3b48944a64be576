"""What Spark's JVM says on standard error: of its start only what went wrong, later everything.

While it starts, it tells how it fetches its jars and which defaults it uses, in some fifty lines.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_STDERR: Final = 2
_KEPT: Final = 1000  # lines
_UNRESOLVED: Final = re.compile(r"unresolved dependency: ([^;\]]+);([^:\]]+)")
_THROWN: Final = re.compile(r'^(?:Exception in thread "main" )?(?:[\w.$]+(?:Exception|Error): |Error: )(.+)$')


class JvmOutput:
    """Reads lines from a JVM; it keeps those of the start, and passes on those after it."""

    def __init__(self, source: int, destination: int) -> None:
        """Both are file descriptors, which this object closes in the end."""
        self._source, self._destination = source, destination
        self._started = threading.Event()
        self._lines: list[str] = []
        self._thread = threading.Thread(target=self._read, name="jvm-output", daemon=True)
        self._thread.start()

    def started(self) -> None:
        """Pass on all that comes from now on."""
        self._started.set()
        self._lines.clear()

    def failure(self) -> str | None:
        """Return why the JVM ended, in one line, as far as it said so; call it once it has ended."""
        self._thread.join(5)
        said = list(self._lines)
        missing = [f"{match[1].replace('#', ':')}:{match[2]}" for line in said if (match := _UNRESOLVED.search(line))]
        if missing:
            return f"it cannot fetch {missing[0]} from Maven Central"
        return next((match[1] for line in said if (match := _THROWN.match(line))), None)

    def _read(self) -> None:
        with open(self._source, "rb") as source, open(self._destination, "wb", buffering=0) as destination:
            for line in source:
                if self._started.is_set():
                    destination.write(line)
                elif len(self._lines) < _KEPT:
                    self._lines.append(line.decode("utf-8", "replace").rstrip())


@contextmanager
def captured() -> Iterator[JvmOutput]:
    """Give processes that are started meanwhile a standard error that `JvmOutput` reads."""
    before = os.dup(_STDERR)
    source, end = os.pipe()
    os.dup2(end, _STDERR)
    os.close(end)
    output = JvmOutput(source, os.dup(before))
    try:
        yield output
    finally:
        os.dup2(before, _STDERR)
        os.close(before)
