"""Clients that never go back to their bootstrap servers, with `topology.retired: serve`."""

from __future__ import annotations

from pathlib import Path

from tests.clients.test_failover_clients import METADATA, TABLE, WORKERS
from tests.support import passages
from tests.support.backend import Backend
from tests.support.libraries import EVERY_LIBRARY, TOLD
from tests.support.proxy import Proxy
from tests.support.switch import Crowd, Followed, Topics, fed, switch

CLIENTS = [Followed(library, kind) for library in EVERY_LIBRARY if library.within != TOLD for kind in WORKERS]


def test_retired_nodes_that_serve(kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> None:
    """They ask the nodes that they know, which are gone, and are answered by the other cluster: so they find it."""
    backends = {"first": kafka, "second": newest_kafka}
    topics = Topics.create(*backends.values())
    newest_kafka.open_coordinator(topics.read)
    upstreams = {name: backend.cluster.bootstrap for name, backend in backends.items()}
    servers = {client.cluster: upstreams for client in CLIENTS}
    with (
        fed(backends, topics.read),
        Proxy(tmp_path, servers, topology={"retired": "serve"}) as proxy,
        Crowd(CLIENTS, tmp_path, topics, proxy.bootstrap) as crowd,
    ):
        found = switch(crowd, proxy, "second", newest_kafka)
        lost = crowd.lost(kafka, newest_kafka)
    print(passages.write(TABLE, "Other node ids, topology.retired: serve", found))
    assert not [one for one in found if one.seconds is None]
    assert not [one for one in found if one.metadata > METADATA]
    assert not lost
