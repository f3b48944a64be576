"""Real members of groups with a hanging coordinator, as in a dying cluster, while kproxy switches them away.

kproxy answers their waiting requests with 16: they need not wait for their connections to be dropped a second later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.clients.test_failover_clients import METADATA, TABLE
from tests.support import libraries, passages
from tests.support.backend import Backend
from tests.support.libraries import NOTIFIED, Library
from tests.support.proxy import Proxy
from tests.support.switch import Crowd, Followed, Topics, fed, switch
from tests.support.wait import until

NODE = 3
HEARTBEATS = ("Heartbeat", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat")
OFTEN = {f"group.consumer.{name}heartbeat.interval.ms": 1000 for name in ("", "min.")}


def member(library: Library, note: str, **settings: object) -> Library:
    """Return a library with a consumer that commits nothing: another test covers commits in flight."""
    own = {"enable.auto.commit": False, **{name.replace("_", "."): value for name, value in settings.items()}}
    spoken = {name: str(value).lower() if library.name == "java" else value for name, value in own.items()}
    return replace(library, note=note, settings={"consumer": spoken})


CLIENTS = [
    Followed(member(libraries.JAVA_4_4, "classic"), "consumer"),
    Followed(member(libraries.JAVA_4_4, "kip-848", group_protocol="consumer"), "consumer"),
    Followed(member(libraries.JAVA_4_4, "share"), "share"),
    Followed(member(libraries.LIBRDKAFKA_2_16, "classic"), "consumer"),
    Followed(member(libraries.LIBRDKAFKA_2_16, "kip-848", group_protocol="consumer"), "consumer"),
    Followed(member(libraries.LIBRDKAFKA_2_11, "classic"), "consumer"),
    Followed(member(libraries.KAFKA_PYTHON, "classic"), "consumer"),
    Followed(member(libraries.AIOKAFKA, "classic"), "consumer"),
]
# The first share group of a cluster waits until the cluster has made its topic of share states. librdkafka 2.11 does
# nothing on 129: it begins anew when its connections close, a second later, and waits between its attempts.
SLOWER = {client: 2 * NOTIFIED for client in CLIENTS if client.kind == "share" or "2-11" in client.cluster}
EXPECTED = {**dict.fromkeys(CLIENTS, NOTIFIED), **SLOWER}


@pytest.fixture(scope="module")
def hanging() -> Iterator[Backend]:
    """Yield one node of Apache Kafka 4.3.1; members of its new groups heartbeat every second."""
    with Cluster(jars.KAFKA_4_3, (NODE,), settings=OFTEN) as cluster:
        yield Backend(cluster)


def in_flight(proxy: Proxy) -> set[str]:
    """Return the virtual clusters of members that wait for their coordinator's answer to a heartbeat."""
    waiting: Counter[str] = Counter()
    for name, labels, value in proxy.samples():
        if labels.get("api") in HEARTBEATS:
            sign = {"kproxy_requests_total": 1, "kproxy_responses_total": -1}.get(name, 0)
            waiting[labels["cluster"]] += sign * int(value)
    return {cluster for cluster, count in waiting.items() if count > 0}


def test_members_that_wait_at_a_coordinator_that_hangs(hanging: Backend, newest_kafka: Backend, tmp_path: Path) -> None:
    """Each member gets 16, whatever its group's protocol, and goes on at the other cluster; none gets 129 twice."""
    backends = {"hanging": hanging, "new": newest_kafka}
    topics = Topics.create(*backends.values())
    upstreams = {name: backend.cluster.bootstrap for name, backend in backends.items()}
    newest_kafka.open_coordinator(topics.read)
    with (
        fed(backends, topics.read),
        Proxy(tmp_path, {client.cluster: upstreams for client in CLIENTS}) as proxy,
        Crowd(CLIENTS, tmp_path, topics, proxy.bootstrap) as crowd,
        hanging.paused(NODE),
    ):
        until(lambda: in_flight(proxy) == {client.cluster for client in CLIENTS}, "heartbeats in flight", 15)
        found = switch(crowd, proxy, "new", newest_kafka, EXPECTED)
    print(passages.write(TABLE, "From a coordinator that hangs", found))
    assert {one.client.cluster: one.notified.get("16", 0) for one in found} == {client.cluster: 1 for client in CLIENTS}
    assert not passages.late(found, EXPECTED)
    assert max(one.notified.get("129", 0) for one in found) <= 1
    assert not [one for one in found if one.metadata > METADATA]
