"""Requests that wait at a coordinator of an earlier topology, over real sockets: 16 in their turn, then the end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import trio

from kproxy.observe.reasons import Reason
from kproxy.rebootstrap.actions import Action
from kproxy.relay.connection import Connection
from kproxy.relay.lingering_close import PAUSE_SECONDS
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.relay import frames
from tests.unit.relay.sockets import KIB, MIB, Relayed, Stage, eventually, noise, request, response, stage

JOIN_GROUP, OFFSET_COMMIT = 11, 8
JOIN = frames.request(JOIN_GROUP, 5, 5)
JOINED = frames.response(JOIN_GROUP, 5, 5, {"MemberId": "m"})
REFUSED = frames.response(JOIN_GROUP, 5, 5, {"ErrorCode": ErrorCode.NOT_COORDINATOR, "GenerationId": -1})
COMMIT, COMMITTED = frames.request(OFFSET_COMMIT, 7, 4), frames.response(OFFSET_COMMIT, 7, 4)


def rise(running: Stage, *relayed: Relayed) -> None:
    """Raise the epoch as `app` does; these connections are ended."""
    running.backend.means = Action.NOT_COORDINATOR
    running.backend.epoch += 1
    for one in relayed:
        one.connection.requests.outdate()
        running.pump.drain_one(one.connection, Reason.REBOOTSTRAP)


@asynccontextmanager
async def asking(*requests: bytes, buffer: int | None = None) -> AsyncIterator[tuple[Stage, Relayed]]:
    """A connection whose broker has received these requests."""
    async with stage() as running:
        relayed = running.relay(node_id=7, buffer=buffer)
        await relayed.client.send(*requests)
        sent = b"".join(requests)
        assert await relayed.broker.receive(len(sent)) == sent
        yield running, relayed


async def test_a_join_that_waits_is_answered_at_once() -> None:
    """It gets 16, and the connection ends before its broker has answered; the broker's answer then goes nowhere."""
    async with asking(JOIN) as (running, relayed):
        rise(running, relayed)
        assert relayed.connection.closed
        await relayed.broker.send(JOINED)
        assert await relayed.client.receive_all() == REFUSED
        await relayed.ended(Reason.REBOOTSTRAP)
        api = running.backend.counters.apis[JOIN_GROUP, 5]
        assert (api.requests, api.responses, api.response_bytes) == (1, 1, len(REFUSED))


async def test_the_end_does_not_overtake_the_answer() -> None:
    """kafka-python reads until its socket is empty, and loses what it has read when it meets the end there."""
    async with asking(JOIN) as (running, relayed):
        relayed.connection.progress -= 60  # it has waited for a minute
        begun = trio.current_time()
        rise(running, relayed)
        assert await relayed.client.receive(len(REFUSED)) == REFUSED
        assert await relayed.client.receive_all() == b""
        assert trio.current_time() - begun >= PAUSE_SECONDS
        await relayed.ended(Reason.REBOOTSTRAP)


async def test_a_join_behind_a_commit_waits_for_it() -> None:
    """The commit may have been done: its response comes first, then 16 for what comes next."""
    async with asking(COMMIT, JOIN) as (running, relayed):
        rise(running, relayed)
        assert not relayed.connection.closed
        await relayed.broker.send(COMMITTED)
        assert await relayed.client.receive_all() == COMMITTED + REFUSED
        await relayed.ended(Reason.REBOOTSTRAP)


async def test_a_commit_behind_a_join_is_waited_for() -> None:
    """Both responses are then the broker's."""
    async with asking(JOIN, COMMIT) as (running, relayed):
        rise(running, relayed)
        await relayed.broker.send(JOINED + COMMITTED)
        assert await relayed.client.receive_all() == JOINED + COMMITTED
        await relayed.ended(Reason.REBOOTSTRAP)


