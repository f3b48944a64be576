"""Every broker is replaced by one with a new id and port, while clients work on through kproxy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kproxy.local_kafka import jars
from tests.support.backend import Backend
from tests.support.libraries import JAVA_4_4, LIBRDKAFKA_2_16
from tests.support.proxy import Proxy
from tests.support.replaceable import Replaceable
from tests.support.switch import Crowd, Followed, Topics, fed

OLD, NEW = (1, 2, 3), (4, 5, 6)
CLIENTS = [Followed(library, kind) for library in (JAVA_4_4, LIBRDKAFKA_2_16) for kind in ("producer", "consumer")]


@pytest.fixture
def cluster() -> Iterator[Replaceable]:
    """Yield three brokers and their controller."""
    with Replaceable(jars.KAFKA_4_3, OLD, NEW) as started:
        yield started


def replace(cluster: Replaceable, backend: Backend) -> None:
    """Start new brokers, move all replicas to them, stop the old ones."""
    cluster.start(*NEW)
    cluster.wait_ready(*NEW)
    backend.reassign(NEW)
    cluster.up = NEW
    cluster.retire_old()


def test_all_brokers_replaced(cluster: Replaceable, tmp_path: Path) -> None:
    """No acknowledged record (acks=all) is lost, and producers and consumers go on at brokers that are new to them."""
    backend = Backend(cluster)
    topics = Topics.create(backend)
    servers = {client.cluster: cluster.bootstrap for client in CLIENTS}
    with (
        fed({"fed": backend}, topics.read),
        Proxy(tmp_path, servers, topology={"interval": "1s"}) as proxy,
        Crowd(CLIENTS, tmp_path, topics, proxy.bootstrap) as crowd,
    ):
        replace(cluster, backend)
        gone = time.time()
        for client in CLIENTS:
            crowd.wait_past(client, gone + 5, f"{client.cluster} goes on", 30)
            assert set(proxy.node_ports(client.cluster)) >= set(NEW)
        crowd.check_lost(backend)
        assert sum(len(crowd.successes(client)) for client in CLIENTS if client.kind == "producer") > 200
