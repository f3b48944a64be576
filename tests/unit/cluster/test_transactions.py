"""Transactional ids behind two upstream clusters: ids as brokers know them, and what a failover ends."""

from __future__ import annotations

import trio

from kproxy.app.view import ProcessView
from kproxy.producers.producer_ids import ProducerIds
from kproxy.transactions.transactional_id import Cause, Producer, State
from kproxy.wire.generated.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kproxy.wire.generated.add_offsets_to_txn_response import AddOffsetsToTxnResponse
from kproxy.wire.generated.init_producer_id_request import InitProducerIdRequest
from kproxy.wire.generated.init_producer_id_response import InitProducerIdResponse
from kproxy.wire.header import RequestHeader, encode_request_header, encode_response_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame
from tests.unit.app.living import Client
from tests.unit.cluster.test_epochs import two
from tests.unit.cluster.test_producer_ids import switch
from tests.unit.upstream.scripted_broker import Behaviour, ScriptedBroker

NAME, VERSION = "orders", 3


def answers(response: WireMessage) -> Behaviour:
    """Answer each request by this response."""

    async def behaviour(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
        del broker
        head = encode_response_header(header.correlation_id, header.api_key, header.api_version)
        await stream.send_all(frame(head, response.encode(header.api_version)))

    return behaviour


async def ask(client: Client, number: int, request: InitProducerIdRequest | AddOffsetsToTxnRequest) -> bytes:
    """Return the response's body behind its tagged fields."""
    head = encode_request_header(RequestHeader(request.api_key, VERSION, number, "app"))
    await client.send(frame(head, request.encode(VERSION)))
    return (await client.answer(number))[1:]


async def test_a_failover_ends_a_transaction() -> None:
    """The table has the broker's id, the client another one; at the other cluster the transaction is over."""
    async with two() as process:
        process.a.script[22] = answers(InitProducerIdResponse(producer_id=7, producer_epoch=3))
        process.a.script[25] = answers(AddOffsetsToTxnResponse())
        client, table = await process.client(), process.cluster.transactional_ids
        begun = await ask(client, 2, InitProducerIdRequest(NAME, 60_000))
        given = InitProducerIdResponse.decode(begun, VERSION).producer_id
        assert given == ProducerIds("a").issued(7, "A")
        await ask(client, 3, AddOffsetsToTxnRequest(NAME, given, 3, "g"))
        found = table.find(NAME)
        assert (found.state, found.producer, found.groups) == (State.BEGUN, Producer(7, 3), ("g",))
        assert (found.client.client_id, found.client.software) == ("app", ("apache-kafka-java", "4.3.1"))
        await switch(process, "b")
        assert (found.state, found.cause, table.open) == (State.ABORTED, Cause.FAILOVER, 0)


async def test_time_passes_when_somebody_looks() -> None:
    """The view and a scrape end what has timed out; other virtual clusters' ids are not shown."""
    async with two() as process:
        process.a.script[22] = answers(InitProducerIdResponse(producer_id=7, producer_epoch=3))
        process.a.script[25] = answers(AddOffsetsToTxnResponse())
        client, view = await process.client(), ProcessView(process.alive.process)
        given = InitProducerIdResponse.decode(await ask(client, 2, InitProducerIdRequest(NAME, 1)), VERSION).producer_id
        await ask(client, 3, AddOffsetsToTxnRequest(NAME, given, 3, "g"))
        with trio.fail_after(40):
            while process.cluster.transactional_ids.open:
                await view.count()
                await trio.sleep(0.001)
        (found,) = await view.transactions("c")
        assert (found.cluster, found.transactional_id, found.state) == ("c", NAME, "timed_out")
        assert (found.last_result, found.transaction_timeout) == ("timed_out", 0.001)
        assert [one.transactional_id for one in await view.transactions(None)] == [NAME]
        assert list(await view.transactions("other")) == []
