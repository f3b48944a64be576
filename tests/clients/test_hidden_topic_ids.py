"""franz-go switched to a cluster where its topics have other ids: with `failover.hide_topic_ids_from`, and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.test_failover_clients import METADATA, MOVES, WORKERS
from tests.support import passages
from tests.support.backend import Backend
from tests.support.libraries import FRANZ_GO, FRANZ_GO_PURGE, NOTIFIED
from tests.support.proxy import Proxy
from tests.support.switch import Crowd, Followed, Topics, fed, switch

pytestmark = pytest.mark.go

PRODUCER, CONSUMER = (Followed(FRANZ_GO, kind) for kind in WORKERS)
PURGING = Followed(FRANZ_GO_PURGE, "producer")
NOT_LEADER = {"api": "Produce", "error": "NOT_LEADER_OR_FOLLOWER"}


def upstreams(first: Backend, second: Backend) -> dict[str, str]:
    """Return the bootstrap servers of both, by name."""
    return {"first": first.cluster.bootstrap, "second": second.cluster.bootstrap}


def test_leaders_that_moved_meanwhile(kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> None:
    """A client that got a new leader's epoch from a broker would believe no Metadata without epochs: none gets one."""
    topics, clients = Topics.create(kafka, newest_kafka), [PRODUCER, CONSUMER]
    newest_kafka.open_coordinator(topics.read)
    servers = {client.cluster: upstreams(kafka, newest_kafka) for client in clients}
    with (
        fed({"first": kafka, "second": newest_kafka}, topics.read),
        Proxy(tmp_path, servers) as proxy,
        Crowd(clients, tmp_path, topics, proxy.bootstrap) as crowd,
    ):
        for _ in range(MOVES):
            for topic, client in zip((topics.written, topics.read), clients, strict=True):
                kafka.move_leaders(topic)
                crowd.wait_past(client, crowd.latest(client) + 1, f"{client.cluster} going on")
        assert proxy.metric("kproxy_response_errors_total", **NOT_LEADER) > 0, "no producer met a broker that had led"
        found = switch(crowd, proxy, "second", newest_kafka, dict.fromkeys(clients, NOTIFIED))
        crowd.check_lost(kafka, newest_kafka)
    assert not passages.late(found, dict.fromkeys(clients, NOTIFIED)), found
    assert not {one.client.cluster: one.metadata for one in found if one.metadata > METADATA}


def test_without_it(kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> None:
    """Only an application that purges the topic goes on writing at the other cluster."""
    topics, clients = Topics.create(kafka, newest_kafka), [PRODUCER, PURGING]
    servers = {client.cluster: upstreams(kafka, newest_kafka) for client in clients}
    with (
        Proxy(tmp_path, servers, each={"failover": {"hide_topic_ids_from": []}}) as proxy,
        Crowd(clients, tmp_path, topics, proxy.bootstrap) as crowd,
    ):
        found = switch(crowd, proxy, "second", newest_kafka, {PURGING: NOTIFIED})
    assert {one.client: one.seconds is None for one in found} == {PRODUCER: True, PURGING: False}, found
    assert any("UNKNOWN_TOPIC_ID" in error for one in found for error in one.errors if one.client is PRODUCER)
