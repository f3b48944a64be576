"""Injected faults on real sockets: what is held counts as nobody's delay, and a connection that ends says why."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from kproxy.cluster.policies import composed
from kproxy.config import Timeouts
from kproxy.config.faults import FaultRule
from kproxy.faults.policies import policies
from kproxy.faults.rules import Rules
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiTable
from kproxy.relay.deadlines import Deadlines
from tests.unit.relay import frames
from tests.unit.relay.sockets import Relayed, Stage, eventually, stage

PAUSE = 0.3
PING, PONG = frames.heartbeat(1)
PRODUCE = frames.produce(11, 2, transactional_id="t")


@asynccontextmanager
async def faulty(**rule: Any) -> AsyncIterator[tuple[Stage, Relayed]]:
    """A relayed connection; a rule for Produce is in force."""
    async with stage() as running:
        rules = Rules(time.monotonic, lambda: 0.0)
        rules.add(FaultRule.model_validate({"api": "Produce"} | rule))
        faults = policies(rules, lambda context, one, version: None)
        running.backend.table = ApiTable(running.backend.counters, composed(running.backend, {}, None, faults=faults))
        yield running, running.relay()


async def test_delay() -> None:
    """What is before goes on at once; a request that has come in part is held, and is neither idle nor stalled."""
    of_idle, in_mid_frame = Deadlines(Timeouts(idle=PAUSE / 10)), Deadlines(Timeouts(stalled_frame=PAUSE / 3))
    async with faulty(delay=PAUSE) as (_, relayed):
        begun = time.monotonic()
        await relayed.client.send(PING + PRODUCE[:30])
        assert await relayed.broker.receive(len(PING)) == PING
        await relayed.broker.send(PONG)
        assert await relayed.client.receive(len(PONG)) == PONG
        for deadlines in (of_idle, in_mid_frame):
            assert deadlines.overdue(relayed.connection, begun + PAUSE * 0.9) is None
        await eventually(lambda: relayed.connection.in_mid_request, "the client is read again")
        assert time.monotonic() - begun >= PAUSE
        assert in_mid_frame.overdue(relayed.connection, begun + PAUSE) is None
        await relayed.client.send(PRODUCE[30:])
        assert await relayed.broker.receive(len(PRODUCE)) == PRODUCE


async def test_a_drain_in_the_meantime() -> None:
    """What was received before is answered, then the connection closes."""
    async with faulty(delay=PAUSE) as (_, relayed):
        await relayed.client.send(PRODUCE)
        await eventually(lambda: relayed.connection.requests.throttled, "the request is held")
        relayed.connection.drain(Reason.DRAINED)
        assert await relayed.broker.receive(len(PRODUCE)) == PRODUCE
        await relayed.broker.send(back := frames.produced(11, 2))
        assert await relayed.client.receive(len(back)) == back
        await eventually(lambda: relayed.connection.closed, "it is closed")
        assert relayed.connection.life.reason is Reason.DRAINED


async def test_close() -> None:
    """The end is counted under its own reason; the response from before reaches the client."""
    async with faulty(close=True) as (running, relayed):
        await relayed.client.send(PING + PRODUCE)
        assert await relayed.broker.receive(len(PING)) == PING
        await relayed.broker.send(PONG)
        assert await relayed.client.receive(len(PONG)) == PONG
        await eventually(lambda: relayed.connection.closed, "it is closed")
        assert running.backend.counters.closed == {Reason.FAULT_INJECTED: 1}
