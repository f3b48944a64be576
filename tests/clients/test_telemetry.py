"""Client telemetry (KIP-714): what real clients push arrives at every receiver, and is the same at each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from tests.support import telemetry
from tests.support.backend import Backend
from tests.support.promtool import complaints
from tests.support.proxy import Proxy
from tests.support.side import Side
from tests.support.telemetry import ACKNOWLEDGED, CONNECTIONS, SENT, UPTIME, Collector, Pushed, Totals
from tests.support.wait import until

pytestmark = pytest.mark.go

JAVA, LIBRDKAFKA, FRANZ_GO = "java", "librdkafka", "franz-go"
ONCE = {JAVA: CONNECTIONS, LIBRDKAFKA: CONNECTIONS, FRANZ_GO: UPTIME}
"""Each client, with a metric that occurs once in each of its pushes."""
RECORDS = 120


@dataclass(frozen=True)
class Pushing:
    """A kproxy to which all clients pushed until they ended, with the pushes at the receivers that keep them apart."""

    proxy: Proxy
    received: Mapping[str, list[Pushed]]

    def totals(self, client_id: str) -> dict[str, Totals]:
        """Return one client's totals, by receiver."""
        return {name: telemetry.totals(client_id, pushed, ONCE[client_id]) for name, pushed in self.received.items()}


@pytest.fixture(scope="module")
def pushing(kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pushing]:
    """Clients of Java, librdkafka and franz-go push everything each second, send RECORDS, close."""
    directory = tmp_path_factory.mktemp("telemetry")
    files, topic, sink = directory / "files", kafka.topic(), kafka.topic(partitions=1)
    with Collector() as collector:
        receivers = [
            {"name": "page", "type": "prometheus"},
            {"name": "files", "type": "files", "directory": str(files), "file_age": "1s", "linger": "200ms"},
            {"name": "otlp", "type": "otlp", "url": collector.url},
            {"name": "topic", "type": "kafka", "topic": sink},
        ]
        subscribed = {"interval": "1s", "subscriptions": [{"name": "everything", "metrics": "*"}]}
        servers = {"kafka": kafka.cluster.bootstrap}
        with Proxy(directory, servers, each={"telemetry": subscribed}, receivers=receivers) as proxy:
            run_all(Side(proxy, "kafka", kafka, directory), topic)
            until(lambda: telemetry.delivered(proxy, receivers), "every receiver has delivered")
            until(lambda: not list(files.glob(".*")), "every file is complete")
            received = {
                "files": telemetry.in_files(files),
                "otlp": list(collector.pushed),
                "topic": telemetry.in_topic(kafka, sink),
            }
            yield Pushing(proxy, received)


def run_all(side: Side, topic: str) -> None:
    """Run all clients until they end by themselves."""
    commands = (
        telemetry.java_producer(side.bootstrap, side.directory, JAVA, topic, RECORDS),
        telemetry.librdkafka_producer(side.bootstrap, LIBRDKAFKA, topic, RECORDS),
        telemetry.franz_go_client(side.bootstrap, FRANZ_GO, topic, RECORDS),
    )
    with ExitStack() as clients:
        for client in [clients.enter_context(side.running(command)) for command in commands]:
            client.wait()


@pytest.mark.parametrize("client_id", ONCE)
def test_the_same_totals_everywhere(pushing: Pushing, client_id: str) -> None:
    """Every receiver has as many pushes of one instance, and the same sum of each metric; the page adds up to it."""
    at = pushing.totals(client_id)
    assert at["files"] == at["topic"]
    assert at["otlp"] == at["topic"]
    assert at["topic"].pushes == len(telemetry.of(client_id, pushing.received["topic"])) >= 3
    assert len(at["topic"].instances) == 1
    assert at["topic"].sums[CONNECTIONS] > 0
    counters = telemetry.on_page(pushing.proxy)[client_id]
    for name in {CONNECTIONS, SENT, ACKNOWLEDGED} & at["topic"].sums.keys():
        assert counters[name.replace(".", "_")] == at["topic"].sums[name]


@pytest.mark.parametrize(("client_id", "name"), [(JAVA, SENT), (FRANZ_GO, ACKNOWLEDGED)])
def test_deltas_add_up_to_what_was_sent(pushing: Pushing, client_id: str, name: str) -> None:
    """The deltas of a client's own record count add up over all its pushes: each arrived once, the last one too."""
    assert {at.sums[name] for at in pushing.totals(client_id).values()} == {RECORDS}


@pytest.mark.parametrize("client_id", ONCE)
def test_the_terminating_push_arrives(pushing: Pushing, client_id: str) -> None:
    """A closing client pushes once more, out of turn, and then no more; receivers recognise this push."""
    for receiver in ("files", "topic"):
        said = [one.terminating for one in telemetry.of(client_id, pushing.received[receiver])]
        assert said == [False] * (len(said) - 1) + [True]


def test_no_receiver_dropped_anything(pushing: Pushing) -> None:
    """Every push was answered with NONE, and went to four receivers."""
    proxy = pushing.proxy
    pushes = proxy.metric("kproxy_telemetry_requests_total", api="PushTelemetry", error="NONE")
    assert pushes == proxy.metric("kproxy_telemetry_requests_total", api="PushTelemetry") > 0
    assert proxy.metric("kproxy_telemetry_receiver_delivered_total") == 4 * pushes
    assert proxy.metric("kproxy_telemetry_receiver_dropped_total") == 0


@pytest.mark.parametrize("path", ["/metrics", "/metrics/clients"])
def test_promtool_takes_the_page(pushing: Pushing, path: str) -> None:
    """Prometheus' own linter accepts real clients' metrics, and kproxy's own while they push."""
    status, page = pushing.proxy.get(path)
    assert status == 200, page
    assert (b"# TYPE kproxy_telemetry" if path == "/metrics" else b"org_apache_kafka_producer_record") in page
    assert complaints(page) == ""
