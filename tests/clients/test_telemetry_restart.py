"""A restart of kproxy that pushing clients do not notice: subscriptions and their ids stay."""

from __future__ import annotations

import struct
from contextlib import ExitStack
from pathlib import Path
from uuid import UUID

import pytest

from tests.support import telemetry
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, frame, string
from tests.support.side import Side
from tests.support.telemetry import Collector
from tests.support.wait import until

pytestmark = pytest.mark.go

TOOL = "org.apache.kafka.tools.ClientMetricsCommand"
CLIENTS = ("java", "librdkafka", "franz-go")
INSTANCE = UUID("6b0a8c3e-51a2-4d67-9a4b-2f7a80c0de01")
GET_TELEMETRY_SUBSCRIPTIONS = 71


def test_a_restart(kafka: Backend, tmp_path: Path) -> None:
    """With `state.path`: the tool's subscription is still there, each id is the same, no push is answered with 117."""
    topic = kafka.topic()
    with Collector() as collector, ExitStack() as clients:
        proxy = Proxy(
            tmp_path,
            {"kafka": kafka.cluster.bootstrap},
            each={"telemetry": {"interval": "1s", "subscriptions": [{"name": "fixed", "metrics": "a."}]}},
            receivers=[{"name": "otlp", "type": "otlp", "url": collector.url, "linger": "50ms"}],
            state={"path": str(tmp_path / "state.db")},
        )
        side = Side(clients.enter_context(proxy), "kafka", kafka, tmp_path)
        metrics = ("--metrics", "org.apache.kafka.producer.connection.", "--interval", "1000")
        side.java(TOOL, "--alter", "--name", "kept", *metrics)
        clients.enter_context(side.running(telemetry.java_producer(side.bootstrap, tmp_path, "java", topic)))
        clients.enter_context(side.running(telemetry.librdkafka_producer(side.bootstrap, "librdkafka", topic)))
        clients.enter_context(side.running(telemetry.franz_go_client(side.bootstrap, "franz-go", topic)))
        before, subscription_id = instances_after(collector, 0), subscription_id_of(proxy)

        proxy.stop()
        since = len(collector.pushed)
        proxy.start()

        assert subscription_id_of(proxy) == subscription_id
        assert instances_after(collector, since) == before
        assert proxy.metric("kproxy_telemetry_requests_total", api="PushTelemetry", error="NONE") >= 3
        assert proxy.metric("kproxy_telemetry_requests_total", error="UNKNOWN_SUBSCRIPTION_ID") == 0
        assert sorted(side.java(TOOL, "--list").split()) == ["fixed", "kept"]
        described = side.java(TOOL, "--describe", "--name", "kept")
        assert "metrics=org.apache.kafka.producer.connection." in described


def instances_after(collector: Collector, since: int) -> dict[str, set[str]]:
    """Return all clients' instance ids, once each has pushed to the collector after its first `since` parts."""
    found: dict[str, set[str]] = {}

    def every() -> bool:
        pushed = collector.pushed[since:]
        found.update({client: {one.instance for one in telemetry.of(client, pushed)} for client in CLIENTS})
        return all(found.values())

    until(every, "all clients push")
    return found


def subscription_id_of(proxy: Proxy) -> int:
    """Return the subscription id that an instance of the test's own gets, byte by byte."""
    head = struct.pack(">hhi", GET_TELEMETRY_SUBSCRIPTIONS, 0, 1) + string("raw") + b"\0"
    with RawClient(proxy.port()) as client:
        answer = client.ask(frame(head + INSTANCE.bytes + b"\0"))
    _, _, error, instance, subscription_id = struct.unpack_from(">bih16si", answer)
    assert (error, instance) == (0, INSTANCE.bytes)
    return int(subscription_id)
