"""Client telemetry at both ends: clients that push, and what each receiver got of it, in one form."""

from __future__ import annotations

import gzip
import json
import math
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

from confluent_kafka import Consumer, Message, TopicPartition
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData, ResourceMetrics
from prometheus_client.parser import text_string_to_metric_families

from tests.support import golang
from tests.support.backend import Backend
from tests.support.client import java_tool
from tests.support.proxy import Proxy
from tests.support.wait import until

CONNECTIONS = "org.apache.kafka.producer.connection.creation.total"
"""A sum that occurs once in every push of Java and of librdkafka; franz-go leaves out what did not change."""
SENT = "org.apache.kafka.producer.record.send.total"
"""A metric of Java's producer: the number of records that it sent."""
ACKNOWLEDGED = "com.example.records.acknowledged.total"
"""A metric of the application that produces with franz-go (KIP-1076): the number of records that it sent."""
UPTIME = "com.example.uptime.seconds"
"""The application's other metric, a gauge that occurs once in every push."""
RATE = 20
"""Records a second of each client."""


def java_producer(
    bootstrap: str, directory: Path, client_id: str, topic: str, records: int = -1, classpath: str | None = None
) -> list[str]:
    """Return the command of the verifiable producer, which ends after so many records, or never.

    Java's sender pushes its last metrics only while it has something else to send: so its last records linger.
    """
    settings = directory / f"{client_id}.properties"
    settings.write_text(f"client.id={client_id}\nenable.metrics.push=true\nlinger.ms=3000\n")
    limits = ("--max-messages", str(records), "--throughput", str(RATE))
    arguments = ("--bootstrap-server", bootstrap, "--topic", topic, *limits, "--command-config", str(settings))
    return java_tool("org.apache.kafka.tools.VerifiableProducer", *arguments, classpath=classpath)


def librdkafka_producer(
    bootstrap: str, client_id: str, topic: str, records: int = -1, others: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Return the same command of confluent-kafka, with `others` of its settings."""
    script = Path(__file__).with_name("clients") / "telemetry_confluent_kafka.py"
    settings = {"bootstrap.servers": bootstrap, "client.id": client_id, **others}
    return [sys.executable, str(script), json.dumps({"settings": settings, "topic": topic, "records": records})]


def franz_go_client(bootstrap: str, client_id: str, topic: str, records: int = -1) -> list[str]:
    """Return the same command of franz-go; this client also reads its topic in a group."""
    settings = {"bootstrap.servers": bootstrap, "client.id": client_id, "group.id": f"{client_id}-of-{topic}"}
    spoken = {"settings": settings, "topic": topic, "records": records}
    return [str(golang.franz_go()), "telemetry", json.dumps(spoken)]


@dataclass(frozen=True, slots=True)
class Pushed:
    """A client's push, or a part of it. `points` are its finite numbers; `terminating` is None where it is unknown."""

    client_id: str
    instance: str
    points: tuple[tuple[str, float], ...]
    terminating: bool | None = None

    @property
    def names(self) -> set[str]:
        """Its metrics."""
        return {name for name, _ in self.points}


@dataclass(frozen=True, slots=True)
class Totals:
    """One client's totals: its instance ids, how many pushes, and the sum of each metric over all pushes."""

    instances: frozenset[str]
    pushes: int
    sums: dict[str, float]


def of(client_id: str, pushed: Iterable[Pushed]) -> list[Pushed]:
    """Return what one client pushed, in its order."""
    return [one for one in pushed if one.client_id == client_id]


def totals(client_id: str, pushed: Iterable[Pushed], once: str = CONNECTIONS) -> Totals:
    """Return one client's totals; the metric `once` occurs once in every push. Sums do not depend on the order."""
    own = of(client_id, pushed)
    values: dict[str, list[float]] = {}
    for name, value in (point for one in own for point in one.points):
        values.setdefault(name, []).append(value)
    sums = {name: math.fsum(summed) for name, summed in values.items()}
    return Totals(frozenset(one.instance for one in own), len(values.get(once, ())), sums)


class Collector:
    """An OTLP/HTTP server on opentelemetry-proto's types, in place of a collector.

    `taken` holds what it took, `pushed` the same in the form of all receivers.
    """

    def __init__(self) -> None:
        self.taken: list[ResourceMetrics] = []
        self.pushed: list[Pushed] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.taken, self._server.pushed = self.taken, self.pushed
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="collector")
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/metrics"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    taken: list[ResourceMetrics]
    pushed: list[Pushed]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        expected = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
        if any(self.headers[name] != value for name, value in expected.items()):
            self.send_error(415)
            return
        request = ExportMetricsServiceRequest.FromString(gzip.decompress(body))
        self.server.taken.extend(request.resource_metrics)
        self.server.pushed.extend(_of_resource(resource) for resource in request.resource_metrics)
        answer = ExportMetricsServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def delivered(proxy: Proxy, receivers: Iterable[Mapping[str, Any]]) -> bool:
    """True when each receiver has delivered or dropped all that it was offered."""
    return all(
        proxy.metric("kproxy_telemetry_receiver_offered_total", receiver=one["name"])
        == proxy.metric("kproxy_telemetry_receiver_delivered_total", receiver=one["name"])
        + proxy.metric("kproxy_telemetry_receiver_dropped_total", receiver=one["name"])
        for one in receivers
    )


