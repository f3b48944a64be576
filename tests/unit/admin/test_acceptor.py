"""kproxy.admin.acceptor: a storm of connections takes turns with everything else, and a shortage ends nothing."""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Iterator

import pytest
import structlog.testing
import trio

from kproxy.admin.acceptor import Acceptor
from kproxy.admin.turns import AT_ONCE
from tests.unit.admin.steps import counted
from tests.unit.relay.sockets import no_descriptors


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=200) as made:
        made.setblocking(False)
        yield made


def dialled(listener: socket.socket, count: int) -> list[socket.socket]:
    """Connections that wait to be accepted."""
    return [socket.create_connection(listener.getsockname(), timeout=10) for _ in range(count)]


async def until(taken: list[socket.socket], count: int) -> None:
    with trio.fail_after(40):
        while len(taken) < count:  # noqa: ASYNC110 (the acceptor's list)
            await trio.sleep(0.001)


async def test_a_storm_takes_turns(listener: socket.socket, nursery: trio.Nursery) -> None:
    """A hundred connections that came at once: after every few of them all others have their turn."""
    taken, in_step = list[socket.socket](), Counter[int]()
    clients = dialled(listener, 100)
    with counted() as steps:

        def take(accepted: socket.socket) -> None:
            taken.append(accepted)
            in_step[steps.number] += 1

        nursery.start_soon(Acceptor(listener, take, lambda: 0.0, lambda: False).run)
        await until(taken, 100)
    for each in (*clients, *taken):
        each.close()
    assert max(in_step.values()) <= AT_ONCE


async def test_without_descriptors_one_is_freed(listener: socket.socket, nursery: trio.Nursery) -> None:
    """The one that waits longest makes room; the one that waits to be accepted is. One line is logged."""
    taken, freed = list[socket.socket](), list[None]()
    spare = [os.dup(0)]

    def free() -> bool:
        freed.append(None)
        if spare:
            os.close(spare.pop())
            return True
        return False

    clients = dialled(listener, 2)
    with structlog.testing.capture_logs() as log:
        with no_descriptors():
            nursery.start_soon(Acceptor(listener, taken.append, lambda: 0.0, free).run)
            await until(taken, 1)
            with trio.fail_after(40):
                while len(freed) < 3:  # noqa: ASYNC110 (the acceptor's list)
                    await trio.sleep(0.01)
            assert len(taken) == 1
        await until(taken, 2)
    for each in (*clients, *taken):
        each.close()
    told = [line for line in log if line["log_level"] == "error"]
    assert [(line["event"], line["error"]) for line in told] == [("the system refuses kproxy a resource", "EMFILE")]


async def test_connections_wait_for_room(listener: socket.socket, nursery: trio.Nursery) -> None:
    """Nobody is refused: they are accepted as soon as there is a place for each."""
    taken, places = list[socket.socket](), [1]
    clients = dialled(listener, 3)
    nursery.start_soon(Acceptor(listener, taken.append, lambda: 0.0 if len(taken) < places[0] else 0.001, bool).run)
    for count in (1, 2, 3):
        places[0] = count
        await until(taken, count)
        assert len(taken) == count
    for each in (*clients, *taken):
        each.close()
