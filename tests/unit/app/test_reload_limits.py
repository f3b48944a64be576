"""Limits and timeouts that change while clients are connected."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import trio

from kproxy.app.reload import apply
from kproxy.observe.reasons import Reason
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.primitives import frame
from tests.unit.app.living import HEARTBEAT, Client, Living, brokers, living, once, settings
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.scripted_broker import ScriptedBroker


class Changing:
    """A process whose limits and timeouts change."""

    def __init__(self, alive: Living, broker: ScriptedBroker) -> None:
        self.alive = alive
        self.broker = broker
        self.cluster = alive.process.clusters[0]

    async def change(self, **parts: Mapping[str, Any]) -> None:
        """Reload with other settings, which are the only ones that differ."""
        config = self.alive.process.config
        named = {name: getattr(config, name).model_copy(update=values) for name, values in parts.items()}
        changed = await apply(self.alive.process, config.model_copy(update=named))
        assert changed.process == {f"{name}.{key}" for name, values in parts.items() for key in values}

    async def introduced(self) -> Client:
        """Return a client that is relayed."""
        client = await self.alive.client()
        await client.introduce("test", "1")
        return client

    async def refused(self) -> None:
        """Check that another client is not let in."""
        client = await self.alive.client()
        assert await client.receive_all() == b""

    def closed(self, reason: Reason) -> int:
        """Return how many connections have ended for a reason."""
        return self.cluster.counters.closed.get(reason, 0)


@asynccontextmanager
async def changing(**others: Any) -> AsyncIterator[Changing]:
    async with brokers((1,)) as (broker,), living(settings(broker, **others)) as alive:
        await alive.until_state("ready")
        yield Changing(alive, broker)


async def test_fewer_connections_than_there_are() -> None:
    """Nobody ends; the next client is refused until there are fewer, and let in by a higher limit."""
    async with changing() as process:
        clients = [await process.introduced() for _ in range(3)]
        await process.change(limits={"max_connections": 2})
        assert "kproxy_connections_limit 2" in await process.alive.text("/metrics")
        await process.refused()
        assert process.closed(Reason.CLIENT_LIMIT) == 1
        for client in clients:
            await client.send_metadata(2)
            await client.nodes(2)
        await process.change(limits={"max_connections": 100, "max_connections_per_address": 3})
        await process.refused()
        assert process.closed(Reason.ADDRESS_LIMIT) == 1
        await process.change(limits={"max_connections_per_address": 4})
        await process.introduced()


async def test_the_size_of_requests_on_a_connection_that_there_is() -> None:
    """Its next request is bounded by the new limit."""
    async with changing() as process:
        client = await process.introduced()
        await process.change(limits={"max_request_bytes": 100})
        await client.send_metadata(2)
        await client.nodes(2)
        head = encode_request_header(RequestHeader(HEARTBEAT, 0, 3, "app"))
        await client.send(frame(head, bytes(200)))
        assert await client.receive_all() == b""
        assert process.closed(Reason.FRAME_TOO_LARGE) == 1


async def test_the_size_of_responses_on_a_connection_that_there_is() -> None:
    """Its next response is bounded by the new limit."""
    async with changing() as process:
        client = await process.introduced()
        await process.change(limits={"max_response_bytes": 10, "max_held_bytes": 5})
        (connection,) = process.alive.process.relay.pump.connections.values()
        assert (connection.responses.limit, connection.responses.held_limit) == (10, 5)
        await client.send_metadata(2)
        assert await client.receive_all() == b""
        assert process.closed(Reason.FRAME_TOO_LARGE) == 1


async def test_clients_that_are_silent_already() -> None:
    """A shorter time ends those that have said nothing yet, and those that rest between two requests."""
    async with changing() as process:
        resting, silent = await process.introduced(), await process.alive.client()
        await eventually(lambda: process.alive.process.relay.acceptor.waiting == 1, "a silent client")
        await process.change(timeouts={"first_request": 0.1})
        assert await silent.receive_all() == b""
        await resting.send_metadata(2)
        await resting.nodes(2)
        await process.change(timeouts={"idle": 0.1})
        assert await resting.receive_all() == b""
        assert process.closed(Reason.IDLE_TIMEOUT) == 2


async def test_a_broker_that_is_waited_for_already() -> None:
    """A request that was sent before is bounded by the new time."""
    async with changing() as process:
        client, never = await process.introduced(), trio.Event()
        process.broker.script[3] = once(never)
        await client.send_metadata(2)
        await process.change(timeouts={"unanswered_request": 0.1})
        assert await client.receive_all() == b""
        assert process.closed(Reason.UNANSWERED_REQUEST) == 1
        never.set()


async def test_kproxys_own_requests() -> None:
    """The watcher, which runs already, waits as long as the new time says."""
    async with changing() as process:
        watcher, never = process.cluster.upstreams.watcher, trio.Event()
        process.broker.script[3] = once(never)
        await process.change(timeouts={"upstream_request": 0.2})
        await eventually(lambda: watcher.reachable is False, "a poll that has taken too long")
        never.set()
