"""A timer in an epoll, so that waiting for events needs no timeout of its own."""

from __future__ import annotations

import ctypes
import math
import os
import time
from typing import Final

_NANOSECONDS: Final = 1_000_000_000
_LATEST: Final = 86_400.0
"""Seconds; who wants to be told later is told too early, and can set it again."""
_Itimerspec = ctypes.c_long * 4
"""Seconds and nanoseconds between two rings, and until the first."""
_libc: Final = ctypes.CDLL(None, use_errno=True)  # os.timerfd_create came with Python 3.13


class Alarm:
    """`fd` becomes readable once after each `set`: timerfd_create(2). Raises OSError when there is no descriptor."""

    def __init__(self) -> None:
        # TFD_NONBLOCK and TFD_CLOEXEC are by definition these.
        self.fd = _checked(_libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC))

    def set(self, seconds: float) -> None:
        """Ring so much later, at once if that is past, never if it is infinite.

        What was to ring, or has rung and was not seen, does not any more.
        """
        later = 0 if seconds == math.inf else max(1, round(min(max(seconds, 0), _LATEST) * _NANOSECONDS))
        whole, part = divmod(later, _NANOSECONDS)
        once = _Itimerspec(0, 0, whole, part)
        _checked(_libc.timerfd_settime(self.fd, 0, once, None))

    def close(self) -> None:
        """Ring no more."""
        os.close(self.fd)


def _checked(returned: int) -> int:
    if returned < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return returned
