"""Wait for what must become true, with a deadline; never sleep for luck."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")
GENEROUS: Final = 4
"""So many times what a wait takes at most on a usual machine is what it may take: only a failure waits so long."""
_never = threading.Event()


def until(probe: Callable[[], T | None], what: str, timeout: float = 30.0, every: float = 0.05) -> T:
    """Call `probe` until its result is true, and return the result; AssertionError names `what` at the deadline.

    `timeout` is in seconds of a usual machine.
    """
    timeout *= GENEROUS
    deadline = time.monotonic() + timeout
    while True:
        found = probe()
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {timeout:.0f} s: {what}; last seen: {found!r}"
        _never.wait(every)


def stays(probe: Callable[[], bool], what: str, seconds: float, every: float = 0.05) -> None:
    """Assert that `probe` stays true for a while: for what must not happen."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert probe(), what
        _never.wait(every)
