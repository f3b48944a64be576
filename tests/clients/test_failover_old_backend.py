"""A backend without REBOOTSTRAP_REQUIRED: Kafka 3.9 serves Metadata v12 at most."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.clients.test_failover_clients import METADATA, TABLE, WORKERS
from tests.support import passages
from tests.support.backend import Backend
from tests.support.libraries import FRANZ_GO, JAVA_4_4, LIBRDKAFKA_2_16, NOTIFIED
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, api_versions
from tests.support.switch import Crowd, Followed, Topics, fed, switch
from tests.support.wait import until

CLIENTS = [Followed(library, kind) for library in (JAVA_4_4, LIBRDKAFKA_2_16, FRANZ_GO) for kind in WORKERS]
EXPECTED = dict.fromkeys(CLIENTS, NOTIFIED)


AFTER = 3.0
"""Seconds for which the active cluster must be unreachable before kproxy fails over."""

NOTICED = 4.0
"""Seconds until kproxy has noticed: its interval with jitter, and a connection attempt."""


@pytest.fixture(scope="module")
def old_kafka() -> Iterator[Backend]:
    """One node of Apache Kafka 3.9."""
    with Cluster(jars.KAFKA_3_9, (5,)) as cluster:
        yield Backend(cluster)


def newest_metadata(port: int) -> int:
    """Return the highest version of Metadata that the server at this port advertises."""
    with RawClient(port) as client:
        body = client.ask(api_versions(1))
    versions = {body[at : at + 2]: body[at + 4 : at + 6] for at in range(6, len(body), 6)}
    return int.from_bytes(versions[(3).to_bytes(2)])


def test_v13_over_a_backend_that_serves_v12(old_kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> None:
    """kproxy advertises v13, clients use it, and they get 129 when their cluster is switched."""
    assert newest_metadata(next(iter(old_kafka.cluster.brokers.values())).port) == 12
    backends = {"old": old_kafka, "new": newest_kafka}
    topics = Topics.create(*backends.values())
    upstreams = {name: backend.cluster.bootstrap for name, backend in backends.items()}
    with (
        fed(backends, topics.read),
        Proxy(tmp_path, {client.cluster: upstreams for client in CLIENTS}) as proxy,
        Crowd(CLIENTS, tmp_path, topics, proxy.bootstrap) as crowd,
    ):
        for client in CLIENTS:
            assert newest_metadata(proxy.port(client.cluster)) == 13
            asked = {
                labels["version"]: value
                for name, labels, value in proxy.samples()
                if name == "kproxy_requests_total"
                and labels["cluster"] == client.cluster
                and labels["api"] == "Metadata"
            }
            assert asked["13"] > 0, asked
        found = switch(crowd, proxy, "new", newest_kafka, EXPECTED)
    print(passages.write(TABLE, "From Kafka 3.9, which serves Metadata v12", found))
    # librdkafka bootstraps by itself when its last connection is closed, and here it has only one.
    assert [one.notified["129"] for one in found if one.client.library is JAVA_4_4] == [1, 1]
    assert max(one.notified["129"] for one in found) == 1
    assert not [one for one in found if one.metadata > METADATA]
    assert not passages.late(found, EXPECTED)


def test_automatic_failover(old_kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> None:
    """The active cluster dies: kproxy switches by itself after the configured time, and the clients go on."""
    backends = {"old": old_kafka, "new": newest_kafka}
    topics = Topics.create(*backends.values())
    upstreams = {name: backend.cluster.bootstrap for name, backend in backends.items()}
    with (
        fed(backends, topics.read),
        Proxy(
            tmp_path,
            {client.cluster: upstreams for client in CLIENTS},
            each={"failover": {"automatic": True, "after": f"{AFTER}s"}},
            topology={"interval": "1s"},
        ) as proxy,
        Crowd(CLIENTS, tmp_path, topics, proxy.bootstrap) as crowd,
    ):
        for broker in old_kafka.cluster.brokers.values():
            broker.kill()
        begun = time.time()
        until(
            lambda: not crowd.missing("new", newest_kafka),
            "everybody at the new cluster",
            AFTER + NOTICED + NOTIFIED,
            0.2,
        )
        assert time.time() - begun > AFTER, "it switched before its time"
        for client in CLIENTS:
            assert proxy.metric("kproxy_topology_epochs_total", cluster=client.cluster, cause="failover") == 1
