"""kproxy.relay.exact_socket: a peer whose bytes are always there keeps nobody waiting."""

from __future__ import annotations

import socket
from functools import partial
from typing import Any

import trio

from kproxy.relay.exact_socket import ExactSocket


class OneByOne:
    """A socket that always has one byte more, as TLS has with records of one byte."""

    def recv(self, count: int) -> bytes:
        assert count > 0
        return b"x"


async def test_others_have_their_turns() -> None:
    """Between any two groups of reads, though nothing is waited for."""
    sock: Any = OneByOne()
    turns = 0

    async def ticks() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ticks)
        assert await ExactSocket(sock).receive(6400) == b"x" * 6400
        assert turns >= 99
        nursery.cancel_scope.cancel()


async def test_what_comes_in_pieces() -> None:
    """It waits for the rest, and takes no more than that."""
    near, far = socket.socketpair()
    near.setblocking(False)
    with near, far:
        far.sendall(b"ab")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, partial(far.sendall, b"cdef"))
            assert await ExactSocket(near).receive(5) == b"abcde"
        assert await ExactSocket(near).receive(1) == b"f"
        far.close()
        assert await ExactSocket(near).receive(1) is None