def in_files(directory: Path) -> list[Pushed]:
    """Return the pushes that complete files hold, in their order."""
    files = sorted(directory.glob("*.json.gz"))
    return [_of_line(json.loads(line)) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


def in_topic(backend: Backend, topic: str) -> list[Pushed]:
    """Return the pushes in a topic with one partition."""
    end = backend.end_offsets(topic)[0]
    consumer = Consumer({"bootstrap.servers": backend.cluster.bootstrap, "group.id": "reader", "log_level": 0})
    messages: list[Message] = []
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        until(lambda: _drunk(consumer, messages) >= end, f"{end} records of {topic}")
    finally:
        consumer.close()
    return [_of_record(message) for message in messages]


def on_page(proxy: Proxy) -> dict[str, dict[str, float]]:
    """Return each client's counters at /metrics/clients, summed up, by Prometheus' name."""
    status, page = proxy.get("/metrics/clients")
    assert status == 200, page
    found: dict[str, dict[str, float]] = {}
    for family in text_string_to_metric_families(page.decode()):
        for sample in family.samples:
            if sample.name.endswith("_total"):
                counters = found.setdefault(sample.labels["client_id"], {})
                counters[sample.name] = counters.get(sample.name, 0.0) + sample.value
    return found


def attributes_of(resource: ResourceMetrics) -> dict[str, str]:
    """Return what the resource says of its client; kproxy writes texts."""
    return {one.key: one.value.string_value for one in resource.resource.attributes}


def _of_resource(resource: ResourceMetrics) -> Pushed:
    attributes = attributes_of(resource)
    return Pushed(attributes["client_id"], attributes["client_instance_id"], tuple(_points(resource)))


def _drunk(consumer: Consumer, messages: list[Message]) -> int:
    messages += consumer.consume(1000, 0.2)
    return len(messages)


def _of_record(message: Message) -> Pushed:
    assert message.error() is None, message.error()
    found = message.headers()
    assert isinstance(found, list), found
    headers = {name: value.decode() if isinstance(value, bytes) else value or "" for name, value in found}
    assert (message.key() or b"").decode() == headers["client_instance_id"]
    data = MetricsData.FromString(message.value() or b"")
    points = tuple(point for resource in data.resource_metrics for point in _points(resource))
    return Pushed(headers["client_id"], headers["client_instance_id"], points, headers["terminating"] == "true")


def _of_line(line: dict[str, Any]) -> Pushed:
    points = tuple((one["name"], one["value"]) for one in line["metrics"] if one["value"] is not None)
    return Pushed(line["client_id"], line["client_instance_id"], points, line["terminating"])


def _points(resource: ResourceMetrics) -> Iterator[tuple[str, float]]:
    for scope in resource.scope_metrics:
        for metric in scope.metrics:
            for point in (metric.sum if metric.HasField("sum") else metric.gauge).data_points:
                value = point.as_int if point.HasField("as_int") else point.as_double
                if math.isfinite(value):
                    yield metric.name, value
