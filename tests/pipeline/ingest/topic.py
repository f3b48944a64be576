"""A topic with what kproxy's `kafka` receiver writes; and what the tables then have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.interface import OTLP
from kproxy.telemetry.receivers.kafka import records_with
from tests.pipeline.written import CONSTANT, Point

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Table = Callable[[str], "DataFrame"]


def created(servers: str, topic: str) -> AdminClient:
    """Make a topic of one partition."""
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    return admin


def written(servers: str, topic: str, pushes: Iterable[Push]) -> Producer:
    """Write pushes as kproxy does."""
    producer, record = Producer({"bootstrap.servers": servers}), records_with(CONSTANT)
    for each in pushes:
        made = record(each)
        headers: list[tuple[str, str | bytes | None]] = list(made.headers)
        producer.produce(topic, made.value, made.key, timestamp=made.timestamp, headers=headers, partition=0)
    assert producer.flush(30) == 0
    return producer


def produced(servers: str, topic: str, pushes: list[Push]) -> None:
    """Write pushes to a topic, each twice, as after a lost answer; an event, and something that nobody can read."""
    created(servers, topic)
    producer = written(servers, topic, [*pushes, *pushes])
    otlp: list[tuple[str, str | bytes | None]] = [
        ("content-type", OTLP.encode()),
        ("client_instance_id", b"x"),
    ]
    producer.produce(topic, b"nonsense", headers=otlp, partition=0)
    event = b'{"event":"a_later_kind","at":"2026-11-24T00:00:00.000Z","schema":1,"new":1}'
    producer.produce(topic, event, headers=[("content-type", b"application/json")], partition=0)
    assert producer.flush(30) == 0


def counted(table: Table) -> Counter[Point]:
    """Each point in the table `points`, and how often it is there."""
    rows = table("points").selectExpr("client_instance_id", "metric", "labels['topic']", "value").collect()
    return Counter(tuple(row) for row in rows)
