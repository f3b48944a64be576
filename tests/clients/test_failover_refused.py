"""A switch to other node ids with `topology.retired: refuse`: clients rebootstrap by 129, by KIP-899, or never."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.test_failover_clients import METADATA, TABLE, WORKERS
from tests.support import libraries, passages
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.switch import Crowd, Followed, Topics, fed, switch
from tests.support.violation import never

pytestmark = pytest.mark.go

LIBRARIES = (
    libraries.JAVA_4_4,
    libraries.JAVA_3_9_QUICK,
    libraries.JAVA_3_9_DEFAULT,
    libraries.LIBRDKAFKA_2_16,
    libraries.LIBRDKAFKA_2_15,
    libraries.LIBRDKAFKA_2_11,
    libraries.KAFKA_PYTHON,
    libraries.AIOKAFKA,
    libraries.FRANZ_GO,
)
CLIENTS = [Followed(library, kind) for library in LIBRARIES for kind in WORKERS]
EXPECTED = {client: client.library.alone for client in CLIENTS if client.library.alone is not None}


def test_retired_nodes_that_refuse(kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> None:
    """Clients that can rebootstrap do, with few Metadata requests; aiokafka, which cannot, goes on asking for ever."""
    backends = {"first": kafka, "second": newest_kafka}
    topics = Topics.create(*backends.values())
    newest_kafka.open_coordinator(topics.read)
    upstreams = {name: backend.cluster.bootstrap for name, backend in backends.items()}
    servers = {client.cluster: upstreams for client in CLIENTS}
    with (
        fed(backends, topics.read),
        Proxy(tmp_path, servers, topology={"retired": "refuse"}) as proxy,
        Crowd(CLIENTS, tmp_path, topics, proxy.bootstrap) as crowd,
    ):
        found = switch(crowd, proxy, "second", newest_kafka, EXPECTED)
        lost = crowd.lost(kafka, newest_kafka)
    print(passages.write(TABLE, "Other node ids, topology.retired: refuse", found))
    never(bool(lost), f"records acknowledged and in no log: {lost}")
    assert not passages.late(found, EXPECTED)
    assert not {one.client.cluster: one.metadata for one in found if one.client in EXPECTED and one.metadata > METADATA}
    assert not {one.client.cluster: one.notified for one in found if one.notified["129"] > 1}
