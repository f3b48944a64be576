"""Subscriptions to clients' metrics made by Kafka's own tool, and which clients push what because of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from kproxy.demo import jars
from tests.support import telemetry
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.side import Side
from tests.support.telemetry import Collector
from tests.support.wait import stays, until

TOOL = "org.apache.kafka.tools.ClientMetricsCommand"
JAVA, LIBRDKAFKA = "java", "librdkafka"
PRODUCER = "org.apache.kafka.producer."
CONNECTION, REQUEST = f"{PRODUCER}connection.", f"{PRODUCER}request."


@dataclass(frozen=True)
class Subscribed:
    """A kproxy without a subscription of its own, both clients at work, and the collector of what they push."""

    side: Side
    collector: Collector

    def tool(self, *arguments: str) -> str:
        """Run kafka-client-metrics; its output."""
        return self.side.java(TOOL, *arguments)

    def alter(self, name: str, metrics: str, match: str) -> None:
        """Make or change a subscription, with pushes each second."""
        changed = self.tool("--alter", "--name", name, "--metrics", metrics, "--interval", "1000", "--match", match)
        assert f"Altered client metrics config for {name}." in changed

    def names(self, client_id: str, since: int = 0) -> set[str]:
        """Metrics that a client pushed, but for so many pushes or parts of them before."""
        return set[str]().union(*(one.names for one in telemetry.of(client_id, self.collector.pushed[since:])))

    def answered(self, error: str, api: str = "PushTelemetry") -> float:
        """How many requests were answered so."""
        return self.side.proxy.metric("kproxy_telemetry_requests_total", api=api, error=error)


@pytest.fixture
def subscribed(kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subscribed]:
    """Both clients have asked at least twice what to push, and push nothing."""
    directory, topic = tmp_path_factory.mktemp("subscribed"), kafka.topic()
    with Collector() as collector, ExitStack() as clients:
        receivers = [{"name": "otlp", "type": "otlp", "url": collector.url, "linger": "50ms"}]
        servers = {"kafka": kafka.cluster.bootstrap}
        proxy = Proxy(directory, servers, each={"telemetry": {"interval": "1s"}}, receivers=receivers)
        side = Side(clients.enter_context(proxy), "kafka", kafka, directory)
        found = Subscribed(side, collector)
        clients.enter_context(side.running(telemetry.java_producer(side.bootstrap, directory, JAVA, topic)))
        clients.enter_context(side.running(telemetry.librdkafka_producer(side.bootstrap, LIBRDKAFKA, topic)))
        until(lambda: found.answered("NONE", "GetTelemetrySubscriptions") >= 4, "both clients ask what to push")
        assert collector.pushed == []
        yield found


def test_kafka_client_metrics(subscribed: Subscribed) -> None:
    """The tool alters, lists, describes, deletes; who pushes what follows, each client at its next push."""
    java = rf"client_software_name=apache-kafka-java,client_software_version={version(jars.KAFKA_4_3.version)}"
    subscribed.alter("of-java", CONNECTION, java)
    until(lambda: subscribed.names(JAVA), "Java pushes")
    assert subscribed.tool("--list").split() == ["of-java"]
    described = subscribed.tool("--describe", "--name", "of-java")
    for config in ("interval.ms=1000", f"metrics={CONNECTION}", f"match={java}"):
        assert config in described

    assert all(name.startswith(CONNECTION) for name in subscribed.names(JAVA))
    assert subscribed.answered("UNKNOWN_SUBSCRIPTION_ID") == 0
    subscribed.alter("of-java", REQUEST, java)
    until(lambda: any(name.startswith(REQUEST) for name in subscribed.names(JAVA)), "Java pushes what it is asked now")
    assert subscribed.answered("UNKNOWN_SUBSCRIPTION_ID") == 1
    since = len(subscribed.collector.pushed)
    until(lambda: subscribed.names(JAVA, since), "Java's next push")
    assert all(name.startswith(REQUEST) for name in subscribed.names(JAVA, since))
    assert not subscribed.names(LIBRDKAFKA), "a subscription of Java's reached librdkafka"

    subscribed.alter("of-librdkafka", CONNECTION, r"client_software_version=2\..*")
    until(lambda: subscribed.names(LIBRDKAFKA), "librdkafka pushes")
    assert all(name.startswith(CONNECTION) for name in subscribed.names(LIBRDKAFKA))
    since = len(subscribed.collector.pushed)
    until(lambda: subscribed.names(JAVA, since), "Java pushes on")
    assert all(name.startswith(REQUEST) for name in subscribed.names(JAVA, since))

    assert subscribed.tool("--list").split() == ["of-java", "of-librdkafka"]
    for name in ("of-java", "of-librdkafka"):
        assert f"Deleted client metrics config for {name}." in subscribed.tool("--delete", "--name", name)
    assert subscribed.tool("--list").split() == []
    until(lambda: subscribed.answered("UNKNOWN_SUBSCRIPTION_ID") == 3, "both clients' pushes are refused")
    pushes = subscribed.answered("NONE")
    stays(lambda: subscribed.answered("NONE") == pushes, "a client pushes without a subscription", 2.5)


def version(text: str) -> str:
    """A regex of this version only."""
    return text.replace(".", r"\.")
