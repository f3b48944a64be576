"""What is said to run apart does, thread by thread, and only as long as it is said to."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack

from tests.support.proc import threads

from .apart import apart

_THREADS = "import threading; t = threading.Thread(target=input); t.start(); print(flush=True); t.join()"


def _two_threads() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _allowed(pid: int) -> set[frozenset[int]]:
    return {frozenset(os.sched_getaffinity(thread)) for thread in threads(pid)}


def _classes(pid: int) -> set[int]:
    return {os.sched_getscheduler(thread) for thread in threads(pid)}


def test_apart_and_free_again() -> None:
    """Relay and spare have the first processor, the others and this process the rest; then all have all."""
    processors = frozenset(os.sched_getaffinity(0))
    with ExitStack() as stack:
        relay, spare, other = children = [stack.enter_context(_two_threads()) for _ in range(3)]
        try:
            for child in children:
                assert child.stdout is not None
                child.stdout.readline()
            with apart(relay.pid, [spare.pid]) as divided:
                assert divided is (len(processors) > 1)
                first = {min(processors)} if divided else set()
                assert _allowed(relay.pid) == _allowed(spare.pid) == {frozenset(first or processors)}
                assert _allowed(other.pid) == _allowed(os.getpid()) == {processors - first}
                assert _classes(spare.pid) == {os.SCHED_IDLE if divided else os.SCHED_OTHER}
                assert _classes(relay.pid) == _classes(other.pid) == {os.SCHED_OTHER}
            assert all(_allowed(child.pid) == {processors} for child in children)
            assert _allowed(os.getpid()) == {processors}
        finally:
            for child in children:
                child.kill()


def test_one_that_has_ended() -> None:
    """Its number belongs to nobody: nothing is confined for it, and nothing fails."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    with apart(gone.pid, [gone.pid]):
        pass
    assert len(_allowed(os.getpid())) == 1
