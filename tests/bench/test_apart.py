"""What is said to run apart does, thread by thread, and only as long as it is said to."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.proc import threads

from .apart import apart

_THREADS = "import threading; t = threading.Thread(target=input); t.start(); print(flush=True); t.join()"


def _two_threads() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _allowed(pid: int) -> set[frozenset[int]]:
    return {frozenset(os.sched_getaffinity(thread)) for thread in threads(pid)}


def test_apart_and_free_again() -> None:
    """A child with two threads has the last processor, another one and this process the rest; then all have all."""
    processors = frozenset(os.sched_getaffinity(0))
    with _two_threads() as far, _two_threads() as near:
        try:
            for child in (far, near):
                assert child.stdout is not None
                child.stdout.readline()
            with apart([far.pid]) as divided:
                assert divided is (len(processors) > 1)
                last = {max(processors)} if divided else set()
                assert _allowed(far.pid) == {frozenset(last or processors)}
                assert _allowed(near.pid) == _allowed(os.getpid()) == {processors - last}
            assert _allowed(far.pid) == _allowed(near.pid) == _allowed(os.getpid()) == {processors}
        finally:
            far.kill()
            near.kill()


def test_one_that_has_ended() -> None:
    """Its number belongs to nobody: nothing is confined for it, and nothing fails."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    with apart([gone.pid]):
        pass
    assert len(_allowed(os.getpid())) == 1
