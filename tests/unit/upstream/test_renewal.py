"""Fresh connections to the bootstrap servers: in turn, with at most one more than before, and the old one goes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

from kproxy.errors import UpstreamError
from kproxy.upstream.client import UpstreamClient
from kproxy.upstream.dial import open_tcp
from kproxy.upstream.handshake import HELLO
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.header import RequestHeader
from tests.unit.upstream import scripted_broker as script
from tests.unit.upstream.scripted_broker import API_VERSIONS, METADATA, ScriptedBroker, eventually

Start = Callable[..., Awaitable[UpstreamClient]]


@pytest.fixture
async def brokers(nursery: trio.Nursery) -> list[ScriptedBroker]:
    """Three brokers; the first two are bootstrap servers."""
    three = [ScriptedBroker() for _ in range(3)]
    for broker in three:
        await nursery.start(broker.run)
        broker.name_nodes({1: broker.address})
    return three


@pytest.fixture
def start(nursery: trio.Nursery, brokers: list[ScriptedBroker]) -> Start:
    """Start a client, with backoff without randomness."""

    async def start(servers: int = 2, **settings: Any) -> UpstreamClient:
        chosen: dict[str, Any] = {"request_timeout": 5.0, "rand": lambda: 0.5} | settings
        client = UpstreamClient([broker.address for broker in brokers[:servers]], **chosen)
        await nursery.start(client.run)
        client.set_nodes({3: brokers[2].address})
        return client

    return start


async def test_servers_are_asked_in_turn_each_time_on_a_fresh_connection(
    start: Start, brokers: list[ScriptedBroker]
) -> None:
    """Ten polls: five for each server on five connections, of which one stays open."""
    client = await start()
    for _ in range(10):
        await client.metadata(fresh=True)
    assert [broker.requests(METADATA) for broker in brokers] == [5, 5, 0]
    assert [broker.accepted for broker in brokers] == [5, 5, 0]
    await eventually(lambda: [broker.open for broker in brokers] == [1, 1, 0], "one connection each")


async def test_other_uses_do_not_shift_the_turns(start: Start, brokers: list[ScriptedBroker]) -> None:
    """A server that is probed as a node all the time is still asked as often as the other."""
    client = await start()
    client.set_nodes({1: brokers[0].address})
    for _ in range(6):
        await client.metadata(fresh=True)
        await client.request(HELLO, ApiVersionsResponse, node=1)
    assert [broker.requests(METADATA) for broker in brokers[:2]] == [3, 3]


async def test_the_fresh_connection_serves_the_requests_that_follow(
    start: Start, brokers: list[ScriptedBroker]
) -> None:
    """It has replaced the old one: there is no third connection."""
    client = await start(1)
    await client.metadata()
    await client.metadata(fresh=True)
    await client.metadata()
    assert brokers[0].accepted == 2


async def test_requests_in_flight_on_the_old_connection_are_answered(
    start: Start, brokers: list[ScriptedBroker]
) -> None:
    """It ends with the last of them, not when it is replaced."""
    client = await start(1)
    client.set_nodes({1: brokers[0].address})
    await client.metadata()
    gate = trio.Event()

    async def late(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
        del broker.script[METADATA]
        await gate.wait()
        await broker.good(stream, header)

    brokers[0].script[METADATA] = late
    answers: list[MetadataResponse] = []

    async def ask() -> None:
        answers.append(await client.request(MetadataRequest(topics=[]), MetadataResponse, node=1))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await eventually(lambda: METADATA not in brokers[0].script, "the request is under way")
        await client.metadata(fresh=True)
        assert brokers[0].open == 2
        assert not answers
        gate.set()
    assert answers[0].cluster_id == "scripted"
    await eventually(lambda: brokers[0].open == 1, "the old connection is closed")


async def test_never_more_than_one_extra_connection(start: Start, brokers: list[ScriptedBroker]) -> None:
    """A request that is never answered keeps the old connection until the next renewal, no longer."""
    client = await start(1)
    client.set_nodes({1: brokers[0].address})
    await client.metadata()
    most = 0
    failures: list[str] = []

    async def stuck() -> None:
        with pytest.raises(UpstreamError) as caught:
            await client.request(MetadataRequest(topics=[]), MetadataResponse, node=1)
        failures.append(str(caught.value))

    def asked_again(before: int) -> bool:
        return brokers[0].requests(METADATA) > before

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            brokers[0].script[METADATA] = script.silent
            before = brokers[0].requests(METADATA)
            nursery.start_soon(stuck)
            await eventually(partial(asked_again, before), "the request is out")
            brokers[0].script.clear()
            await client.metadata(fresh=True)
            await trio.testing.wait_all_tasks_blocked(0.01)
            most = max(most, brokers[0].open)
        await client.metadata(fresh=True)
    assert most == 2
    assert len(failures) == 4
    assert all("a fresh connection took over long ago" in failure for failure in failures)


async def test_renewals_at_the_same_time_come_one_after_the_other(start: Start, brokers: list[ScriptedBroker]) -> None:
    """Ten at once: all are answered, with never more than two connections."""
    client = await start(1)
    most = 0

    async def watched(host: str, port: int) -> trio.abc.Stream:
        nonlocal most
        await trio.testing.wait_all_tasks_blocked(0.005)
        most = max(most, brokers[0].open + 1)
        return await open_tcp(host, port)

    client = await start(1, dial=watched)
    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(lambda: client.metadata(fresh=True))
    assert brokers[0].accepted == 10
    assert most == 2


async def test_a_fresh_connection_that_fails_leaves_the_old_one(start: Start, brokers: list[ScriptedBroker]) -> None:
    """The next server answers, the connection that failed is closed, and the old one still serves."""
    client = await start()
    client.set_nodes({1: brokers[0].address, 2: brokers[1].address})
    for node in (1, 2):
        await client.request(HELLO, ApiVersionsResponse, node=node)
    brokers[0].script[METADATA] = script.closing
    for _ in range(2):
        assert (await client.metadata(fresh=True)).cluster_id == "scripted"
    dials = brokers[0].accepted
    assert dials >= 2  # the second poll dials too where the backoff is over by then
    await client.request(HELLO, ApiVersionsResponse, node=1)
    assert brokers[0].accepted == dials
    await eventually(lambda: brokers[0].open == 1, "the fresh connection is closed")


async def test_a_server_that_comes_back_is_asked_again(start: Start, brokers: list[ScriptedBroker]) -> None:
    """Though the nodes answer all the time."""
    client = await start(1)
    brokers[0].script[API_VERSIONS] = script.closing
    assert (await client.metadata(fresh=True)).cluster_id == "scripted"
    assert brokers[2].requests(METADATA) == 1
    brokers[0].script.clear()
    with trio.fail_after(20):
        while not brokers[0].requests(METADATA):
            await client.metadata(fresh=True)
            await trio.sleep(0.02)


async def test_a_server_in_backoff_is_not_dialled(start: Start, brokers: list[ScriptedBroker]) -> None:
    """Of a hundred polls while it waits, the node answers all, and the server gets one dial or two."""
    client = await start(1)
    brokers[0].script[API_VERSIONS] = script.closing
    begun = trio.current_time()
    for _ in range(100):
        await client.metadata(fresh=True)
    elapsed = trio.current_time() - begun
    assert brokers[2].requests(METADATA) == 100
    assert brokers[2].accepted == 1
    assert brokers[0].accepted <= 3 + elapsed / 0.02


async def test_a_renewal_that_is_cancelled_leaves_nothing_open(start: Start, brokers: list[ScriptedBroker]) -> None:
    """At the handshake or at the answer, the fresh connection is closed and does not hinder the next one."""
    client = await start(1)
    for key in (API_VERSIONS, METADATA):
        brokers[0].script[key] = script.silent
        with trio.move_on_after(0.1) as scope:
            await client.metadata(fresh=True)
        assert scope.cancelled_caught
        await eventually(lambda: brokers[0].open == 0, "the connection is closed")
        brokers[0].script.clear()
    assert (await client.metadata(fresh=True)).cluster_id == "scripted"


async def test_servers_that_hang_cost_one_share_of_the_time(start: Start, brokers: list[ScriptedBroker]) -> None:
    """Two servers are dead and a node is well: the answer comes after one of them, not after both."""
    for broker in brokers[:2]:
        broker.script[METADATA] = script.silent
    client = await start()
    for _ in range(2):
        await client.metadata(fresh=True, limit=0.3)
    before = sum(broker.requests(METADATA) for broker in brokers[:2])
    assert (await client.metadata(fresh=True, limit=0.3)).cluster_id == "scripted"
    assert sum(broker.requests(METADATA) for broker in brokers[:2]) == before + 1
