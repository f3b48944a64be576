"""Subscriptions to clients' metrics made by Kafka's own tool and by kproxy's, and what clients push because of them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from kproxy.local_kafka import jars
from tests.support import golang, telemetry
from tests.support.backend import Backend
from tests.support.proxy import HOST, KPROXY, Proxy
from tests.support.side import Side
from tests.support.telemetry import ACKNOWLEDGED, UPTIME, Collector
from tests.support.wait import stays, until

pytestmark = pytest.mark.go

TOOL = "org.apache.kafka.tools.ClientMetricsCommand"
JAVA, LIBRDKAFKA, FRANZ_GO = "java", "librdkafka", "franz-go"
PRODUCER = "org.apache.kafka.producer."
CONNECTION, REQUEST = f"{PRODUCER}connection.", f"{PRODUCER}request."


@dataclass(frozen=True)
class Subscribed:
    """A kproxy without a subscription of its own, all clients at work, and the collector of their pushes."""

    side: Side
    collector: Collector

    def tool(self, *arguments: str) -> str:
        """Run kafka-client-metrics; return its output."""
        return self.side.java(TOOL, *arguments)

    def alter(self, name: str, metrics: str, match: str) -> None:
        """Make or change a subscription, with pushes each second."""
        changed = self.tool("--alter", "--name", name, "--metrics", metrics, "--interval", "1000", "--match", match)
        assert f"Altered client metrics config for {name}." in changed

    def kproxy(self, *arguments: str) -> str:
        """Run `kproxy telemetry`; return its output."""
        admin = ("--admin", f"http://{HOST}:{self.side.proxy.admin_port}")
        command = [KPROXY, "telemetry", *arguments, *admin]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def instances(self) -> dict[str, dict[str, Any]]:
        """Return what `kproxy telemetry instances` shows, by client id; each client has one instance."""
        shown = json.loads(self.kproxy("instances", "--json"))["instances"]
        found = {one["client_id"]: one for one in shown}
        assert len(found) == len(shown)
        return found

    def names(self, client_id: str, since: int = 0) -> set[str]:
        """Return the metrics that a client pushed after its first `since` pushes or parts of them."""
        return set[str]().union(*(one.names for one in telemetry.of(client_id, self.collector.pushed[since:])))

    def pushes_only(self, client_id: str, prefix: str) -> None:
        """Wait until a client pushes metrics with this prefix, and from then on no others."""
        began = len(self.collector.pushed)
        until(lambda: any(one.startswith(prefix) for one in self.names(client_id, began)), f"{client_id}: {prefix}")
        since = len(self.collector.pushed)
        until(lambda: self.names(client_id, since), f"{client_id}'s next push")
        assert all(one.startswith(prefix) for one in self.names(client_id, since))

    def answered(self, error: str, api: str = "PushTelemetry") -> float:
        """Return how many requests were answered with this error."""
        return self.side.proxy.metric("kproxy_telemetry_requests_total", api=api, error=error)

    def refused(self) -> float:
        """Return how many pushes were answered with 117, for an outdated subscription."""
        return self.answered("UNKNOWN_SUBSCRIPTION_ID")

    def quiet(self, refused: float) -> None:
        """Wait until so many pushes in all were refused, and check that no client pushes without a subscription."""
        until(lambda: self.refused() == refused, f"{refused:.0f} pushes are refused")
        pushes = self.answered("NONE")
        stays(lambda: self.answered("NONE") == pushes, "a client pushes without a subscription", 2.5)


@pytest.fixture(scope="module")
def subscribed(kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subscribed]:
    """Yield with all clients at work: they have asked what to push, and push nothing."""
    directory, topic = tmp_path_factory.mktemp("subscribed"), kafka.topic()
    with Collector() as collector, ExitStack() as clients:
        receivers = [{"name": "otlp", "type": "otlp", "url": collector.url, "linger": "50ms"}]
        servers = {"kafka": kafka.cluster.bootstrap}
        proxy = Proxy(directory, servers, each={"telemetry": {"interval": "1s"}}, receivers=receivers)
        side = Side(clients.enter_context(proxy), "kafka", kafka, directory)
        found = Subscribed(side, collector)
        clients.enter_context(side.running(telemetry.java_producer(side.bootstrap, directory, JAVA, topic)))
        clients.enter_context(side.running(telemetry.librdkafka_producer(side.bootstrap, LIBRDKAFKA, topic)))
        clients.enter_context(side.running(telemetry.franz_go_client(side.bootstrap, FRANZ_GO, topic)))
        until(lambda: found.instances().keys() == {JAVA, LIBRDKAFKA, FRANZ_GO}, "all clients ask what to push")
        assert collector.pushed == []
        yield found


def test_kafka_client_metrics(subscribed: Subscribed) -> None:
    """The tool alters, lists, describes and deletes; each client follows at its next push."""
    java = rf"client_software_name=apache-kafka-java,client_software_version={re.escape(jars.KAFKA_4_3.version)}"
    refused = subscribed.refused()
    subscribed.alter("of-java", CONNECTION, java)
    subscribed.pushes_only(JAVA, CONNECTION)
    assert subscribed.tool("--list").split() == ["of-java"]
    described = subscribed.tool("--describe", "--name", "of-java")
    for config in ("interval.ms=1000", f"metrics={CONNECTION}", f"match={java}"):
        assert config in described

    assert subscribed.refused() == refused
    subscribed.alter("of-java", REQUEST, java)
    subscribed.pushes_only(JAVA, REQUEST)
    assert subscribed.refused() == refused + 1
    assert not subscribed.names(LIBRDKAFKA) | subscribed.names(FRANZ_GO), "a subscription of Java's reached others"

    subscribed.alter("of-librdkafka", CONNECTION, r"client_software_version=2\..*")
    subscribed.pushes_only(LIBRDKAFKA, CONNECTION)
    assert not subscribed.names(FRANZ_GO), "a subscription of librdkafka's reached franz-go"

    franz_go = f"client_software_version=v{re.escape(golang.franz_go_version())}"
    subscribed.alter("of-franz-go", UPTIME, franz_go)
    subscribed.pushes_only(FRANZ_GO, UPTIME)
    assert subscribed.refused() == refused + 1
    subscribed.alter("of-franz-go", ACKNOWLEDGED, franz_go)
    subscribed.pushes_only(FRANZ_GO, ACKNOWLEDGED)
    assert subscribed.refused() == refused + 2
    subscribed.pushes_only(LIBRDKAFKA, CONNECTION)
    subscribed.pushes_only(JAVA, REQUEST)

    assert subscribed.tool("--list").split() == ["of-franz-go", "of-java", "of-librdkafka"]
    for name in ("of-java", "of-librdkafka", "of-franz-go"):
        assert f"Deleted client metrics config for {name}." in subscribed.tool("--delete", "--name", name)
    assert subscribed.tool("--list").split() == []
    subscribed.quiet(refused + 5)


def test_kproxy_telemetry(subscribed: Subscribed) -> None:
    """`kproxy telemetry` subscribes, shows the clients that push for it, changes it, forgets it; a client follows."""
    refused, version = subscribed.refused(), f"v{golang.franz_go_version()}"
    match = ("--match", "client_software_name=kgo", "--match", f"client_software_version={re.escape(version)}")
    command = ("subscribe", "mine", "--cluster", "kafka", "--interval", "1s", *match, "--metrics")
    assert subscribed.kproxy(*command, UPTIME) == "kafka: mine: clients learn of it at their next push\n"
    subscribed.pushes_only(FRANZ_GO, UPTIME)

    [line] = [line for line in subscribed.kproxy("subscriptions").splitlines() if " mine " in line]
    assert re.split(" {2,}", line.strip())[:4] == ["kafka", "mine", UPTIME, "1s"]
    shown = subscribed.instances()
    own = shown[FRANZ_GO]
    assert (own["software_name"], own["software_version"], own["subscriptions"]) == ("kgo", version, ["mine"])
    assert (own["cluster"], own["interval_ms"], own["last_error"]) == ("kafka", 1000, None)
    assert {own["id"]} == {one.instance for one in telemetry.of(FRANZ_GO, subscribed.collector.pushed)}
    assert (datetime.now(UTC) - datetime.fromisoformat(own["last_push"])).total_seconds() < 5
    later = until(lambda: (now := subscribed.instances()[FRANZ_GO])["pushes"] > own["pushes"] and now, "a push more")
    assert later["last_push"] > own["last_push"]
    assert later["bytes"] > own["bytes"]
    others = {JAVA: "apache-kafka-java", LIBRDKAFKA: "confluent-kafka-python"}
    assert {name: shown[name]["software_name"] for name in others} == others
    assert {name: shown[name]["subscriptions"] for name in others} == {name: [] for name in others}
    [line] = [line for line in subscribed.kproxy("instances").splitlines() if own["id"] in line]
    cells = re.split(" {2,}", line.strip())
    assert cells[:6] == ["kafka", own["id"], own["client"], FRANZ_GO, f"kgo {version}", "mine"]

    assert subscribed.refused() == refused
    subscribed.kproxy(*command, ACKNOWLEDGED)
    subscribed.pushes_only(FRANZ_GO, ACKNOWLEDGED)
    assert subscribed.refused() == refused + 1
    assert subscribed.kproxy("unsubscribe", "mine", "--cluster", "kafka") == "kafka: mine: gone\n"
    assert json.loads(subscribed.kproxy("subscriptions", "--json")) == {"subscriptions": []}
    subscribed.quiet(refused + 2)
