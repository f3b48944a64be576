"""Starts child processes that never outlive this one, waits for them with a deadline, and keeps two from one work.

Local brokers, the demo's processes and the tests' servers are started by it.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from kproxy.errors import KproxyError

Tick = Callable[[], None]
"""Called at every poll of a wait; it may raise to end the wait, as `trio.from_thread.check_cancelled` does."""

_TETHER = str(Path(__file__).with_name("tether.py"))


class ToolError(KproxyError):
    """A tool beside kproxy (Java, Maven, Kafka) is missing or failed: which one, and what to do."""


def no_tick() -> None:
    """Do nothing: the wait ends at its deadline only."""


def spawn(command: Sequence[str], output: Path, *, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start `command` in a process group of its own; append both its outputs to `output`.

    The kernel kills the process when the *thread* that called this ends: call it from the main thread.
    """
    with output.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", _TETHER, str(os.getpid()), *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=env,
            process_group=0,
        )


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to the process and all its children; do nothing when they are gone."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole group with SIGKILL, even a stopped one, and reap the process."""
    signal_group(process, signal.SIGKILL)
    process.wait()


def wait_until(
    happened: Callable[[], bool], what: str, *, timeout: float, tick: Tick = no_tick, process: subprocess.Popen[bytes]
) -> None:
    """Poll `happened` until it is true; `timeout` in seconds.

    Raises:
        ToolError: the process ended, or the deadline passed, before it happened.
    """
    deadline = time.monotonic() + timeout
    while not happened():
        tick()
        if time.monotonic() > deadline:
            raise ToolError(f"{what}: not within {timeout:.0f} s")
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        if not happened():
            raise ToolError(f"{what}: the process ended with exit code {process.returncode}")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file beside `path`: one process works, the others wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
