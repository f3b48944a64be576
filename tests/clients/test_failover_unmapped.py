"""A failover to a cluster with nodes that have no port: refused, unless it is forced."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.test_failover_clients import WORKERS
from tests.support import libraries
from tests.support.backend import Backend
from tests.support.proxy import HOST, KPROXY, Proxy
from tests.support.switch import Crowd, Followed, Topics, fed
from tests.support.wait import until

CLIENTS = [Followed(library, kind) for library in (libraries.JAVA_4_4, libraries.KAFKA_PYTHON) for kind in WORKERS]
NODES = {"strategy": "offset", "ranges": "0-3,7"}
"""Ports for all of the first cluster's nodes, and for one of the second's three."""
UNMAPPED = {node_id: f"node {node_id} is in none of nodes.ranges" for node_id in (1001, 2147483646)}
GOES_ON = 2.0
"""Seconds in which a client that a switch disturbs would show it."""


@pytest.fixture
def at_work(kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> Iterator[tuple[Proxy, Crowd]]:
    """Yield clients at one virtual cluster; its second upstream has nodes without a port."""
    topics = Topics.create(newest_kafka, kafka)
    servers = {"east": newest_kafka.cluster.bootstrap, "west": kafka.cluster.bootstrap}
    with (
        fed({"east": newest_kafka, "west": kafka}, topics.read),
        Proxy(tmp_path, {"kafka": servers}, each={"nodes": NODES}, topology={"epoch_floor": "1s"}) as proxy,
        Crowd(CLIENTS, tmp_path, topics, lambda _: proxy.bootstrap("kafka")) as crowd,
    ):
        yield proxy, crowd
        crowd.check_lost(kafka, newest_kafka)


def kproxy(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as an operator does."""
    return subprocess.run([KPROXY, *arguments], capture_output=True, text=True, timeout=60, check=False)


def fail_over(proxy: Proxy, to: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run `kproxy failover` at this proxy."""
    return kproxy("failover", "kafka", "--to", to, *flags, "--admin", f"http://{HOST}:{proxy.admin_port}")


def wait_until_at_work(crowd: Crowd, moment: float) -> None:
    """Wait until each client has succeeded after that moment."""
    for client in CLIENTS:
        crowd.wait_past(client, moment, f"{client.cluster} at work", 60)


def reasons(proxy: Proxy) -> dict[int, str] | None:
    """Return /readyz's reasons by node while the proxy is degraded, else None."""
    said: dict[str, Any] = proxy.get_json("/readyz")
    return {one["node"]: one["reason"] for one in said["reasons"]} if said["state"] == "degraded" else None


def test_failover_to_nodes_without_a_port(at_work: tuple[Proxy, Crowd]) -> None:
    """Refused: exit code 1, each node named, no client disturbed. Forced: reported, and degraded until the way back."""
    proxy, crowd = at_work
    closed, begun = proxy.metric("kproxy_connections_closed_total"), time.time()
    refused = fail_over(proxy, "west")
    assert (refused.returncode, refused.stdout) == (1, "")
    why = "; ".join(UNMAPPED.values())
    assert refused.stderr == f"west cannot take over: {why}; force it to switch all the same\n"
    wait_until_at_work(crowd, begun + GOES_ON)
    assert [event for client in CLIENTS for event in crowd.failures(client) if event.at > begun] == []
    assert proxy.metric("kproxy_connections_closed_total") == closed
    assert (proxy.metric("kproxy_topology_epoch"), proxy.get_json("/readyz")["state"]) == (0, "ready")

    forced = fail_over(proxy, "west", "--force")
    assert (forced.returncode, forced.stderr) == (0, "")
    done, *warnings = forced.stdout.splitlines()
    assert done.startswith("kafka: upstream west, epoch 1; ")
    assert warnings == [f"Warning: node {node_id} has no port: {why}" for node_id, why in UNMAPPED.items()]
    has_none = {node_id: f"has no port: {why}" for node_id, why in UNMAPPED.items()}
    until(lambda: reasons(proxy) == has_none, "degraded, and why")
    (shown,) = proxy.get_json("/api/v1/clusters")["clusters"]
    assert shown["unmapped"] == [{"node_id": node_id, "reason": why} for node_id, why in UNMAPPED.items()]

    until(lambda: fail_over(proxy, "east").returncode == 0, "the way back", 10)
    until(lambda: proxy.get_json("/readyz")["state"] == "ready", "ready again")
    wait_until_at_work(crowd, time.time())


def test_config_check_that_asks_real_clusters(kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> None:
    """It names the nodes before any failover, with exit code 1; with automatic ports it finds nothing wrong."""
    servers = {"east": newest_kafka.cluster.bootstrap, "west": kafka.cluster.bootstrap}
    offset = kproxy(
        "config", "check", "--connect", str(Proxy(tmp_path, {"kafka": servers}, each={"nodes": NODES}).config)
    )
    east, west = offset.stdout.splitlines()[-2:]
    assert (offset.returncode, offset.stderr, east.split()[:3]) == (1, "", ["kafka", "east", "0"])
    assert "; ".join(UNMAPPED.values()) in west
    automatic = kproxy("config", "check", "--connect", str(Proxy(tmp_path, {"kafka": servers}).config))
    assert (automatic.returncode, automatic.stdout.count("a port for each")) == (0, 2)
