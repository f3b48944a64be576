"""Turns of listeners: how many clients one accepts, who is next, and the rate of all."""

from __future__ import annotations

import socket
import time

import pytest
import trio
import trio.testing

from kproxy.relay.accept_turns import A_TURN, AcceptTurns
from kproxy.routing.binding import listen
from kproxy.routing.listeners import accept
from tests.unit.relay.sockets import HOST, eventually


class Passes(trio.abc.Instrument):
    """Counts the passes of Trio's scheduler."""

    def __init__(self) -> None:
        self.count = 0

    def before_io_wait(self, timeout: float) -> None:
        """Trio's hook."""
        del timeout
        self.count += 1


class Door:
    """Admits clients, and notes in which pass."""

    def __init__(self) -> None:
        self.passes = Passes()
        self.by_pass: dict[int, int] = {}
        self.clients: list[socket.socket] = []

    async def admit(self, client: socket.socket) -> None:
        self.clients.append(client)
        self.by_pass[self.passes.count] = self.by_pass.get(self.passes.count, 0) + 1

    def close(self) -> None:
        for client in self.clients:
            client.close()


def connected(listener: socket.socket, count: int) -> list[socket.socket]:
    """Connect so many clients, which wait in the kernel."""
    return [socket.create_connection(listener.getsockname(), timeout=10) for _ in range(count)]


@pytest.mark.parametrize("listeners", [1, 3])
async def test_a_storm_is_accepted_a_few_at_a_time(listeners: int) -> None:
    """However many wait, and on however many ports, a pass of the scheduler accepts 16; before, it accepted all."""
    door, turns = Door(), AcceptTurns(100_000)
    ports = [listen(HOST, 0)[0] for _ in range(listeners)]
    clients = [client for port in ports for client in connected(port, 100)]
    trio.lowlevel.add_instrument(door.passes)
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            for port in ports:
                nursery.start_soon(accept, port, nursery, door.admit, turns)
            await eventually(lambda: len(door.clients) == len(clients), "every client")
            nursery.cancel_scope.cancel()
    trio.lowlevel.remove_instrument(door.passes)
    assert max(door.by_pass.values()) <= A_TURN
    assert turns.pauses == 0
    for client in clients:
        client.close()
    door.close()


async def test_listeners_take_turns() -> None:
    """A client of a quiet port is not behind all those of a busy one."""
    door, turns = Door(), AcceptTurns(100_000)
    (busy,), (quiet,) = listen(HOST, 0), listen(HOST, 0)
    clients = [*connected(busy, 200), *connected(quiet, 1)]
    before: list[int] = []

    async def admit(client: socket.socket) -> None:
        before.append(len(door.clients))
        client.close()

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(accept, busy, nursery, door.admit, turns)
            nursery.start_soon(accept, quiet, nursery, admit, turns)
            await eventually(lambda: bool(before) and len(door.clients) == 200, "every client")
            nursery.cancel_scope.cancel()
    assert before[0] <= 3 * A_TURN
    for client in clients:
        client.close()
    door.close()


async def test_the_rate_of_all() -> None:
    """Clients beyond the rate wait in the backlog: nobody is refused, and the pauses are counted."""
    door, turns = Door(), AcceptTurns(50)
    (listener,) = listen(HOST, 0)
    clients = connected(listener, 100)
    began = time.monotonic()
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(accept, listener, nursery, door.admit, turns)
            await eventually(lambda: len(door.clients) >= 50, "the burst")
            assert turns.pauses > 0
            await eventually(lambda: len(door.clients) == 100, "the others")
            nursery.cancel_scope.cancel()
    assert time.monotonic() - began > 0.95
    for client in clients:
        client.close()
    door.close()


async def test_clients_that_are_refused_do_not_count() -> None:
    """What is given back is there at once: an address that is over its own limit slows nobody down."""
    turns = AcceptTurns(A_TURN)
    assert await turns.begin() == A_TURN
    turns.end(A_TURN)
    for _ in range(A_TURN):
        turns.give_back()
    with trio.fail_after(20):
        assert await turns.begin() == A_TURN
    turns.end(0)
    assert turns.pauses == 0


async def test_a_listener_that_closes_while_it_waits_for_the_rate() -> None:
    """It leaves the turn to the others."""
    turns = AcceptTurns(1)
    assert await turns.begin() == 1
    turns.end(1)
    with trio.move_on_after(0.05) as scope:
        await turns.begin()
    assert scope.cancelled_caught
    turns.give_back()
    with trio.fail_after(20):
        assert await turns.begin() == 1
    turns.end(1)


async def test_another_rate() -> None:
    """It counts at once; the same one again is no new burst."""
    turns = AcceptTurns(1)
    assert await turns.begin() == 1
    turns.end(1)
    turns.pace(1)
    with trio.move_on_after(0.05) as scope:
        await turns.begin()
    assert scope.cancelled_caught
    turns.pace(5)
    with trio.fail_after(20):
        assert await turns.begin() == 5
    turns.end(0)
