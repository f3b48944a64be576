"""Clients that live as long as a service: one process with several roles, which reports each record by a JSON line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from kproxy.local_kafka.processes import kill_group, spawn
from tests.support.libraries import Library, Role


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a role did: `at` in seconds since the Unix epoch, `seconds` is how long an answer took."""

    at: float
    who: str
    event: str
    value: str = ""
    seconds: float = 0.0


@dataclass
class LongLived:
    """A library's process with its roles by name; it is killed at the end, as it never ends by itself."""

    library: Library
    roles: Mapping[str, Role]
    directory: Path
    _process: subprocess.Popen[bytes] | None = field(init=False, default=None)
    _events: list[Event] = field(init=False, default_factory=list)
    _read: int = field(init=False, default=0)

    @property
    def log(self) -> Path:
        """The file of its output: the lines, and what the library itself logs."""
        return self.directory / f"{self.library.label}.log"

    def events(self, who: str, *events: str) -> list[Event]:
        """Return what a role did so far, in order; fails when the process has ended."""
        assert self._process is not None
        assert self._process.poll() is None, f"{self.library.label} ended by itself:\n{self.tail()}"
        self._catch_up()
        return [one for one in self._events if one.who == who and one.event in events]

    def tail(self, length: int = 3000) -> str:
        """Return the end of its output."""
        return self.log.read_text(errors="replace")[-length:]

    def _catch_up(self) -> None:
        with self.log.open("rb") as log:
            log.seek(self._read)
            whole, _, _ = log.read().rpartition(b"\n")
        self._read += len(whole) + bool(whole)
        for line in whole.splitlines():
            if line.startswith(b'{"at"'):
                self._events.append(Event(**json.loads(line)))

    def __enter__(self) -> Self:
        self._process = spawn(self.library.command(self.roles, self.directory), self.log)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            kill_group(self._process)
