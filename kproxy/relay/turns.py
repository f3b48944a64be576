"""When Trio has something to do, told to the one task that waits in an epoll of its own instead of in Trio's."""

from __future__ import annotations

import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Final

import trio

# Trio does not say publicly where it waits; pyproject.toml therefore takes no version of it that is not tested.
from trio._core._run import GLOBAL_RUN_CONTEXT

from kproxy.relay.alarm import Alarm

_ONCE: Final = select.EPOLLIN | select.EPOLLONESHOT
_UNSEEN: Final = 2
"""Passes after which no task is left that was scheduled before the context began."""
_waits: Final = trio.lowlevel.RunVar("kproxy.relay.turns", False)


class Turns(trio.abc.Instrument):
    """What Trio wants of the task that keeps it waiting in `epoll`.

    Events there on a descriptor among `asking` say that Trio's tasks want their turn, and so does a task among
    `runnable`: those that have been scheduled and did not run yet.
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
        self._epoll.modify(self.trio, _ONCE)  # and if an event is left there, or came meanwhile, it is told at once
        self._alarm.set(self._deadlines.next_deadline() - trio.current_time())

    def task_scheduled(self, task: trio.lowlevel.Task) -> None:
        """Trio's hook."""
        self.runnable.add(task)

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """Trio's hook."""
        self.runnable.discard(task)


@asynccontextmanager
async def watched(epoll: select.epoll) -> AsyncIterator[Turns]:
    """Trio's own epoll and its next deadline are in `epoll`, too, for one task that waits there.

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
