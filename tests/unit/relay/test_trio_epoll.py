"""Turns: a task that waits in an epoll of its own keeps nothing of Trio's waiting."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from functools import partial

import pytest
import trio
import trio.testing

from kproxy.relay.trio_epoll import watched
from tests.support.bounds import Bounds
from tests.unit.relay.sockets import descriptors, pair

pytestmark = pytest.mark.timeout(20)  # Trio's own deadlines are of no use where Trio gets no turn


class Waiting:
    """A task that waits as the pump does, except that no clock ever ends its wait."""

    def __init__(self) -> None:
        self.epoll = select.epoll()
        self.looks = 0
        self.work: Callable[[], None] | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Poll, work, let the others run."""
        async with watched(self.epoll) as turns:
            task_status.started()
            while True:
                events = self.epoll.poll(0 if turns.runnable else -1)
                self.looks += 1
                if self.work is not None and any(fd not in turns.asking for fd, _ in events):
                    self.work()
                await turns.take()


@asynccontextmanager
async def waiting() -> AsyncIterator[Waiting]:
    """Such a task, beside the test's own."""
    before, made = descriptors(), Waiting()
    with made.epoll:
        async with trio.open_nursery() as nursery:
            await nursery.start(made.run)
            yield made
            nursery.cancel_scope.cancel()
    assert not descriptors() - before


async def test_deadlines_pass(bounds: Bounds) -> None:
    """Also one before the deadline that it waits for already, and one after it."""
    async with waiting():
        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            for seconds in (0.3, 0.1, 0.2, 0.0):
                nursery.start_soon(trio.sleep, seconds)
        took = trio.current_time() - began
        assert took >= 0.3
        bounds.below(took, 1, "seconds of the longest deadline, of 0.3")
        with trio.move_on_after(0.05) as scope:
            await trio.sleep_forever()
        assert scope.cancelled_caught


async def test_sockets_of_trio_become_ready() -> None:
    """They accept, read and connect, one after the other."""
    async with waiting(), trio.open_nursery() as nursery:
        handler = partial(_echo, limit=3)
        listeners = await nursery.start(partial(trio.serve_tcp, handler, 0, host="127.0.0.1"))
        for number in range(20):
            async with await trio.testing.open_stream_to_socket_listener(listeners[0]) as stream:
                for word in (b"one", b"two", bytes([number])):
                    await stream.send_all(word)
                    assert await stream.receive_some() == word
                assert await stream.receive_some() == b""
        nursery.cancel_scope.cancel()


async def _echo(stream: trio.SocketStream, limit: int) -> None:
    for _ in range(limit):
        await stream.send_all(await stream.receive_some())


async def test_many_sockets_at_once() -> None:
    """There are more than one pass of Trio takes out of its epoll: the rest is reported again."""
    pairs = [pair() for _ in range(40)]
    read, called = 0, trio.Event()

    async def reads(sock: socket.socket) -> None:
        nonlocal read
        await trio.lowlevel.wait_readable(sock)
        read += len(sock.recv(1))

    async with waiting(), trio.open_nursery() as nursery:
        for near, _ in pairs:
            nursery.start_soon(reads, near)
        await trio.lowlevel.checkpoint()
        token = trio.lowlevel.current_trio_token()
        for _, far in pairs:
            far.send(b".")
        token.run_sync_soon(called.set)  # Trio looks for as many events as it has waiting sockets, and this is one more
        await called.wait()
    assert read == len(pairs)
    for sock in (one for both in pairs for one in both):
        sock.close()


async def test_threads_are_heard() -> None:
    """A thread reports its end, and may call back before."""

    def elsewhere() -> int:
        return sum(trio.from_thread.run(_later, number) for number in range(20))

    async with waiting():
        assert await trio.to_thread.run_sync(elsewhere) == sum(range(20))


async def _later(number: int) -> int:
    await trio.sleep(0.001)
    return number


async def test_signals_are_heard() -> None:
    """SIGTERM must not wait for traffic."""
    async with waiting():
        with trio.open_signal_receiver(signal.SIGUSR1) as signals:
            for _ in range(3):
                os.kill(os.getpid(), signal.SIGUSR1)
                assert await anext(signals) == signal.SIGUSR1


async def test_what_the_waiting_task_sets_off_runs_at_once() -> None:
    """It ends the wait of another task, which starts a third: no socket of Trio's reports that."""
    done = trio.Event()
    near, far = pair()
    async with waiting() as made, trio.open_nursery() as nursery:
        notified = trio.Event()
        made.epoll.register(near, select.EPOLLIN | select.EPOLLET)
        made.work = notified.set

        async def second() -> None:
            await notified.wait()
            nursery.start_soon(third)

        async def third() -> None:
            await trio.lowlevel.checkpoint()
            done.set()

        nursery.start_soon(second)
        await trio.to_thread.run_sync(far.send, b".")
        await done.wait()
    near.close()
    far.close()


async def test_tasks_from_before_are_not_forgotten() -> None:
    """Tasks that could run already when the wait began do run, in whatever order Trio has them."""
    for _ in range(20):
        ran: list[int] = []

        async def run(number: int, ran: list[int] = ran) -> None:
            await trio.lowlevel.checkpoint()
            ran.append(number)

        made = Waiting()
        with made.epoll:
            async with trio.open_nursery() as nursery:
                for number in range(10):
                    nursery.start_soon(run, number)
                nursery.start_soon(made.run)
                for number in range(10, 20):
                    nursery.start_soon(run, number)
                while len(ran) < 20:
                    await trio.lowlevel.checkpoint()
                nursery.cancel_scope.cancel()


async def test_it_sleeps_while_nothing_is_asked() -> None:
    """A turn without need would be a loop without end."""
    async with waiting() as made:
        await trio.sleep(0.05)
        looks = made.looks
        await trio.sleep(0.2)
        assert made.looks - looks <= 3
        began = time.thread_time()
        await trio.sleep(0.5)
        assert time.thread_time() - began < 0.1


async def test_without_a_descriptor_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller's epoll and Trio are as before, and another try is possible."""

    def refused() -> None:
        raise OSError(24, "Too many open files")

    before = descriptors()
    with select.epoll() as epoll:
        with monkeypatch.context() as patched:
            patched.setattr("kproxy.relay.trio_epoll.Alarm", refused)
            with pytest.raises(OSError, match="Too many"):
                async with watched(epoll):
                    pass
        async with watched(epoll) as turns:
            assert len(turns.asking) == 2
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.lowlevel.checkpoint)
            assert not turns.runnable
    assert not descriptors() - before


async def test_two_cannot_wait() -> None:
    """Each would keep the other from running; the first goes on."""
    async with waiting():
        with select.epoll() as epoll, pytest.raises(RuntimeError, match="another task"):
            async with watched(epoll):
                pass
        await trio.sleep(0.01)
    async with waiting():
        await trio.sleep(0.01)


async def test_trio_is_as_before() -> None:
    """Its epoll, which no other code waits for, is not closed, and it calls no hooks."""
    async with waiting():
        await trio.sleep(0.01)
    near, far = pair()
    with closing(near), closing(far), trio.fail_after(20):
        far.send(b".")
        await trio.lowlevel.wait_readable(near)
