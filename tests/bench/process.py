"""A process under measurement: start it, wait for it, read the CPU time and the memory of it and its children."""

from __future__ import annotations

import resource
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kproxy.local_kafka.processes import kill_group, signal_group, spawn
from tests.support.proc import family, rss_bytes

Address = tuple[str, int]


class BenchError(Exception):
    """A measurement could not be taken; the text says why in one line."""


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 30, every: float = 0.005) -> float:
    """Poll until the condition holds; returns the seconds it took. Raises BenchError when the time is over."""
    start = time.perf_counter()
    while not condition():
        if time.perf_counter() - start > seconds:
            raise BenchError(f"{what}: not within {seconds:.0f} s")
        threading.Event().wait(every)
    return time.perf_counter() - start


def rss_kib(pid: int) -> float:
    """Resident memory of the process and all its children."""
    return sum(rss_bytes(member) for member in family(pid)) / 1024


def settled_rss_kib(pid: int, seconds: float = 5) -> float:
    """Return resident memory once it has not changed for half a second, or at the end of the given time."""
    readings = [-1.0]

    def still() -> bool:
        readings.append(rss_kib(pid))
        return readings[-1] == readings[-2]

    try:
        wait_until(still, "steady memory", seconds, every=0.5)
    except BenchError:
        pass  # it still moves a little: the last reading is as good as any
    return readings[-1]


@contextmanager
def running(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command that dies with this process, its output in a file; SIGTERM at the end, SIGKILL 15 s later."""
    process = spawn(command, log)
    try:
        yield process
    finally:
        signal_group(process, signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            pass
        kill_group(process)


def wait_serving(process: subprocess.Popen[bytes], serves: Callable[[], bool], what: str, log: Path) -> float:
    """Wait until the process serves; return the seconds. Raises BenchError with the end of its log when it ends."""
    seconds = wait_until(lambda: process.poll() is not None or serves(), what, every=0.002)
    if process.poll() is not None:
        raise BenchError(f"{what}: it ended with {process.returncode}: {log.read_text()[-500:].strip()}")
    return seconds


def accepts(address: Address) -> bool:
    """True when a server listens there."""
    try:
        socket.create_connection(address, 1).close()
    except OSError:
        return False
    return True


def raise_file_limit(wanted: int) -> int:
    """Raise the limit of open files towards what is wanted, for this process and those it starts; returns the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for limit in (max(wanted, hard), hard):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, limit), limit))
        except (ValueError, OSError):  # only root may raise the hard limit, and not everywhere
            continue
        return min(wanted, limit)
    raise BenchError(f"the limit of open files cannot be set to {hard}")
