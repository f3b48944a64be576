"""Writes a day as kproxy's `files` receiver and its event stream do, by their own code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kproxy.delivery.files import Segment
from kproxy.demo.fleet.curves import DAY, HOUR
from kproxy.demo.fleet.day import Day
from kproxy.demo.fleet.model import PROXIES
from kproxy.observe.events import encode
from kproxy.telemetry.receivers.json_lines import lines

Progress = Callable[[float], None]
"""Is told which part of the day is written."""
_MEMBER: Final = 2**20
"""Bytes of lines that make a gzip member."""
_AGE: Final = HOUR
"""Seconds of the day in one file."""


def write_pushes(day: Day, directory: Path, progress: Progress) -> int:
    """Write the pushes of a day; return how many they are. Raises OSError."""
    count = 0
    with _files(directory, "telemetry", day.epoch) as files:
        for proxy, push in day.pushes():
            at, constant = push.received_at - day.epoch, {"cluster": day.fleet.cluster, "proxy": proxy}
            files[proxy].add(at, b"".join(line for line in lines(push, constant) if line))
            count += 1
            if not count % _TOLD:
                progress(at / DAY)
    return count


_TOLD: Final = 500


def write_events(day: Day, directory: Path, progress: Progress) -> int:
    """Write the events of a day; return how many they are. Raises OSError."""
    count = 0
    with _files(directory, "events", day.epoch) as files:
        for at, proxy, event in day.events():
            files[proxy].add(at, encode(event, day.epoch + at, proxy, day.fleet.cluster, count).payload + b"\n")
            count += 1
            if not count % _TOLD:
                progress(at / DAY)
    return count


@contextmanager
def _files(directory: Path, prefix: str, epoch: float) -> Iterator[dict[str, _Files]]:
    every = {proxy: _Files(directory / proxy, prefix, epoch) for proxy in PROXIES}
    try:
        yield every
        for each in every.values():
            each.finish()
    finally:
        for each in every.values():
            each.close()


@dataclass(slots=True)
class _Files:
    """The files of one kproxy, one for each hour of the day."""

    directory: Path
    prefix: str
    epoch: float
    _hour: int = 0
    _segment: Segment | None = None
    _waiting: list[bytes] = field(default_factory=list)
    _size: int = 0

    def add(self, at: float, data: bytes) -> None:
        """Write lines of a time of the day."""
        if int(at // _AGE) != self._hour:
            self.finish()
            self._hour = int(at // _AGE)
        self._waiting.append(data)
        self._size += len(data)
        if self._size >= _MEMBER:
            self._append()

    def _append(self) -> None:
        if self._segment is None:
            self._segment = Segment(self.directory, self.prefix, self.epoch + self._hour * _AGE)
        self._segment.append(b"".join(self._waiting))
        self._waiting.clear()
        self._size = 0

    def finish(self) -> None:
        """Complete the file of the hour."""
        if self._waiting:
            self._append()
        if self._segment is not None:
            self._segment.finish()
            self._segment = None

    def close(self) -> None:
        """Leave an unfinished file as it is."""
        if self._segment is not None:
            self._segment.close()
