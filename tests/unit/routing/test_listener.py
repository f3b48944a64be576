"""kproxy.routing.listeners: `Listener` on real sockets."""

from __future__ import annotations

import socket
from contextlib import suppress

import trio
import trio.testing

from kproxy.relay.accept_turns import AcceptTurns
from kproxy.routing.binding import listen
from kproxy.routing.listeners import Listener
from tests.unit.relay.sockets import eventually, open_files

HOST = "127.0.0.1"


class Porter:
    """Records the listener of each client, and closes the connection."""

    def __init__(self) -> None:
        self.seen: list[tuple[int | None, float | None]] = []

    async def admit(self, listener: Listener, client: socket.socket) -> None:
        self.seen.append((listener.node_id, listener.retired))
        client.close()


async def test_a_client_is_admitted_with_the_listener_s_current_state() -> None:
    """An open listener may be retired, or become another node's."""
    porter, listener = Porter(), Listener(listen(HOST, 0), 1)
    async with trio.open_nursery() as work:
        work.start_soon(listener.serve, work, porter.admit, AcceptTurns(1000))
        for node_id, retired in ((1, None), (1, 5.0), (2, None)):
            listener.node_id, listener.retired = node_id, retired
            (await trio.open_tcp_stream(HOST, listener.port)).socket.close()
            await eventually(lambda: porter.seen[-1:] == [(listener.node_id, listener.retired)], "the client is let in")
        work.cancel_scope.cancel()


async def test_a_closed_listener_refuses_and_its_port_is_free() -> None:
    """Clients are refused at once, and another listener can bind the same port."""
    before = open_files()
    porter, listener = Porter(), Listener(listen(HOST, 0), 1)
    async with trio.open_nursery() as work:
        work.start_soon(listener.serve, work, porter.admit, AcceptTurns(1000))
        await trio.testing.wait_all_tasks_blocked()
        listener.close()
        await trio.testing.wait_all_tasks_blocked()
        with suppress(OSError):
            socket.create_connection((HOST, listener.port), timeout=5).close()
            raise AssertionError("somebody listens")
        again = Listener(listen(HOST, listener.port), 2)
        again.close()
    assert porter.seen == []
    await eventually(lambda: open_files() <= before, "descriptors are closed")


async def test_a_listener_knows_that_it_is_closed() -> None:
    """So a task that is about to serve it need not begin."""
    listener = Listener(listen(HOST, 0), 1)
    assert not listener.closed
    listener.close()
    assert listener.closed


async def test_a_listener_that_never_served_is_closed_too() -> None:
    """A node that becomes known while kproxy ends has a port that no task serves."""
    before = open_files()
    listener = Listener(listen(HOST, 0), None)
    listener.close()
    assert open_files() <= before
    assert listener.bound == [f"{HOST}:{listener.port}"]


def at_both() -> Listener:
    """Return a listener with a socket for each family, as for `localhost`."""
    return Listener(listen("::", 0, apart=True), 1)


def reached(host: str, port: int) -> bool:
    """Return whether somebody listens at an address."""
    with suppress(ConnectionRefusedError):
        socket.create_connection((host, port), timeout=5).close()
        return True
    return False


async def test_a_host_of_two_addresses() -> None:
    """Clients are let in at both, by one listener; once it is closed, at neither."""
    before = open_files()
    porter, listener = Porter(), at_both()
    assert listener.bound == [f"[::]:{listener.port}", f"0.0.0.0:{listener.port}"]
    assert [listener.takes(host) for host in ("::1", HOST)] == [True, True]
    async with trio.open_nursery() as work:
        work.start_soon(listener.serve, work, porter.admit, AcceptTurns(1000))
        for host in ("::1", HOST):
            porter.seen.clear()
            assert reached(host, listener.port)
            await eventually(lambda: porter.seen == [(1, None)], "the client is let in")
        listener.close()
        await trio.testing.wait_all_tasks_blocked()
        assert not listener.takes(HOST)
        assert [reached(host, listener.port) for host in ("::1", HOST)] == [False, False]
    await eventually(lambda: open_files() <= before, "descriptors are closed")


async def test_another_listener_takes_its_sockets_over() -> None:
    """A virtual cluster that moves keeps its open ports, at both addresses, until the last of the two is closed."""
    before = open_files()
    listener = at_both()
    other = Listener(listener.copies(), 2)
    listener.close()
    assert [reached(host, other.port) for host in ("::1", HOST)] == [True, True]
    other.close()
    assert [reached(host, other.port) for host in ("::1", HOST)] == [False, False]
    assert open_files() <= before
