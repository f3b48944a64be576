"""Failover, rebootstrap and telemetry once more, where clients and brokers speak SASL_SSL on both sides of kproxy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.authority import Authority
from tests.support.backend import Backend
from tests.support.libraries import CONFLUENT_KAFKA, JAVA_4_4, Library, Role
from tests.support.long_lived import LongLived
from tests.support.proxy import Proxy
from tests.support.secured import PASSWORD, Secured
from tests.support.tls_kafka import USER, tls_kafka
from tests.support.wait import until

pytestmark = pytest.mark.timeout(300)
MECHANISM: Final = "SCRAM-SHA-512"


def authenticated(library: Library, authority: Authority) -> Library:
    """The library, whose clients speak TLS and authenticate."""
    own: dict[str, object] = {"security.protocol": "SASL_SSL", "sasl.mechanism": MECHANISM}
    if library is JAVA_4_4:
        login = "org.apache.kafka.common.security.scram.ScramLoginModule required"
        own |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority.file)}
        own["sasl.jaas.config"] = f'{login} username="{USER}" password="{PASSWORD}";'
    else:
        own |= {"ssl.ca.location": str(authority.file), "sasl.username": USER, "sasl.password": PASSWORD}
    return replace(library, settings={**library.settings, "all": {**library.settings.get("all", {}), **own}})


@dataclass(frozen=True)
class World:
    """Two clusters behind a kproxy, and each library's producer and consumer of a topic of its own."""

    proxy: Proxy
    backends: dict[str, Backend]
    clients: Sequence[LongLived]
    topics: Sequence[str]

    def check_written(self, upstream: str) -> None:
        """Each producer goes on: what is acknowledged at last is at this upstream, and its consumer reads it."""
        for one, topic in zip(self.clients, self.topics, strict=True):
            until(partial(goes_on, one, len(one.events("producer", "acked")) + 60), "records", timeout=60)
            last = {event.value for event in one.events("producer", "acked")[-20:]}
            assert last <= set(self.backends[upstream].values(topic))
            until(partial(has_consumed, one, last), "they are consumed", timeout=60)


def goes_on(client: LongLived, goal: int) -> bool:
    """Whether so many records of its producer are acknowledged."""
    return len(client.events("producer", "acked")) >= goal


def has_consumed(client: LongLived, values: set[str]) -> bool:
    """Whether its consumer has read them."""
    return values <= consumed(client)


def consumed(client: LongLived) -> set[str]:
    """The values that its consumer has read."""
    return {event.value for event in client.events("consumer", "consumed")}


@pytest.fixture(scope="module")
def world(authority: Authority, broker: Secured, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Clients at the first of two upstreams."""
    directory = tmp_path_factory.mktemp("failover")
    ca = {"ca": str(authority.file)}
    own = authority.signed("kproxy")
    with ExitStack() as stack:
        other = stack.enter_context(tls_kafka(authority, protocol="SASL_SSL"))
        each = {
            "tls": {"certificate": str(own.chain), "key": str(own.key)},
            "upstream_tls": ca,
            "identity": {"mechanism": MECHANISM, "username": USER, "password": PASSWORD},
            "telemetry": {"subscriptions": [{"name": "all", "metrics": ["*"], "interval": "1s"}]},
        }
        proxy = Proxy(
            directory,
            {"kafka": {"east": broker.bootstrap, "west": other.bootstrap}},
            each=each,
            topology={"interval": "1s", "epoch_floor": "1s"},
            receivers=[{"name": "prometheus", "type": "prometheus"}],
        )
        backends = {"east": Backend(broker.cluster), "west": Backend(other.cluster)}
        topics = [f"tls-failover-{number}" for number in range(2)]
        for backend in backends.values():
            for topic in topics:
                backend.topic(3, 1, name=topic)
        stack.enter_context(proxy)
        clients = [
            stack.enter_context(started(library, authority, proxy, topic, directory))
            for library, topic in zip((JAVA_4_4, CONFLUENT_KAFKA), topics, strict=True)
        ]
        until(lambda: all(map(consumed, clients)), "they consume", timeout=60)
        yield World(proxy, backends, clients, topics)


def started(library: Library, authority: Authority, proxy: Proxy, topic: str, directory: Path) -> LongLived:
    """A producer and a consumer of this library."""
    producer = Role("producer", proxy.bootstrap(), topic, "producer")
    consumer = Role("consumer", proxy.bootstrap(), topic, "consumer")
    return LongLived(authenticated(library, authority), {"producer": producer, "consumer": consumer}, directory)


def test_the_standby_is_looked_at(world: World) -> None:
    """With its TLS and kproxy's identity there, before any client comes: its broker lets nobody else ask."""
    standby = until(lambda: answered(world.proxy, "west"), "a look at the standby")
    assert standby["cluster_id"] not in (None, world.proxy.get_json("/api/v1/clusters/kafka")["cluster_id"])
    assert (standby["fit"], standby["warnings"], standby["error"]) == (True, [], None)


def answered(proxy: Proxy, name: str) -> dict[str, Any] | None:
    """An upstream as the API shows it, once a node of it has answered."""
    upstreams: list[dict[str, Any]] = proxy.get_json("/api/v1/clusters/kafka")["upstreams"]
    found = next(one for one in upstreams if one["name"] == name)
    return found if any(node["reachable"] for node in found["nodes"]) else None


def test_telemetry(world: World) -> None:
    """Both libraries' clients push their metrics to kproxy, under the name that the broker has authenticated."""
    pushes = {"api": "PushTelemetry", "error": "NONE"}
    until(lambda: world.proxy.metric("kproxy_telemetry_requests_total", **pushes) > 4, "pushes", timeout=60)
    shown = world.proxy.get_json("/api/v1/clients")["clients"]
    assert {(one["principal"], one["software_name"]) for one in shown} == {
        (f"User:{USER}", "apache-kafka-java"),
        (f"User:{USER}", "confluent-kafka-python"),
    }


def test_a_rebootstrap(world: World) -> None:
    """All clients come back, and go on."""
    status, _ = world.proxy.post("/api/v1/clusters/kafka/rebootstrap", {})
    assert status == 200
    world.check_written("east")
    assert world.proxy.metric("kproxy_clients_told_total", means="129") > 0


def test_a_failover(world: World) -> None:
    """There and back: what is acknowledged is at the cluster that is active, and clients see no error."""
    for upstream in ("west", "east"):
        world.proxy.fail_over("kafka", upstream)
        world.check_written(upstream)
    assert world.proxy.get("/readyz?strict")[0] == 200
    assert world.proxy.metric("kproxy_internal_errors_total") == 0
    for one in world.clients:
        assert one.events("producer", "failed") == []
