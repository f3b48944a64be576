"""When Trio has something to do, told to the one task that waits in an epoll of its own instead of in Trio's."""

from __future__ import annotations

import select
from contextlib import ExitStack, closing
from types import TracebackType
from typing import TYPE_CHECKING, Final

import trio

# Trio does not say publicly where it waits; pyproject.toml therefore takes no version of it that is not tested.
from trio._core._run import GLOBAL_RUN_CONTEXT

from kproxy.relay.alarm import Alarm

if TYPE_CHECKING:
    from typing import Self

_ONCE: Final = select.EPOLLIN | select.EPOLLONESHOT
_UNSEEN: Final = 2
"""Passes after which no task is left that was scheduled before the context began."""
_waits: Final = trio.lowlevel.RunVar("kproxy.relay.turns", False)


class Turns(trio.abc.Instrument):
    """Trio's own epoll and its next deadline, watched by another epoll while the context lasts.

    Events on a descriptor among `asking` say that Trio's tasks want their turn, and so does a task among `runnable`.
    One task of a run can wait like this, a second one would keep it from running: RuntimeError.
    """

    def __init__(self, epoll: select.epoll) -> None:
        self.runnable: set[trio.lowlevel.Task] = set()
        """Tasks that have been scheduled since the context began and did not run yet."""
        self.asking: frozenset[int] = frozenset()
        self._epoll = epoll
        self._context = ExitStack()

    async def __aenter__(self) -> Self:
        """Raises OSError when there is no descriptor for the alarm."""
        if _waits.get():
            raise RuntimeError("another task of this Trio run waits in an epoll of its own")
        runner = GLOBAL_RUN_CONTEXT.runner
        self._trio, self._deadlines = runner.io_manager._epoll, runner.deadlines
        with ExitStack() as context:
            context.callback(_waits.set, False)
            _waits.set(True)
            self._alarm = context.enter_context(closing(Alarm()))
            self._epoll.register(self._alarm.fd, select.EPOLLIN | select.EPOLLET)
            self._epoll.register(self._trio, _ONCE)
            context.callback(self._epoll.unregister, self._trio)
            trio.lowlevel.add_instrument(self)
            context.callback(trio.lowlevel.remove_instrument, self)
            self.asking = frozenset((self._alarm.fd, self._trio.fileno()))
            for _ in range(_UNSEEN):
                await self.take()
            self._context = context.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._context.close()

    async def take(self) -> None:
        """Let every task run that can."""
        await trio.lowlevel.checkpoint()
        self._epoll.modify(self._trio, _ONCE)  # and if an event is left there, or came meanwhile, it is told at once
        self._alarm.set(self._deadlines.next_deadline() - trio.current_time())

    def task_scheduled(self, task: trio.lowlevel.Task) -> None:
        """Trio's hook."""
        self.runnable.add(task)

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """Trio's hook."""
        self.runnable.discard(task)
