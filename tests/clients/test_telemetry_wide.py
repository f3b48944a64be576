"""Client telemetry of a consumer of many partitions, with all metrics: none is refused, and every receiver has all.

Java writes each metric of each partition with its resource: from 420 partitions on kproxy refused every push, for ever.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest
from confluent_kafka import Producer

from tests.support import telemetry
from tests.support.backend import Backend
from tests.support.client import java_tool
from tests.support.proxy import Proxy
from tests.support.side import Side
from tests.support.telemetry import Collector, Pushed
from tests.support.wait import until

PARTITIONS = 600
CLIENT = "wide"
LAG = "org.apache.kafka.consumer.fetch.manager.records.lag"
"""A gauge of each partition from which records came."""
ONCE = "org.apache.kafka.consumer.connection.creation.total"
RECEIVERS = ("files", "otlp", "topic")


@pytest.fixture(scope="module")
def pushing(
    kafka: Backend, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Proxy, Mapping[str, list[Pushed]]]]:
    """Java's consumer reads a record of each partition, pushes three times and closes."""
    directory = tmp_path_factory.mktemp("wide")
    files, sink = directory / "files", kafka.topic(partitions=1)
    topic = kafka.topic(PARTITIONS, replicas=1)
    one_record_each(kafka, topic)
    with Collector() as collector:
        receivers = [
            {"name": "page", "type": "prometheus"},
            {"name": "files", "type": "files", "directory": str(files), "file_age": "1s", "linger": "200ms"},
            {"name": "otlp", "type": "otlp", "url": collector.url},
            {"name": "topic", "type": "kafka", "topic": sink},
        ]
        subscribed = {
            "interval": "1s",
            "subscriptions": [{"name": "everything", "metrics": "*"}],
            **dict.fromkeys(("connection_decode", "address_decode"), 1),  # in plain Python a push takes 0.1 s
        }
        servers = {"kafka": kafka.cluster.bootstrap}
        with Proxy(directory, servers, each={"telemetry": subscribed}, receivers=receivers) as proxy:
            consume(Side(proxy, "kafka", kafka, directory), topic)
            until(lambda: telemetry.delivered(proxy, receivers), "every receiver has delivered")
            until(lambda: not list(files.glob(".*")), "every file is complete")
            yield (
                proxy,
                {
                    "files": telemetry.in_files(files),
                    "otlp": list(collector.pushed),
                    "topic": telemetry.in_topic(kafka, sink),
                },
            )
    kafka.delete(topic)


def one_record_each(kafka: Backend, topic: str) -> None:
    """Write a record to each partition: Java has no metrics of those from which nothing came."""
    producer = Producer({"bootstrap.servers": kafka.cluster.bootstrap})
    for partition in range(PARTITIONS):
        producer.produce(topic, b"x", partition=partition)
    assert producer.flush(60) == 0


def consume(side: Side, topic: str) -> None:
    """Run the consumer until it has pushed three times since it has read from every partition."""
    settings = side.directory / "wide.properties"
    settings.write_text(f"client.id={CLIENT}\nenable.metrics.push=true\nauto.offset.reset=earliest\n")
    group = ("--topic", topic, "--group-id", side.fresh("wide"), "--command-config", str(settings))
    command = java_tool("org.apache.kafka.tools.VerifiableConsumer", "--bootstrap-server", side.bootstrap, *group)
    with side.running(command) as client:
        until(lambda: read(client.lines()) >= PARTITIONS, "a record of each partition is read", 120)
        before = pushes(side.proxy)
        until(lambda: pushes(side.proxy) >= before + 4, "a push that was under way, and three more", 60)
        os.kill(client.process.pid, signal.SIGTERM)
        client.process.wait(60)


def read(lines: list[dict[str, object]]) -> int:
    """Return how many records the consumer says it has read."""
    return sum(int(str(each["count"])) for each in lines if each["name"] == "records_consumed")


def pushes(proxy: Proxy, **labels: str) -> float:
    """Return how many pushes were answered."""
    return proxy.metric("kproxy_telemetry_requests_total", api="PushTelemetry", **labels)


def test_no_push_is_refused(pushing: tuple[Proxy, Mapping[str, list[Pushed]]]) -> None:
    """Each is answered with NONE; no receiver drops one, and no data point is left out."""
    proxy, _ = pushing
    assert pushes(proxy, error="NONE") == pushes(proxy) >= 4
    assert proxy.metric("kproxy_telemetry_receiver_dropped_total") == 0
    assert proxy.metric("kproxy_telemetry_points_dropped_total") == 0
    assert proxy.metric("kproxy_telemetry_refused_total") == 0


@pytest.mark.parametrize("receiver", RECEIVERS)
def test_every_partition_arrives(pushing: tuple[Proxy, Mapping[str, list[Pushed]]], receiver: str) -> None:
    """Three pushes have the lag of each partition, and so has the page."""
    proxy, received = pushing
    counted = Counter(name for push in received[receiver] for name, _ in push.points)
    assert counted[LAG] >= 3 * PARTITIONS
    status, page = proxy.get("/metrics/clients")
    assert status == 200, page
    series = [line for line in page.decode().splitlines() if line.startswith(LAG.replace(".", "_") + "{")]
    assert len(series) == PARTITIONS


def test_the_same_totals_everywhere(pushing: tuple[Proxy, Mapping[str, list[Pushed]]]) -> None:
    """Each receiver has as many pushes, and the same sum of each metric."""
    _, received = pushing
    at = {name: telemetry.totals(CLIENT, received[name], ONCE) for name in RECEIVERS}
    assert at["files"] == at["topic"]
    assert at["otlp"] == at["topic"]
    assert at["topic"].pushes == len(received["topic"]) >= 4
