"""Clients and what they push, for the tests of telemetry's core."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypedDict, Unpack
from uuid import UUID

from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.telemetry.quotas import Quotas
from kproxy.telemetry.service import Telemetry
from kproxy.telemetry.subscription import ClientInfo, Subscription
from kproxy.telemetry.subscriptions import Subscriptions
from kproxy.wire.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kproxy.wire.generated.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse
from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest
from kproxy.wire.primitives import ZERO_UUID

ID: Final = UUID("b69cc35a-7a54-4790-aa69-cc2bd4ee4538")
JAVA: Final = ClientInfo(ID, "orders", "apache-kafka-java", "4.3.0", "10.0.0.1", 40_001)
LIBRDKAFKA: Final = ClientInfo(UUID(int=7), "billing", "librdkafka", "2.12.0", "10.0.0.2", 40_002)
UNKNOWN: Final = ClientInfo(UUID(int=8), None, None, None, "10.0.0.3", 40_003)
NOW: Final = 1_760_000_000.0
INTERVAL: Final = 10.0


class Parts(TypedDict, total=False):
    """What differs in a push from that of a well-behaved client."""

    payload: bytes
    codec: int
    terminating: bool
    subscription_id: int


class Options(TypedDict, total=False):
    """Options of a Telemetry besides its subscriptions."""

    max_bytes: int
    clock: Callable[[], float]
    quotas: Quotas


def metrics(count: int = 1) -> bytes:
    """OTLP as a client makes it."""
    data = MetricsData()
    scope = data.resource_metrics.add().scope_metrics.add()
    for number in range(count):
        metric = scope.metrics.add(name=f"org.apache.kafka.producer.metric.{number}", unit="ms")
        metric.sum.data_points.add(as_double=number + 0.5, time_unix_nano=int(NOW * 1e9))
    encoded: bytes = data.SerializeToString()
    return encoded


def wide(partitions: int, *, topic: str = "orders") -> bytes:
    """OTLP as Java's consumer makes it of its partitions, with all metrics: each in a resource of its own."""
    whole = bytearray()
    for number in range(6 * partitions):
        data = MetricsData()
        resource = data.resource_metrics.add()
        resource.resource.attributes.add(key="group_id").value.string_value = "orders-consumers"
        metric = resource.scope_metrics.add().metrics.add(name=f"org.apache.kafka.consumer.fetch.{number % 6}")
        point = metric.gauge.data_points.add(as_double=number + 0.5, time_unix_nano=int(NOW * 1e9))
        for key, value in (("topic", topic), ("partition", str(number // 6))):
            point.attributes.add(key=key).value.string_value = value
        whole += data.SerializeToString()
    return bytes(whole)


def telemetry(fixed: Iterable[Subscription] | None = None, **options: Unpack[Options]) -> Telemetry:
    """A Telemetry in which every client pushes everything each `INTERVAL`, unless other subscriptions are given."""
    everything = [Subscription("all", metrics=("*",), interval_ms=int(INTERVAL * 1000))]
    return Telemetry(Subscriptions(everything if fixed is None else fixed), **options)


def get(
    server: Telemetry, now: float = NOW, info: ClientInfo = JAVA, instance_id: UUID | None = None
) -> GetTelemetrySubscriptionsResponse:
    """The answer to a client that asks; `ZERO_UUID` asks for a new id."""
    asked = info.client_instance_id if instance_id is None else instance_id
    return server.get(info, GetTelemetrySubscriptionsRequest(client_instance_id=asked), now)


def request(
    server: Telemetry,
    info: ClientInfo = JAVA,
    *,
    payload: bytes | None = None,
    codec: int = 0,
    terminating: bool = False,
    subscription_id: int | None = None,
) -> PushTelemetryRequest:
    """What a well-behaved client pushes, except for the given parts."""
    present = server.subscriptions.of(info).subscription_id(info.client_instance_id)
    return PushTelemetryRequest(
        client_instance_id=info.client_instance_id,
        subscription_id=present if subscription_id is None else subscription_id,
        terminating=terminating,
        compression_type=codec,
        metrics=metrics() if payload is None else payload,
    )


def pushed(server: Telemetry, now: float = NOW, info: ClientInfo = JAVA, **parts: Unpack[Parts]) -> int:
    """The error code of one push."""
    return server.push(info, request(server, info, **parts), now)[0].error_code


__all__ = ["ZERO_UUID", "get", "metrics", "pushed", "request", "telemetry", "wide"]
