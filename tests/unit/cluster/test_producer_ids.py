"""Producer ids behind several upstream clusters, as clients of a whole process get and use them, and bad brokers."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import trio

from kproxy.app.reload import apply
from kproxy.producers.producer_ids import ProducerIds
from kproxy.wire.generated.init_producer_id_request import InitProducerIdRequest
from kproxy.wire.generated.init_producer_id_response import InitProducerIdResponse
from kproxy.wire.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kproxy.wire.header import RequestHeader, encode_request_header, encode_response_header
from kproxy.wire.primitives import frame
from tests.support.batches import batch, read
from tests.unit.app.living import HOST, Client, brokers, living, named_itself
from tests.unit.cluster.test_epochs import FLOOR, Two, described, two
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.scripted_broker import Behaviour, ScriptedBroker, closing, silent

INIT, PRODUCE, METADATA, VERSION = 22, 0, 3, 4
HEADER = RequestHeader(INIT, VERSION, 5, "app")
AUTHORIZATION_FAILED = 31


def issues(producer_id: int, error: int = 0) -> Behaviour:
    """Issue this id, again and again; or refuse with an error."""

    async def behaviour(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
        response = InitProducerIdResponse(error_code=error, producer_id=producer_id, producer_epoch=0)
        head = encode_response_header(header.correlation_id, INIT, header.api_version)
        await stream.send_all(frame(head, response.encode(header.api_version)))

    return behaviour


class Written:
    """The Produce requests that reached a broker, which answers none of them."""

    def __init__(self, broker: ScriptedBroker) -> None:
        self.ids: list[int] = []
        broker.script[PRODUCE] = silent
        handle = broker._handle

        async def kept(stream: trio.SocketStream, request: bytes) -> None:
            if request[:2] == bytes(2):
                sent = ProduceRequest.decode(request[8 + 2 + len("app") :], 8)
                records = sent.topic_data[0].partition_data[0].records
                assert records is not None
                self.ids.append(read(records).producer_id)
            await handle(stream, request)

        broker._handle = kept  # type: ignore[method-assign]


def _holds(written: Written, count: int) -> bool:
    return len(written.ids) == count


async def init(client: Client, header: RequestHeader = HEADER) -> InitProducerIdResponse:
    """Return a producer id, requested as an idempotent producer does."""
    with trio.fail_after(20):
        body = await client.ask(header, InitProducerIdRequest(transactional_id=None).encode(VERSION))
    return InitProducerIdResponse.decode(body[1:], VERSION)


async def write(client: Client, number: int, producer_id: int) -> None:
    """Send a batch of this producer, without waiting for its answer."""
    partition = PartitionProduceData(index=0, records=batch(producer_id))
    request = ProduceRequest(
        acks=-1, timeout_ms=1000, topic_data=[TopicProduceData(name="t", partition_data=[partition])]
    )
    await client.send(frame(encode_request_header(RequestHeader(PRODUCE, 8, number, "app")), request.encode(8)))


async def switch(process: Two, to: str) -> None:
    """Switch as soon as the floor allows."""
    with trio.fail_after(20):
        while (await process.post("failover", {"to": to}))[0] != 200:  # noqa: ASYNC110 (asked over HTTP)
            await trio.sleep(FLOOR / 5)


async def test_each_cluster_has_ids_of_its_own() -> None:
    """Both brokers issue 7, and clients get two ids. Each connection asks its broker for the cluster once."""
    async with two() as process:
        process.a.script[INIT] = process.b.script[INIT] = issues(7)
        before = process.a.requests(METADATA)
        client = await process.client()
        ids = [(await init(client)).producer_id for _ in range(3)]
        assert ids == [ProducerIds("a").issued(7, "A")] * 3
        assert process.a.requests(METADATA) - before <= 1 + 10  # kproxy's own polls, ten a second, are among them
        await switch(process, "b")
        assert (await init(await process.client())).producer_id == ProducerIds("b", 1).issued(7, "B")


async def test_batches_of_a_producer_that_moves() -> None:
    """They get another id only on their return to a cluster. Ids from before kproxy change at each move."""
    async with two() as process:
        process.a.script[INIT] = issues(7)
        at_a, at_b = Written(process.a), Written(process.b)
        moved = (await init(await process.client())).producer_id
        for upstream, written, count in (("a", at_a, 2), ("b", at_b, 2), ("a", at_a, 4)):
            if upstream != process.cluster.upstreams.active.name:
                await switch(process, upstream)
            client = await process.client()
            for number, producer_id in enumerate((moved, 7), 2):
                await write(client, number, producer_id)
            await eventually(partial(_holds, written, count), f"{count} batches at {upstream}")
        first, second = ProducerIds("b", 1), ProducerIds("a", 2, returned=True)
        assert at_b.ids == [moved, first.renumbered(7)]
        assert at_a.ids == [moved, 7, second.renumbered(moved), second.renumbered(7)]
        assert len({*at_a.ids, *at_b.ids}) == 5


async def test_another_cluster_behind_the_same_servers_is_a_move() -> None:
    """This holds with one upstream, too, where ids are kept apart."""
    cluster = {"failover": {"separate_producer_ids": True}, "upstreams": [], "bootstrap_servers": ""}
    async with brokers((1,)) as (broker,):
        broker.answer.cluster_id = "A"
        cluster["bootstrap_servers"] = f"{HOST}:{broker.port}"
        async with living(described(broker, broker, cluster=cluster)) as alive:
            await alive.until_state("ready")
            process = Two(alive, broker, broker)
            broker.script[INIT] = issues(7)
            assert (await init(await process.client())).producer_id == ProducerIds("main").issued(7, "A")
            broker.answer.cluster_id = "A2"
            named_itself(broker, 21)
            await eventually(lambda: process.cluster.epoch == 1, "a new epoch")
            assert (await init(await process.client())).producer_id == ProducerIds("main", 1).issued(7, "A2")


async def test_a_restart_goes_on_in_the_same_stay(tmp_path: Path) -> None:
    """Where state is kept, a producer that came back keeps its other id."""
    state = {"state": {"path": str(tmp_path / "state.db")}}
    async with brokers((1,), (2,)) as (a, b):
        a.answer.cluster_id, b.answer.cluster_id = "A", "B"
        async with living(described(a, b, **state)) as alive:
            await alive.until_state("ready")
            for upstream in ("b", "a"):
                await switch(Two(alive, a, b), upstream)
        async with living(described(a, b, **state)) as alive:
            await alive.until_state("ready")
            assert Two(alive, a, b).cluster.producer_ids == ProducerIds("a", 2, returned=True)


async def test_a_reload_switches_it_off() -> None:
    """For brokers that accept only ids that they have issued. Earlier ids are still understood."""
    async with two() as process:
        process.a.script[INIT] = issues(7)
        client = await process.client()
        assert (await init(client)).producer_id != 7
        off = {"failover": {"separate_producer_ids": False}}
        await apply(process.alive.process, described(process.a, process.b, cluster=off, admin=process.alive.listens))
        assert (await init(await process.client())).producer_id == 7
        assert process.cluster.producer_ids == ProducerIds("a", issues=False)


@pytest.mark.parametrize("second", [True, False])
async def test_a_reload_that_leads_to_the_same_cluster_is_no_move(second: bool) -> None:
    """Other bootstrap servers, or a second upstream: its brokers know these producers, and their duplicates."""
    async with brokers((1,), (2,)) as (a, b):
        a.answer.cluster_id, b.answer.cluster_id = "A", "B"
        alone = {"upstreams": [], "bootstrap_servers": f"{HOST}:{a.port}"}
        async with living(described(a, b, cluster={} if second else alone)) as alive:
            await alive.until_state("ready")
            process = Two(alive, a, b)
            servers = f"{HOST}:{a.port},localhost:{a.port}" if second else f"{HOST}:{a.port}"
            upstreams = [
                {"name": "a", "bootstrap_servers": servers},
                {"name": "b", "bootstrap_servers": f"{HOST}:{b.port}"},
            ]
            await apply(alive.process, described(a, b, cluster={"upstreams": upstreams}, admin=alive.listens))
            assert process.cluster.epoch == 1
            assert process.cluster.producer_ids == ProducerIds("a")


async def test_an_error_passes() -> None:
    """The client decides whether it asks again."""
    async with two() as process:
        process.a.script[INIT] = issues(-1, AUTHORIZATION_FAILED)
        client = await process.client()
        answer = await init(client)
        assert (answer.error_code, answer.producer_id) == (AUTHORIZATION_FAILED, -1)
        process.a.script[INIT] = issues(7)
        assert (await init(client)).producer_id == ProducerIds("a").issued(7, "A")


@pytest.mark.parametrize("api_key", [INIT, METADATA])
async def test_a_broker_that_closes(api_key: int) -> None:
    """On the client's request, or on kproxy's own: the client's connection ends, and the next one is served."""
    async with two() as process:
        process.a.script |= {INIT: issues(7), api_key: closing}
        client = await process.client()
        await client.send(
            frame(encode_request_header(HEADER), InitProducerIdRequest(transactional_id=None).encode(VERSION))
        )
        with trio.fail_after(20):
            assert await client.receive_all() == b""
        del process.a.script[api_key]
        process.a.script[INIT] = issues(7)
        assert (await init(await process.client())).producer_id == ProducerIds("a").issued(7, "A")


@pytest.mark.parametrize("api_key", [INIT, METADATA])
async def test_a_broker_that_does_not_answer(api_key: int) -> None:
    """Only that client waits, with the requests behind it. Another one does not, and the switch waits a second."""
    async with two() as process:
        process.a.script |= {INIT: issues(7), api_key: silent}
        waiting, other = await process.client(), await process.client()
        request = InitProducerIdRequest(transactional_id=None).encode(VERSION)
        await waiting.send(frame(encode_request_header(HEADER), request))
        await waiting.send_metadata(6)
        asked = (api_key, VERSION, "app")  # the request in the client's name; the versions happen to be the same
        await eventually(
            lambda: asked in [(one.api_key, one.api_version, one.client_id) for one in process.a.seen], "the request"
        )
        process.a.script[METADATA] = ScriptedBroker.good
        await other.send_metadata(7)
        with trio.fail_after(8):
            assert set(await other.nodes(7)) == {1, 2}
        await switch(process, "b")
        with trio.fail_after(12):
            assert await waiting.receive_all() == b""
