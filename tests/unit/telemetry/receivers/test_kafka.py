"""kproxy.telemetry.receivers.kafka: records of pushes, read back by librdkafka's consumer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

import pytest
import trio
from confluent_kafka import Producer

from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.interface import OTLP
from kproxy.telemetry.receivers.json_lines import lines
from kproxy.telemetry.receivers.kafka import Kafka, records_with
from kproxy.telemetry.receivers.labels import known
from kproxy.telemetry.subscription import kafka_text
from kproxy.upstream.client import UpstreamClient
from tests.unit.delivery.test_kafka import consumed
from tests.unit.telemetry.clients import JAVA, NOW, request, telemetry
from tests.unit.telemetry.receivers.pushes import client, gauge, push

Address = tuple[str, int]


@pytest.fixture
def mock_cluster() -> Iterator[list[Address]]:
    """Three brokers of librdkafka's mock cluster, which lives as long as its producer."""
    producer = Producer({"test.mock.num.brokers": 3, "bootstrap.servers": "replaced by the mock's"})
    yield [(broker.host, broker.port) for broker in producer.list_topics(timeout=10).brokers.values()]
    producer.flush(0)


def pushed(number: int) -> Push:
    """A push of one of many clients."""
    return push(gauge("g", float(number)), info=client(number, client_id=str(number)))


async def test_read_back_by_librdkafka(mock_cluster: list[Address]) -> None:
    """Key, value, time and headers of each push."""
    receiver = Kafka("kafka", lambda: UpstreamClient(mock_cluster), "telemetry", records_with({"cluster": "main"}))
    pushes = {kafka_text(each.info.client_instance_id): each for each in map(pushed, range(20))}
    async with trio.open_nursery() as nursery:
        await nursery.start(receiver.run)
        for each in pushes.values():
            assert receiver.offer(each)
        with trio.fail_after(80):
            await receiver.flush()
        nursery.cancel_scope.cancel()
    messages = await trio.to_thread.run_sync(consumed, mock_cluster, "telemetry", 20)
    for message in messages:
        sent = pushes.pop(message.key().decode())
        assert message.value() == sent.payload
        assert message.timestamp()[1] == 1_700_000_000_500
        assert message.headers() == [
            ("content-type", OTLP.encode()),
            *((name, value.encode()) for name, value in known(sent.info)),
            ("cluster", b"main"),
            ("terminating", b"false"),
        ]
    assert pushes == {}


def test_whom_the_broker_authenticated() -> None:
    """The principal is a header; of one instance that comes back as somebody else, each push has its own."""
    record = records_with({})
    pushes = [push(gauge("g", 1.0), info=client()._replace(principal=who)) for who in (None, "User:alice", "User:bób")]
    found = [dict(record(each).headers).get("principal") for each in pushes]
    assert found == [None, b"User:alice", "User:bób".encode()]


@pytest.mark.parametrize("later", [0.0, 0.0004, 0.0006, 0.2819996, 0.7559998, 0.9996])
def test_the_time_of_a_push_is_that_of_its_line(later: float) -> None:
    """To the millisecond: who reads a topic and a directory knows by it that two pushes are one."""
    server = telemetry()
    _, accepted = server.push(JAVA, request(server), NOW + later)
    assert accepted is not None
    (line,) = (json.loads(line) for line in lines(accepted, {}) if line)
    written = datetime.fromisoformat(line["received_at"]).timestamp()
    assert records_with({})(accepted).timestamp == round(written * 1000) == round((NOW + later) * 1000)


def test_a_time_that_has_no_exact_double() -> None:
    """1001 ms: a thousand times the double next to 1.001 is below."""
    assert records_with({})(Push(client(), 1.001, b"")).timestamp == 1001