@pytest.mark.parametrize("size", [3, 8, len(JOINED) - 1])
async def test_a_response_that_has_begun_is_the_brokers(size: int) -> None:
    """Whether its head is there or not: no answer is sent in the midst of it."""
    async with asking(JOIN) as (running, relayed):
        await relayed.broker.send(JOINED[:size])
        await eventually(lambda: relayed.connection.responses.under_way, "some of a response")
        rise(running, relayed)
        await relayed.broker.send(JOINED[size:])
        assert await relayed.client.receive_all() == JOINED
        await relayed.ended(Reason.REBOOTSTRAP)


async def test_a_client_that_takes_its_time() -> None:
    """It gets a large response and the 16 behind it, and never the broker's own answer, which came meanwhile."""
    large = response(4, noise(2 * MIB))
    async with asking(request(4), JOIN, buffer=32 * KIB) as (running, relayed):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.broker.send, large)
            await eventually(lambda: relayed.connection.client.blocked, "a slow client")
            rise(running, relayed)
            assert await relayed.client.receive(len(large) - 64 * KIB) == large[: -64 * KIB]
            assert await relayed.client.receive_all() == large[-64 * KIB :] + REFUSED
        await relayed.ended(Reason.REBOOTSTRAP)


async def _full(connection: Connection) -> bool:
    """Whether the broker's buffers take no more, and not only until the kernel has moved their bytes."""
    with trio.move_on_after(0.2):
        await eventually(lambda: not connection.broker.blocked, "room at the broker")
    return connection.broker.blocked


async def test_a_broker_that_still_takes_what_it_was_asked() -> None:
    """Its answers are not read, which is no fault: the client has its 16 and is owed nothing more."""
    produced = frames.produce(9, 3, 0, records=noise(3 * KIB))  # read at once, so that none is left under way
    async with asking(JOIN, buffer=32 * KIB) as (running, relayed):
        connection, sent = relayed.connection, 0
        while not await _full(connection):
            await relayed.client.send(produced)
            sent += len(produced)
            await eventually(lambda: connection.received == len(JOIN) + sent, "a record without response")  # noqa: B023
        assert not connection.requests.under_way
        rise(running, relayed)
        await relayed.broker.send(JOINED)
        assert await relayed.client.receive(len(REFUSED)) == REFUSED
        assert not connection.closed
        with suppress(trio.BrokenResourceError):  # of what nobody read
            await relayed.broker.receive_all()
        assert await relayed.client.receive_all() == b""
        await relayed.ended(Reason.REBOOTSTRAP)


async def test_a_commit_that_has_just_arrived_is_refused() -> None:
    """It lies in the socket when the epoch rises: no broker gets it. So is one whose first bytes were read before."""
    head = 14 + len("c1")
    async with asking(frames.request(18, 0, 1)) as (running, relayed):
        await relayed.broker.send(frames.response(18, 0, 1))
        await relayed.client.receive(len(frames.response(18, 0, 1)))
        begun = running.relay(node_id=7)
        await begun.client.send(frames.request(18, 0, 1) + COMMIT[:11])
        assert len(await begun.broker.receive(head)) == head
        await begun.broker.send(frames.response(18, 0, 1))
        await begun.client.receive(len(frames.response(18, 0, 1)))
        relayed.client.sock.send(COMMIT)
        rise(running, relayed, begun)
        assert not begun.connection.closed
        await begun.client.send(COMMIT[11:])
        for one in (relayed, begun):
            assert await one.client.receive_all() == COMMITTED
            assert await one.broker.receive_all() == b""
        await relayed.ended(Reason.REBOOTSTRAP)


async def test_a_drain_refuses_nobody() -> None:
    """The topology is still there: a client that waits at its coordinator gets the broker's answer."""
    async with asking(JOIN) as (running, relayed):
        running.backend.means = Action.NOT_COORDINATOR
        running.pump.drain_one(relayed.connection)
        await relayed.broker.send(JOINED)
        assert await relayed.client.receive_all() == JOINED
        await relayed.ended(Reason.DRAINED)
