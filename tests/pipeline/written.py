"""Files and records as kproxy writes them, by its own writers, and what is in them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from uuid import UUID

from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.delivery.files import Segment
from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.json_lines import lines
from kproxy.telemetry.subscription import ClientInfo, kafka_text

BEGAN = 1_790_000_000
"""Unix seconds: 2026-09-21."""
CLUSTER = "main"
CONSTANT = {"env": 't"e,s:t', "rack": "r1", "cluster": CLUSTER, "proxy": "kproxy-0"}
"""What a receiver adds to each push: two settings of its own, then who writes."""


def payload(client: int, turn: int, metrics: int = 6) -> bytes:
    """OTLP as a Java producer pushes it: gauges, delta sums of doubles and of integers, with labels."""
    rng = random.Random(f"{client} {turn}")
    data = MetricsData()
    resource = data.resource_metrics.add()
    resource.resource.attributes.add(key="client_rack").value.string_value = f"r{client % 3}"
    scope = resource.scope_metrics.add()
    now = (BEGAN + 30 * turn) * 10**9
    for number in range(metrics):
        metric = scope.metrics.add(name=f"org.apache.kafka.producer.metric.{number}", unit="ms")
        if number % 3 == 0:
            point = metric.gauge.data_points.add(as_double=rng.random())
        else:
            metric.sum.aggregation_temporality = 1
            metric.sum.is_monotonic = True
            point = metric.sum.data_points.add(start_time_unix_nano=now - 30 * 10**9)
            if number % 3 == 1:
                point.as_int = rng.randrange(-5, 1 << 40)
            else:
                point.as_double = rng.random() * 1e9
        point.time_unix_nano = now
        point.attributes.add(key="topic").value.string_value = f"topic-{client % 5}"
    encoded: bytes = data.SerializeToString()
    return encoded


def push(client: int, turn: int, of: bytes | None = None) -> Push:
    """A push of a client, half a second after its own clock."""
    software, principal = ("apache-kafka-java", "4.1.0"), None if client % 2 else "User:alice"
    info = ClientInfo(UUID(int=client + 1), f"app-{client % 7}", *software, "10.0.0.1", 40_000 + client, principal)
    return Push(info, BEGAN + 30 * turn + 0.5, payload(client, turn) if of is None else of)


def file(directory: Path, pushes: Iterable[Push]) -> Path:
    """A finished file of the `files` receiver, with a gzip member for each push."""
    segment = Segment(directory, "telemetry", BEGAN)
    for each in pushes:
        segment.append(b"".join(line for line in lines(each, CONSTANT) if line))
    segment.finish()
    return segment.path


Point = tuple[str, str, str, float]
"""Client instance, metric, topic, value."""


def points(pushes: Iterable[Push]) -> Iterator[Point]:
    """What is pushed, counted without the pipeline."""
    for each in pushes:
        instance = kafka_text(each.info.client_instance_id)
        for resource in MetricsData.FromString(each.payload).resource_metrics:
            for metric in resource.scope_metrics[0].metrics:
                form = metric.WhichOneof("data")
                for point in getattr(metric, form or "gauge").data_points:
                    value = point.as_int if point.WhichOneof("value") == "as_int" else point.as_double
                    yield instance, metric.name, point.attributes[0].value.string_value, float(value)
