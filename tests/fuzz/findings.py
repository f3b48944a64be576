"""Runs one input within its bounds, and keeps what a target found: one small input for each different fault."""

from __future__ import annotations

import os
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.fuzz.script import Script, decode
from tests.fuzz.targets.target import Target, ViolationError, run

MOST_SECONDS: Final = 0.25
"""The CPU time that an input may take. The code is instrumented for coverage: what takes 10 ms takes 100 here."""
MOST_BYTES: Final = 64 << 20
"""The resident memory that an input may add."""
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_MINIMISED_WITHIN: Final = 20.0


class SlowError(ViolationError):
    """An input took too long."""


class LargeError(ViolationError):
    """An input took too much memory."""


def bounded(target: Target, data: bytes) -> None:
    """Run an input; raise what the target raises, `SlowError`, or `LargeError`."""
    before, took = _resident(), _seconds(target, data)
    if took > MOST_SECONDS and (took := min(_seconds(target, data) for _ in range(2))) > MOST_SECONDS:
        raise SlowError(f"{len(data)} bytes took {took:.2f} s of CPU")
    if (grown := _resident() - before) > MOST_BYTES:
        raise LargeError(f"{len(data)} bytes took {grown >> 20} MiB")


def _seconds(target: Target, data: bytes) -> float:
    begun = time.process_time()
    run(target, data)
    return time.process_time() - begun


def _resident() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * _PAGE


class Findings:
    """The faults found, each in a file of its own in `directory`, with its traceback beside it."""

    def __init__(self, target: Target, directory: Path) -> None:
        self.counts: Counter[str] = Counter()
        self._target = target
        self._directory = directory

    def take(self, data: bytes) -> None:
        """Run an input; if it is the first with its fault, make it small and keep it."""
        try:
            bounded(self._target, data)
        except Exception as error:  # whatever comes out is a finding
            name = named(error)
            self.counts[name] += 1
            if self.counts[name] == 1:
                self._keep(name, smallest(data, lambda smaller: self._fault(smaller) == name))

    def _fault(self, data: bytes) -> str | None:
        try:
            bounded(self._target, data)
        except Exception as error:  # as above
            return named(error)
        return None

    def _keep(self, name: str, data: bytes) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        (self._directory / f"{name}.bin").write_bytes(data)
        try:
            bounded(self._target, data)
        except Exception as error:  # as above
            (self._directory / f"{name}.txt").write_text("".join(traceback.format_exception(error)))


def named(error: Exception) -> str:
    """Return a name for the fault: the exception, and where in kproxy it came from, else what it says."""
    own = [each for each in traceback.extract_tb(error.__traceback__) if "/kproxy/" in each.filename]
    if own and not isinstance(error, SlowError | LargeError):
        where = f"{Path(own[-1].filename).stem}.{own[-1].name}"
    else:
        where = "-".join("".join(c if c.isalpha() else " " for c in str(error)).split()[:12])
    return f"{type(error).__name__}-{where}"


def smallest(data: bytes, still: Callable[[bytes], bool]) -> bytes:
    """Return a smaller input for which `still` is true, as small as can be found in some seconds."""
    until = time.monotonic() + _MINIMISED_WITHIN
    best, before = data, b""
    while best != before and time.monotonic() < until:
        before = best
        best = _without_steps(best, still, until)
        best = _with_shorter_steps(best, still, until)
    return best


def _without_steps(data: bytes, still: Callable[[bytes], bool], until: float) -> bytes:
    script = decode(data)
    for at in reversed(range(len(script.steps))):
        fewer = Script(script.settings, (*script.steps[:at], *script.steps[at + 1 :]))
        if time.monotonic() < until and still(fewer.encode()):
            script = fewer
    return script.encode() if still(script.encode()) else data


def _with_shorter_steps(data: bytes, still: Callable[[bytes], bool], until: float) -> bytes:
    script = decode(data)
    for at, step in enumerate(script.steps):
        size = len(step.data) // 2
        while size and time.monotonic() < until:
            pos = 0
            while pos < len(script.steps[at].data) and time.monotonic() < until:
                present = script.steps[at]
                shorter = present._replace(data=present.data[:pos] + present.data[pos + size :])
                tried = Script(script.settings, (*script.steps[:at], shorter, *script.steps[at + 1 :]))
                if still(tried.encode()):
                    script = tried
                else:
                    pos += size
            size //= 2
    return script.encode() if still(script.encode()) else data
