"""Which metrics a client pushes, by its library and role.

Names, labels and types are those of kafka-clients 4.3 (KafkaMetricsCollector), librdkafka 2.13
(rdkafka_telemetry_encode) and franz-go 1.22 (metrics_714). The operator of the sample subscribed to these only: what
the pipeline's rules ask for, and a few more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from math import isnan
from typing import Final

from kproxy.demo.fleet.model import Role
from kproxy.demo.fleet.otlp import Reading, Series
from kproxy.demo.fleet.software import Dialect

_COORDINATOR: Final = 2**31 - 1
"""Java names the connection to its coordinator by this less the node's id."""


@dataclass(slots=True)
class Lately:
    """What an instance did since its last push."""

    seconds: float
    latency: Mapping[int, float]
    """Milliseconds a request, in the mean, by broker; NaN without requests."""
    by_second: Mapping[int, float]
    """Requests to each broker."""
    connects: int
    records: float
    record_bytes: float
    retried: float
    failed: float
    queued: float
    """Milliseconds that a record waits to be sent."""
    lag: float
    idle: float
    poll: float
    rebalances: int
    rebalance_seconds: float
    partitions: int
    coordinator: int
    """The node of the group's coordinator."""

    @property
    def all_latency(self) -> float:
        """Milliseconds a request, over all brokers."""
        known = [(self.latency[node], by_second) for node, by_second in self.by_second.items() if by_second]
        return _mean(known)


def _mean(weighed: list[tuple[float, float]]) -> float:
    weight = sum(share for _, share in weighed)
    return sum(value * share for value, share in weighed) / weight if weight else float("nan")


def readings(dialect: Dialect, role: Role, lately: Lately) -> list[Reading]:
    """Return the data points of a push."""
    return list(_PUSHED[dialect, role](lately))


@cache
def _gauge(name: str, *labels: tuple[str, str | int], whole: bool = False) -> Series:
    return Series(name, False, whole, labels)


@cache
def _sum(name: str, whole: bool = False) -> Series:
    return Series(name, True, whole)


def _java_nodes(kind: str, lately: Lately) -> Iterator[Reading]:
    yield _sum(f"{kind}.connection.creation.total"), lately.connects
    for node, latency in lately.latency.items():
        yield _gauge(f"{kind}.node.request.latency.avg", ("node_id", f"node-{node}")), latency


def _java_producer(lately: Lately) -> Iterator[Reading]:
    yield from _java_nodes("producer", lately)
    yield _gauge("producer.request.latency.avg"), lately.all_latency
    yield _gauge("producer.record.queue.time.avg"), lately.queued
    yield _sum("producer.record.send.total"), lately.records
    yield _sum("producer.record.retry.total"), lately.retried
    yield _sum("producer.record.error.total"), lately.failed
    yield _sum("producer.outgoing.byte.total"), round(lately.records * lately.record_bytes)


def _java_consumer(lately: Lately) -> Iterator[Reading]:
    yield from _java_nodes("consumer", lately)
    coordinator = f"node-{_COORDINATOR - lately.coordinator}"
    yield _gauge("consumer.node.request.latency.avg", ("node_id", coordinator)), 2.0 + lately.queued / 10
    yield _gauge("consumer.poll.idle.ratio.avg"), lately.idle
    yield _gauge("consumer.time.between.poll.max"), lately.poll * 1000
    yield _gauge("consumer.last.poll.seconds.ago"), float(int(lately.poll / 3))
    yield _gauge("consumer.coordinator.assigned.partitions"), float(lately.partitions)
    yield _gauge("consumer.coordinator.rebalance.latency.avg"), _each(lately)
    yield _sum("consumer.coordinator.rebalance.total"), float(lately.rebalances)
    yield _gauge("consumer.fetch.manager.fetch.latency.avg"), lately.all_latency
    yield _gauge("consumer.fetch.manager.records.lag.max"), float(round(lately.lag))
    yield _sum("consumer.fetch.manager.records.consumed.total"), lately.records
    yield _sum("consumer.fetch.manager.bytes.consumed.total"), round(lately.records * lately.record_bytes)


def _each(lately: Lately) -> float:
    """Milliseconds a rebalance; the mean of none is NaN."""
    return 1000 * lately.rebalance_seconds / lately.rebalances if lately.rebalances else float("nan")


def _librdkafka(kind: str, lately: Lately) -> Iterator[Reading]:
    yield _sum(f"{kind}.connection.creation.total", True), lately.connects
    # Brokers without requests have 0, as has the one of the bootstrap address.
    for node, latency in ((-1, 0.0), *lately.latency.items()):
        yield _gauge(f"{kind}.node.request.latency.avg", ("node.id", node)), _or_zero(latency)


def _librdkafka_producer(lately: Lately) -> Iterator[Reading]:
    yield from _librdkafka("producer", lately)
    yield _gauge("producer.request.latency.avg"), _or_zero(lately.all_latency)
    yield _gauge("producer.record.queue.time.avg"), lately.queued


def _librdkafka_consumer(lately: Lately) -> Iterator[Reading]:
    yield from _librdkafka("consumer", lately)
    yield _gauge("consumer.poll.idle.ratio.avg"), lately.idle
    yield _gauge("consumer.coordinator.assigned.partitions", whole=True), lately.partitions
    yield _gauge("consumer.coordinator.rebalance.latency.avg"), _or_zero(_each(lately))
    yield _gauge("consumer.fetch.manager.fetch.latency.avg"), _or_zero(lately.all_latency)


def _or_zero(value: float) -> float:
    return 0.0 if isnan(value) else value


def _franz_go(kind: str, lately: Lately) -> Iterator[Reading]:
    """It leaves out what is zero, and what did not change."""
    if lately.connects:
        yield _sum(f"{kind}.connection.creation.total", True), lately.connects
    for node, latency in lately.latency.items():
        # Not of a request, but of a second: what it calls the mean is the sum of all latencies by the time.
        if waited := _or_zero(latency) * lately.by_second[node] / 1000:
            yield _gauge(f"{kind}.node.request.latency.avg", ("node_id", node)), waited


_PUSHED: Final[Mapping[tuple[Dialect, Role], Callable[[Lately], Iterator[Reading]]]] = {
    (Dialect.JAVA, Role.PRODUCER): _java_producer,
    (Dialect.JAVA, Role.CONSUMER): _java_consumer,
    (Dialect.LIBRDKAFKA, Role.PRODUCER): _librdkafka_producer,
    (Dialect.LIBRDKAFKA, Role.CONSUMER): _librdkafka_consumer,
    (Dialect.FRANZ_GO, Role.PRODUCER): partial(_franz_go, "producer"),
    (Dialect.FRANZ_GO, Role.CONSUMER): partial(_franz_go, "consumer"),
}
