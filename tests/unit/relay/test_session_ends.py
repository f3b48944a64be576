"""The end of a client's session at kproxy."""

from __future__ import annotations

import math
import time

from kproxy.observe.reasons import Reason
from kproxy.relay.lifecycle import State
from tests.support.bounds import Bounds
from tests.unit.relay.sockets import eventually, request, response, stage, stays


async def test_a_client_whose_session_is_over(bounds: Bounds) -> None:
    """It is disconnected within a second or so, though it asks all the time; others are not concerned."""
    async with stage() as running:
        mine, other = running.relay(), running.relay()
        ends = mine.connection.context.session_ends = time.monotonic() + 0.5
        other.connection.context.session_ends = time.monotonic() + 3600
        number = 0
        while not mine.connection.closed and time.monotonic() < ends - 0.1:
            number += 1
            await mine.exchange(number)
        assert number
        assert await mine.client.receive_all() == b""
        assert time.monotonic() >= ends
        bounds.below(time.monotonic() - ends, 3, "seconds after its end")
        await mine.ended(Reason.SESSION_EXPIRED)
        await other.exchange(1)


async def test_a_session_that_moves_on() -> None:
    """The connection stays, as long as it does."""
    async with stage() as running:
        relayed = running.relay()
        relayed.connection.context.session_ends = time.monotonic() + 0.5
        await relayed.exchange(1)
        relayed.connection.context.session_ends = math.inf
        await stays(lambda: not relayed.connection.closed, "the connection", 2.5)
        await relayed.exchange(2)


async def test_a_request_under_way_when_the_session_ends() -> None:
    """It is answered, as a JoinGroup that a broker holds for a minute; then the connection ends, and takes no more."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.client.send(request(1))
        assert await relayed.broker.receive(len(request(1))) == request(1)
        relayed.connection.context.session_ends = time.monotonic()
        await eventually(lambda: relayed.connection.life.state is State.ANSWERING, "the end of the session")
        await relayed.client.send(request(2))
        await stays(lambda: not relayed.connection.closed, "the connection", 1.5)
        await relayed.broker.send(response(1, b"late"))
        assert await relayed.client.receive_all() == response(1, b"late")
        await relayed.ended(Reason.SESSION_EXPIRED)
