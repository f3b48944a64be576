"""kproxy.routing.listeners: listening and accepting on real sockets."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest
import trio

from kproxy.relay.accept_turns import AcceptTurns
from kproxy.routing.listeners import accept, listen


def test_a_port_is_bound_before_listen_returns() -> None:
    """A client can connect at once, before any task accepts."""
    with listen("127.0.0.1", 0) as listener:
        assert not listener.getblocking()
        with socket.create_connection(listener.getsockname(), timeout=5) as client:
            assert client.getpeername() == listener.getsockname()


def test_a_taken_port_is_an_error() -> None:
    """The error has the kernel's reason."""
    with listen("127.0.0.1", 0) as listener, pytest.raises(OSError, match="in use"):
        listen("127.0.0.1", listener.getsockname()[1])


def test_a_port_is_free_again_at_once() -> None:
    """A restart need not wait for the former process's connections to expire."""
    with listen("127.0.0.1", 0) as listener:
        address = listener.getsockname()
        client = socket.create_connection(address, timeout=5)
        listener.setblocking(True)
        listener.accept()[0].close()
    with client, listen(*address) as again:
        assert again.getsockname() == address


def test_a_name_that_is_none_of_this_machine() -> None:
    """It is impossible to listen on an unknown name or another machine's address."""
    with pytest.raises(OSError, match=r".+"):
        listen("no-such-host.invalid", 0)
    with pytest.raises(OSError, match=r".+"):
        listen("192.0.2.1", 0)


def test_ipv6() -> None:
    """`::1` is reachable over IPv6."""
    with listen("::1", 0) as listener:
        assert listener.family == socket.AF_INET6
        socket.create_connection(("::1", listener.getsockname()[1]), timeout=5).close()


def test_every_address_of_the_machine() -> None:
    """`::` accepts clients of both families, `0.0.0.0` those of IPv4."""
    with listen("::", 0) as both, listen("0.0.0.0", 0) as old:
        for host in ("::1", "127.0.0.1"):
            socket.create_connection((host, both.getsockname()[1]), timeout=5).close()
        socket.create_connection(("127.0.0.1", old.getsockname()[1]), timeout=5).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("::1", old.getsockname()[1]), timeout=5)


async def test_every_client_is_admitted_in_a_task_of_its_own() -> None:
    """Many clients are admitted while none is finished; cancelling closes the listener and admits no more."""
    listener = listen("127.0.0.1", 0)
    address = listener.getsockname()
    admitted: list[socket.socket] = []
    everyone = trio.Event()

    async def admit(client: socket.socket) -> None:
        admitted.append(client)
        if len(admitted) == 50:
            everyone.set()
        await trio.sleep_forever()

    with trio.fail_after(80):
        async with trio.open_nursery() as work:
            async with trio.open_nursery() as listeners:
                listeners.start_soon(accept, listener, work, admit, AcceptTurns(1000))
                clients = [await trio.open_tcp_stream(*address) for _ in range(50)]
                await everyone.wait()
                listeners.cancel_scope.cancel()
            assert listener.fileno() == -1
            with pytest.raises(OSError, match="connect"):
                await trio.open_tcp_stream(*address)
            work.cancel_scope.cancel()
    for client in clients:
        await client.aclose()
    for sock in admitted:
        sock.close()


SHORT_OF_DESCRIPTORS = """
import os, resource, socket, sys
import trio
from kproxy.observe.logs import configure
from kproxy.relay.accept_turns import AcceptTurns
from kproxy.routing.listeners import accept, listen

async def main():
    configure("info", "json", sys.stdout)
    listener = listen("127.0.0.1", 0)
    address = listener.getsockname()
    clients = [socket.socket() for _ in range(4)]
    admitted = []
    async def admit(client):
        admitted.append(client)
    async with trio.open_nursery() as nursery:
        lowest_free = os.dup(0)
        os.close(lowest_free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, 4096))
        nursery.start_soon(accept, listener, nursery, admit, AcceptTurns(1000))
        for client in clients:
            client.connect(address)
        began = os.times()
        await trio.sleep(0.5)
        spent = os.times()
        assert not admitted
        assert spent.user + spent.system - began.user - began.system < 0.25, "it spins"
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
        with trio.fail_after(40):
            while len(admitted) < len(clients):
                await trio.sleep(0.01)
        nursery.cancel_scope.cancel()

trio.run(main)
"""


def test_accept_survives_a_shortage_of_descriptors() -> None:
    """While there are none, no client is accepted and no CPU is used; afterwards all are; the log has one line."""
    done = subprocess.run(
        [sys.executable, "-c", SHORT_OF_DESCRIPTORS], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"what":"accept a client"') == 1
