"""Clients that have sent nothing yet: a few go on at a time, and each has its deadline."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import trio
import trio.testing

from kproxy.relay.silent_clients import A_TURN, SilentClients
from tests.unit.relay.sockets import eventually, pair, stage


@dataclass
class Room:
    """Silent clients in an epoll that the test polls."""

    nursery: trio.Nursery
    epoll: select.epoll
    silent: SilentClients
    far: list[socket.socket] = field(default_factory=list)
    near: list[socket.socket] = field(default_factory=list)
    spoke: list[bool] = field(default_factory=list)

    async def come(self, count: int = 1) -> None:
        """Connect so many clients and wait for each."""
        for _ in range(count):
            far, near = pair()
            self.far.append(far)
            self.near.append(near)
            self.nursery.start_soon(self._wait, near)
        await trio.testing.wait_all_tasks_blocked()

    async def _wait(self, near: socket.socket) -> None:
        self.spoke.append(await self.silent.speaks(near))

    async def poll(self) -> int:
        """Handle all events, as the pump does in its rounds; return how many there were."""
        found = self.epoll.poll(0)
        for fd, _ in found:
            assert self.silent.event(fd)
        await trio.testing.wait_all_tasks_blocked()
        return len(found)


@asynccontextmanager
async def room(patience: float = 60.0) -> AsyncIterator[Room]:
    """A room, which is empty at the end."""
    with trio.fail_after(30), select.epoll() as epoll:
        async with trio.open_nursery() as nursery:
            made = Room(nursery, epoll, SilentClients(epoll, patience))
            yield made
            nursery.cancel_scope.cancel()
        assert len(made.silent) == 0
    for sock in (*made.far, *made.near):
        sock.close()


async def test_one_that_speaks_goes_on_at_once() -> None:
    """Its event is enough; the socket is out of the epoll then, so that the relay can take it over."""
    async with room() as made:
        await made.come()
        assert await made.poll() == 0
        made.far[0].send(b"\0")
        assert await made.poll() == 1
        assert made.spoke == [True]
        made.epoll.register(made.near[0].fileno())


async def test_many_that_speak_at_once_take_turns() -> None:
    """Eight go on in each turn of Trio's; before, all of them did in one, and each dials a broker."""
    async with room() as made:
        await made.come(100)
        for far in made.far:
            far.send(b"\0")
        assert await made.poll() == 100
        progress = [len(made.spoke)]
        while len(made.spoke) < 100:
            made.silent.next_turn()
            await trio.testing.wait_all_tasks_blocked()
            progress.append(len(made.spoke))
        assert progress == [*range(A_TURN, 100, A_TURN), 100]


async def test_the_pump_gives_them_their_turns() -> None:
    """A hundred that speak at once are all let go on by a running pump."""
    async with stage() as running, trio.open_nursery() as nursery:
        pairs = [pair() for _ in range(100)]
        spoke: list[bool] = []

        async def wait(near: socket.socket) -> None:
            spoke.append(await running.pump.silent.speaks(near))

        for _, near in pairs:
            nursery.start_soon(wait, near)
        await eventually(lambda: len(running.pump.silent) == 100, "all of them silent")
        for far, _ in pairs:
            far.send(b"\0")
        await eventually(lambda: len(spoke) == 100, "all of them gone on")
        assert all(spoke)
        for one in pairs:
            for end in one:
                end.close()


async def test_those_whose_time_is_over_take_turns_too() -> None:
    """They end at a sweep after their deadline, a few at a time; younger ones stay."""
    async with room(patience=60.0) as made:
        await made.come(20)
        made.silent.sweep(time.monotonic() + 59)
        await trio.testing.wait_all_tasks_blocked()
        assert made.spoke == []
        made.silent.sweep(time.monotonic() + 61)
        await made.come(1)
        assert made.spoke == [False] * A_TURN
        for _ in range(2):
            made.silent.next_turn()
            await trio.testing.wait_all_tasks_blocked()
        assert made.spoke == [False] * 20
        assert len(made.silent) == 1


async def test_one_that_has_gone_goes_on() -> None:
    """A FIN or a reset is an event, as bytes are: the acceptor's read finds out which."""
    async with room() as made:
        await made.come(1)
        made.far[0].close()
        assert await made.poll() == 1
        assert made.spoke == [True]


async def test_one_that_is_dismissed() -> None:
    """A drain ends those that are silent, and no other."""
    async with room() as made:
        await made.come(2)
        made.far[0].send(b"\0")
        await made.poll()
        made.silent.dismiss()
        await trio.testing.wait_all_tasks_blocked()
        assert made.spoke == [True, False]


async def test_one_that_is_cancelled_while_it_waits_or_is_due() -> None:
    """Nothing of it is left, also where its turn had not come yet."""
    async with room() as made:
        scopes = [trio.CancelScope() for _ in range(A_TURN + 2)]

        async def wait(scope: trio.CancelScope, near: socket.socket) -> None:
            with scope:
                made.spoke.append(await made.silent.speaks(near))

        for scope in scopes:
            far, near = pair()
            made.far.append(far)
            made.near.append(near)
            made.nursery.start_soon(partial(wait, scope, near))
        await trio.testing.wait_all_tasks_blocked()
        for far in made.far[:-1]:
            far.send(b"\0")
        assert await made.poll() == A_TURN + 1
        for scope in scopes[-2:]:
            scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert (len(made.spoke), len(made.silent)) == (A_TURN, 0)
        made.silent.next_turn()
        await trio.testing.wait_all_tasks_blocked()
        assert len(made.spoke) == A_TURN


async def test_a_descriptor_of_somebody_else() -> None:
    """It is left to others: the pump's epoll has all kinds of sockets."""
    async with room() as made:
        assert not made.silent.event(0)
