"""kproxy.routing.listeners: accepting on real sockets."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest
import trio

from kproxy.relay.accept_turns import AcceptTurns
from kproxy.routing.binding import listen
from kproxy.routing.listeners import accept


async def test_every_client_is_admitted_in_a_task_of_its_own() -> None:
    """Many clients are admitted while none is finished; cancelling closes the listener and admits no more."""
    (listener,) = listen("127.0.0.1", 0)
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
from kproxy.routing.binding import listen
from kproxy.routing.listeners import accept

async def main():
    configure("info", "json", sys.stdout)
    (listener,) = listen("127.0.0.1", 0)
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
