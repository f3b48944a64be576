"""Clients that must rebootstrap while their cluster is healthy: an operator asks for it, or changes the mapping."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from kproxy.local_kafka.ports import free_ports
from tests.clients.test_failover_clients import METADATA, WORKERS
from tests.conftest import NODE_IDS
from tests.support.backend import Backend
from tests.support.libraries import EVERY_LIBRARY, NOTIFIED
from tests.support.proxy import NODE_PORTS, Proxy
from tests.support.switch import WINDOW, Crowd, Followed, Topics, fed
from tests.support.wait import until

pytestmark = pytest.mark.go

CLIENTS = [Followed(library, kind) for library in EVERY_LIBRARY for kind in WORKERS]


@pytest.fixture(scope="module")
def at_work(kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Proxy, Crowd]]:
    """Yield a proxy, and all libraries at work at one virtual cluster."""
    topics, directory = Topics.create(kafka), tmp_path_factory.mktemp("order")
    with (
        fed({"fed": kafka}, topics.read),
        Proxy(directory, {"kafka": kafka.cluster.bootstrap}, topology={"retired": "serve"}) as proxy,
        Crowd(CLIENTS, directory, topics, lambda _: proxy.bootstrap("kafka")) as crowd,
    ):
        yield proxy, crowd
        crowd.check_lost(kafka)


def notified(proxy: Proxy) -> int:
    """Return how many connections ended with REBOOTSTRAP_REQUIRED."""
    return int(proxy.metric("kproxy_clients_told_total", means="129"))


def wait_until_at_work(crowd: Crowd, begun: float) -> None:
    """Wait until each client has succeeded after the time in which it may get 129."""
    for client in CLIENTS:
        crowd.wait_past(client, begun + NOTIFIED, f"{client.cluster} at work", 2 * NOTIFIED)


def test_order(at_work: tuple[Proxy, Crowd]) -> None:
    """Each library goes on, none gets 129 twice, and together they stay within the allowed Metadata requests."""
    proxy, crowd = at_work
    asked, begun = proxy.metric("kproxy_requests_total", api="Metadata"), time.time()
    assert proxy.rebootstrap("kafka")["epoch"] == 1
    wait_until_at_work(crowd, begun)
    until(lambda: time.time() > begun + WINDOW, "the window", WINDOW)
    assert proxy.metric("kproxy_requests_total", api="Metadata") - asked <= METADATA * len(CLIENTS)
    assert 0 < notified(proxy) <= len(CLIENTS)


def test_mapping_changed(at_work: tuple[Proxy, Crowd]) -> None:
    """After a reload the nodes have other ports: every client finds them, and no old port misleads one."""
    proxy, crowd = at_work
    before, first_port = set(proxy.node_ports().values()), free_ports(NODE_PORTS)[0]

    def change(config: dict[str, Any]) -> None:
        ranges = ",".join(map(str, NODE_IDS))
        config["clusters"][0]["nodes"] = {"strategy": "offset", "first_port": first_port, "ranges": ranges}

    asked, begun = proxy.metric("kproxy_requests_total", api="Metadata"), time.time()
    proxy.reload(change)
    until(lambda: proxy.metric("kproxy_topology_epochs_total", cause="config") == 1, "the reload", WINDOW)
    wait_until_at_work(crowd, begun)
    assert not before & set(proxy.node_ports().values()), "the mapping is the old one"
    assert proxy.metric("kproxy_requests_total", api="Metadata") - asked <= METADATA * len(CLIENTS)
