"""What Java's clients push, as captured from 4.3: each metric in a resource of its own, in a stable order."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import cramjam
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality, MetricsData, NumberDataPoint

METRICS: Final = 30
_INSTANCES_AN_APPLICATION: Final = 20

_P: Final = "org.apache.kafka.producer."
_C: Final = "org.apache.kafka.consumer."
_NODE: Final = ("node_id", "node-1")
_TOPIC: Final = ("topic", "")
_NONE: Final = ("", "")

# As many sums as gauges, and a third of all by node or topic: as in the captured pushes of 108 and 154.
_PRODUCER: Final = (
    ("response.total", _NONE),
    ("outgoing.byte.total", _NONE),
    ("topic.compression.rate", _TOPIC),
    ("requests.in.flight", _NONE),
    ("node.request.size.max", _NODE),
    ("node.response.rate", _NODE),
    ("network.io.total", _NONE),
    ("node.request.latency.avg", _NODE),
    ("request.rate", _NONE),
    ("topic.record.error.total", _TOPIC),
    ("record.queue.time.max", _NONE),
    ("buffer.total.bytes", _NONE),
    ("request.size.avg", _NONE),
    ("node.request.total", _NODE),
    ("bufferpool.wait.time.ns.total", _NONE),
    ("node.outgoing.byte.total", _NODE),
    ("request.latency.max", _NONE),
    ("record.send.total", _NONE),
    ("topic.record.send.total", _TOPIC),
    ("metadata.age", _NONE),
    ("record.send.rate", _NONE),
    ("connection.creation.total", _NONE),
    ("node.incoming.byte.rate", _NODE),
    ("record.error.total", _NONE),
    ("connection.count", _NONE),
    ("topic.record.retry.total", _TOPIC),
    ("io.time.ns.total", _NONE),
    ("topic.byte.total", _TOPIC),
    ("batch.size.avg", _NONE),
    ("request.latency.avg", _NONE),
)
_CONSUMER: Final = (
    ("connection.creation.total", _NONE),
    ("response.total", _NONE),
    ("node.outgoing.byte.total", _NODE),
    ("node.request.size.avg", _NODE),
    ("coordinator.commit.total", _NONE),
    ("node.request.total", _NODE),
    ("fetch.manager.bytes.consumed.total", _TOPIC),
    ("fetch.manager.fetch.latency.max", _NONE),
    ("fetch.manager.records.lag.max", _NONE),
    ("coordinator.commit.latency.avg", _NONE),
    ("network.io.rate", _NONE),
    ("fetch.manager.records.lead", _TOPIC),
    ("select.rate", _NONE),
    ("node.request.latency.avg", _NODE),
    ("node.incoming.byte.rate", _NODE),
    ("node.response.total", _NODE),
    ("fetch.manager.records.lag.avg", _TOPIC),
    ("coordinator.join.total", _NONE),
    ("commit.sync.time.ns.total", _NONE),
    ("fetch.manager.fetch.size.avg", _NONE),
    ("last.poll.seconds.ago", _NONE),
    ("time.between.poll.avg", _NONE),
    ("fetch.manager.records.consumed.total", _NONE),
    ("fetch.manager.records.consumed.rate", _TOPIC),
    ("fetch.manager.fetch.total", _NONE),
    ("coordinator.heartbeat.total", _NONE),
    ("request.total", _NONE),
    ("io.ratio", _NONE),
    ("incoming.byte.total", _NONE),
    ("poll.idle.ratio.avg", _NONE),
)


@dataclass(frozen=True, slots=True)
class Client:
    """A client of a fleet: even applications produce, the others consume; each has a topic and twenty instances."""

    number: int

    @property
    def application(self) -> int:
        return self.number // _INSTANCES_AN_APPLICATION

    @property
    def consumes(self) -> bool:
        return self.application % 2 == 1

    @property
    def client_id(self) -> str:
        return f"application-{self.application}"

    def pushes(self, count: int) -> list[bytes]:
        """Return its pushes, compressed with zstd as Java does it: the same metrics with other numbers each time."""
        return [_compressed(payload) for payload in self.payloads(time.time_ns() for _ in range(count))]

    def payloads(self, times: Iterable[int]) -> Iterator[bytes]:
        """Yield its pushes, as they are before they are compressed, made at these times in Unix nanoseconds."""
        rand = random.Random(self.number)
        data = MetricsData()
        points = [self._point(data, name, *attribute) for name, attribute in self._metrics()]
        for now in times:
            for point in points:
                point.time_unix_nano = now
                point.as_double = rand.choice((0.0, rand.random(), float(rand.randrange(100_000))))
            yield data.SerializeToString()

    def _metrics(self) -> list[tuple[str, tuple[str, str]]]:
        prefix, metrics = (_C, _CONSUMER) if self.consumes else (_P, _PRODUCER)
        return [(prefix + name, attribute) for name, attribute in metrics]

    def _point(self, data: MetricsData, name: str, key: str, value: str) -> NumberDataPoint:
        resource_metrics = data.resource_metrics.add()
        resource_metrics.resource.SetInParent()
        for attribute, text in self._resource():
            resource_metrics.resource.attributes.add(key=attribute).value.string_value = text
        metric = resource_metrics.scope_metrics.add().metrics.add(name=name)
        if name.endswith(".total"):
            metric.sum.is_monotonic = True
            metric.sum.aggregation_temporality = AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA
            point: NumberDataPoint = metric.sum.data_points.add(start_time_unix_nano=time.time_ns())
        else:
            point = metric.gauge.data_points.add()
        if key:
            point.attributes.add(key=key).value.string_value = value or f"orders-{self.application}"
        return point

    def _resource(self) -> list[tuple[str, str]]:
        if not self.consumes:
            return []
        member = f"{self.client_id}-a02201cf-d1ac-4f2b-9c0c-{self.number:012x}"
        return [("group_id", self.client_id), ("group_member_id", member), ("client_rack", "rack-1")]


def _compressed(payload: bytes) -> bytes:
    """Compress as a stream, whose frame does not say how much it holds."""
    compressor = cramjam.zstd.Compressor(level=3)
    compressor.compress(payload)
    return bytes(compressor.finish())
