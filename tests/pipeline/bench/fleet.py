"""A fleet's pushes as kproxy's `kafka` and `files` receivers write them, in the order in which they come."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final
from uuid import UUID

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.kafka import records_with
from kproxy.telemetry.subscription import ClientInfo
from tests.bench.pushes import Client
from tests.pipeline.written import BEGAN, CLUSTER, file

INTERVAL: Final = 30
"""Seconds between two pushes of a client."""
_CLIENTS: Final = 2_000
_VERSIONS: Final = ("3.7.2", "3.9.1", "4.1.0", "4.3.1")
_WITH_HISTOGRAM: Final = 50
"""One of so many clients pushes a histogram, too: its pushes have no fixed layout."""
_PUSHES_A_FILE: Final = 4_000
"""What this fleet pushes within a minute, after which kproxy finishes a file."""


def pushes(count: int) -> Iterator[Push]:
    """Yield pushes of 30 points: half of the clients produce, and half consume, each member with its own id."""
    clients = [_pushed_by(number, -(-count // _CLIENTS)) for number in range(_CLIENTS)]
    return islice((push for turn in zip(*clients, strict=True) for push in turn), count)


def _pushed_by(number: int, turns: int) -> Iterator[Push]:
    client = Client(number)
    info = ClientInfo(
        UUID(int=(1 << 127) + number),
        client.client_id,
        "apache-kafka-java",
        _VERSIONS[client.application % len(_VERSIONS)],
        f"10.0.{number % 200}.{number % 250}",
        30_000 + number,
    )
    own = [(BEGAN + INTERVAL * turn) * 10**9 + number * 10**6 for turn in range(turns)]
    for turn, payload in enumerate(client.payloads(own)):
        received = BEGAN + INTERVAL * (turn + number / _CLIENTS)
        yield Push(info, received, payload if number % _WITH_HISTOGRAM else _with_histogram(payload))


def _with_histogram(payload: bytes) -> bytes:
    """Make a histogram of the last metric of a push."""
    data = MetricsData.FromString(payload)
    metric = data.resource_metrics[-1].scope_metrics[-1].metrics[-1]
    now = metric.gauge.data_points[0].time_unix_nano
    metric.histogram.aggregation_temporality = 1
    metric.histogram.data_points.add(
        time_unix_nano=now, count=6, sum=12.5, explicit_bounds=[1.0, 10.0], bucket_counts=[1, 2, 3]
    )
    encoded: bytes = data.SerializeToString()
    return encoded


def to_topic(servers: str, topic: str, count: int, partitions: int) -> None:
    """Write a fleet's pushes to a new topic, by the id of the instance, as kproxy does."""
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(30)
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "queue.buffering.max.messages": 20_000,
            "linger.ms": 50,
            "compression.type": "zstd",
        }
    )
    record = records_with({"cluster": CLUSTER})
    for each in pushes(count):
        made = record(each)
        headers: list[tuple[str, str | bytes | None]] = list(made.headers)
        while len(producer) > 15_000:
            producer.poll(0.1)
        producer.produce(topic, made.value, made.key, timestamp=made.timestamp, headers=headers)
    assert producer.flush(60) == 0


def to_files(directory: Path, count: int) -> None:
    """Write a fleet's pushes to files, each of about a minute."""
    every = pushes(count)
    while some := list(islice(every, _PUSHES_A_FILE)):
        file(directory, some)
