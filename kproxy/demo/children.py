"""The demo's child processes: each has a log file, which the demo reads as it grows.

The mock cluster, kproxy and the clients are such processes; the demo kills them at its end.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final, Self

from kproxy.local_kafka.processes import ToolError, kill_group, spawn, wait_until

_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """A signal asked the demo to end. Not an Exception, so that no handler of failures catches it and goes on."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number.name)
        self.number = number


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Inside, the first signal raises `Stopped` in the main thread; later ones are ignored during the cleanup."""

    def stop(number: int, _frame: FrameType | None) -> None:
        for ending in _ENDING:
            signal.signal(ending, signal.SIG_IGN)
        raise Stopped(signal.Signals(number))

    before = {ending: signal.signal(ending, stop) for ending in _ENDING}
    try:
        yield
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)


_LONGEST = 300


class Child:
    """A Python module as a process; the end of its context kills it, whatever happened.

    Args:
        name: the name for messages.
        arguments: the interpreter's arguments, as `-m` and a module.
        log: the file for both outputs; it is emptied first.
    """

    def __init__(self, name: str, arguments: Sequence[str], log: Path) -> None:
        self.name = name
        self.log = log
        log.write_bytes(b"")
        self._read = 0
        self._process = spawn([sys.executable, *arguments], log, env=_without_settings())

    @property
    def pid(self) -> int:
        return self._process.pid

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the JSON lines that are new since the last call; the log's other lines are for people."""
        with self.log.open("rb") as log:
            log.seek(self._read)
            whole, newline, _ = log.read().rpartition(b"\n")
        self._read += len(whole) + len(newline)
        for line in whole.splitlines():
            if line.startswith(b"{"):
                yield json.loads(line)

    def check(self, grace: float = 0.0) -> None:
        """Raise ToolError when the process has ended, or ends within `grace` seconds."""
        try:
            code = self._process.wait(grace)
        except subprocess.TimeoutExpired:
            return
        raise ToolError(f"{self.name} ended early, {_exit(code)}{self._last_words()} (see {self.log})")

    def wait_until(self, happened: Callable[[], bool], what: str, timeout: float) -> None:
        """Do as `processes.wait_until` for this process."""
        try:
            wait_until(happened, f"{self.name}: {what}", timeout=timeout, process=self._process)
        except ToolError as error:
            raise ToolError(f"{error}{self._last_words()} (see {self.log})") from None

    def end(self, timeout: float) -> int:
        """Send SIGTERM and return the exit code. Raise ToolError when it takes longer than `timeout` seconds."""
        self._process.terminate()
        return self.wait(timeout)

    def wait(self, timeout: float) -> int:
        """Wait for the exit code. Raise ToolError when it takes longer than `timeout` seconds."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise ToolError(f"{self.name} did not end within {timeout:.0f} s (see {self.log})") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        kill_group(self._process)

    def _last_words(self) -> str:
        """Return the last line that is neither JSON nor of librdkafka's log, if there is one: mostly an exception."""
        lines = self.log.read_text(errors="replace").splitlines()
        words = [line.strip() for line in lines if line.strip() and line[0] not in "{%"]
        return f": {words[-1][:_LONGEST]}" if words else ""


def _exit(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"


def _without_settings() -> dict[str, str]:
    """Return the environment without KPROXY_ variables: they are for another kproxy, the demo uses flags."""
    return {name: value for name, value in os.environ.items() if not name.startswith("KPROXY_")}
