"""Wakes the one task that waits in an epoll of its own, instead of in Trio's, when Trio has something to do.

That task is the pump's: it enters `watched` when it starts, and leaves it when it is cancelled.
"""

from __future__ import annotations

import ctypes
import math
import os
import select
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Final

import trio

# Trio has no public name for where it waits, so pyproject.toml allows only tested versions of it.
from trio._core._run import GLOBAL_RUN_CONTEXT

_NANOSECONDS: Final = 1_000_000_000
_LATEST: Final = 86_400.0
"""Seconds; an alarm set for later rings too early, and can be set again."""
_Itimerspec = ctypes.c_long * 4
"""Seconds and nanoseconds between two rings, and until the first."""
_libc: Final = ctypes.CDLL(None, use_errno=True)  # os.timerfd_create came with Python 3.13


class Alarm:
    """`fd` becomes readable once after each `set`: timerfd_create(2). Raises OSError when there is no descriptor."""

    def __init__(self) -> None:
        # TFD_NONBLOCK and TFD_CLOEXEC are by definition these.
        self.fd = _checked(_libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC))

    def set(self, seconds: float) -> None:
        """Ring so many seconds from now: at once if negative, never if infinite.

        An earlier setting that has not rung, or has rung unseen, is dropped.
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


_ONCE: Final = select.EPOLLIN | select.EPOLLONESHOT
_UNSEEN: Final = 2
"""Passes after which every task that was scheduled before the context began has run."""
_waits: Final = trio.lowlevel.RunVar("kproxy.relay.trio_epoll", False)


class Turns(trio.abc.Instrument):
    """What Trio wants of the task that waits in `epoll` in its place.

    Trio's tasks want their turn when `epoll` reports an event on a descriptor among `asking`, or when a task is among
    `runnable`: scheduled, but not run yet.
    """

    def __init__(self, epoll: select.epoll, alarm: Alarm) -> None:
        runner = GLOBAL_RUN_CONTEXT.runner
        self.trio: select.epoll = runner.io_manager._epoll
        self.asking = frozenset((alarm.fd, self.trio.fileno()))
        self.runnable: set[trio.lowlevel.Task] = set()
        self._deadlines = runner.deadlines
        self._epoll = epoll
        self._alarm = alarm

    async def take(self) -> None:
        """Let every task run that can."""
        await trio.lowlevel.checkpoint()
        self._epoll.modify(self.trio, _ONCE)  # an event that is left there, or came meanwhile, is reported at once
        self._alarm.set(self._deadlines.next_deadline() - trio.current_time())

    def task_scheduled(self, task: trio.lowlevel.Task) -> None:
        """Trio's hook."""
        self.runnable.add(task)

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """Trio's hook."""
        self.runnable.discard(task)


@asynccontextmanager
async def watched(epoll: select.epoll) -> AsyncIterator[Turns]:
    """Put Trio's own epoll and its next deadline into `epoll`, too, for one task that waits there.

    A second such task of the same Trio run would keep the first from running: RuntimeError. OSError when there is no
    descriptor for the alarm.
    """
    if _waits.get():
        raise RuntimeError("another task of this Trio run waits in an epoll of its own")
    with closing(Alarm()) as alarm:
        turns = Turns(epoll, alarm)
        epoll.register(alarm.fd, select.EPOLLIN | select.EPOLLET)
        epoll.register(turns.trio, _ONCE)
        _waits.set(True)
        trio.lowlevel.add_instrument(turns)
        try:
            for _ in range(_UNSEEN):
                await turns.take()
            yield turns
        finally:
            trio.lowlevel.remove_instrument(turns)
            _waits.set(False)
            epoll.unregister(turns.trio)
