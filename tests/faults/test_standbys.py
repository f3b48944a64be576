"""A real Kafka cluster that stands by, and dies: it is seen before a failover needs it, and clients notice nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.support.healthy import Healthy
from tests.support.proxy import HOST, KPROXY, Proxy
from tests.support.wait import until

EAST, WEST = 1, 2
"""The only node of each cluster."""
LOOKS = 5.0
"""Seconds for a few looks at the standby: one each second, and what each takes on a busy machine."""


@pytest.fixture(scope="module")
def clusters() -> Iterator[dict[str, Cluster]]:
    """Yield two clusters of one node each."""
    with ExitStack() as stack:
        made = {"east": Cluster(jars.KAFKA_4_3, (EAST,)), "west": Cluster(jars.KAFKA_4_3, (WEST,))}
        for cluster in made.values():
            stack.callback(cluster.stop)
            cluster.start()
        for cluster in made.values():
            cluster.wait_ready()
        yield made


@pytest.fixture
def proxy(clusters: dict[str, Cluster], tmp_path: Path) -> Iterator[Proxy]:
    """Yield a kproxy with east active and west standing by."""
    servers = {name: cluster.bootstrap for name, cluster in clusters.items()}
    topology = {"interval": "1s", "epoch_floor": "100ms"}
    each = {"failover": {"standby_interval": "1s"}}
    with Proxy(tmp_path, {"orders": servers}, each=each, topology=topology) as made:
        yield made


def upstream(proxy: Proxy, name: str) -> dict[str, Any]:
    """Return an upstream cluster, as the API shows it."""
    upstreams: list[dict[str, Any]] = proxy.get_json("/api/v1/clusters/orders")["upstreams"]
    return next(one for one in upstreams if one["name"] == name)


def numbers(proxy: Proxy, name: str) -> dict[str, float]:
    """Return an upstream's metrics by the ends of their names."""
    head = "kproxy_upstream_cluster_"
    return {one.removeprefix(head): value for one, labels, value in proxy.samples() if labels.get("upstream") == name}


def reachable(proxy: Proxy) -> dict[str, float]:
    """Return the nodes of the virtual cluster that are known to be reachable or not."""
    return {labels["node"]: value for one, labels, value in proxy.samples() if one == "kproxy_upstream_reachable"}


def warned(proxy: Proxy) -> list[str]:
    """Return what /readyz warns of; kproxy must be ready, also by the strict form."""
    status, _ = proxy.get("/readyz?strict")
    said = proxy.get_json("/readyz?strict")
    assert (status, said["state"], said["reasons"]) == (200, "ready", [])
    return [warning["reason"] for warning in said.get("warnings", ())]


def printed(proxy: Proxy) -> str:
    """Return what `kproxy clusters` prints."""
    command = [KPROXY, "clusters", "--admin", f"http://{HOST}:{proxy.admin_port}"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def test_a_standby_that_dies_and_comes_back(proxy: Proxy, clusters: dict[str, Cluster]) -> None:
    """Metrics, API, command and readiness show it within a few looks, and its return; a client notices neither."""
    until(lambda: upstream(proxy, "west")["nodes"] and upstream(proxy, "west")["nodes"][0]["reachable"], "a look")
    well = upstream(proxy, "west")
    assert (well["reachable"], well["fit"], well["warnings"]) == (True, True, [])
    assert [node["node_id"] for node in well["nodes"]] == [WEST]
    assert well["cluster_id"] not in (None, upstream(proxy, "east")["cluster_id"])
    assert (warned(proxy), numbers(proxy, "west")["reachable"]) == ([], 1)
    assert "(else west)" in printed(proxy)
    with Healthy(proxy.port()):
        clusters["west"].brokers[WEST].kill()
        try:
            until(lambda: not upstream(proxy, "west")["reachable"], "the API to show it", LOOKS)
            (warning,) = warned(proxy)
            assert warning.startswith("the standby west: it does not answer: ")
            found = numbers(proxy, "west")
            assert (found["reachable"], found["fit"], found["nodes"]) == (0, 0, 1)
            assert upstream(proxy, "west")["cluster_id"] == well["cluster_id"]
            shown = printed(proxy)
            assert "(else west: unfit)" in shown
            assert f"Warning: orders: {warning}" in shown
        finally:
            clusters["west"].restart(WEST)
        until(lambda: not warned(proxy), "no warning any more", 2 * LOOKS)
        assert (upstream(proxy, "west")["fit"], numbers(proxy, "west")["reachable"]) == (True, 1)
    assert numbers(proxy, "east")["reachable"] == 1
    assert not proxy.logged(event="clients rebootstrap")


def test_what_is_known_of_a_cluster_that_was_left(proxy: Proxy, clusters: dict[str, Cluster]) -> None:
    """Its nodes have no series any more; as a standby it is looked at, and its death is seen."""
    until(lambda: reachable(proxy).get(str(EAST)) == 1, "the node of east to be probed")
    assert proxy.fail_over("orders", "west")["upstream"] == "west"
    until(lambda: reachable(proxy).get(str(WEST)) == 1, "the node of west to be probed")
    assert str(EAST) not in reachable(proxy)
    clusters["east"].brokers[EAST].kill()
    try:
        until(lambda: warned(proxy), "a warning", LOOKS)
        assert (upstream(proxy, "east")["fit"], numbers(proxy, "east")["fit"]) == (False, 0)
        assert str(EAST) not in reachable(proxy)
    finally:
        clusters["east"].restart(EAST)
    until(lambda: not warned(proxy), "no warning any more", 2 * LOOKS)


def test_an_automatic_failover_takes_the_standby_that_was_well(clusters: dict[str, Cluster], tmp_path: Path) -> None:
    """The first in order is on a dead port: it is passed over, with the reason, and the next one is taken."""
    dead = f"{HOST}:1"
    servers = {"east": clusters["east"].bootstrap, "gone": dead, "west": clusters["west"].bootstrap}
    failover = {"standby_interval": "1s", "automatic": True, "after": "1s", "floor": "1m"}
    topology = {"interval": "1s", "epoch_floor": "100ms"}
    with Proxy(tmp_path, {"orders": servers}, each={"failover": failover}, topology=topology) as proxy:
        until(lambda: len(warned(proxy)) == 1 and upstream(proxy, "west")["fit"], "looks at both standbys")
        clusters["east"].brokers[EAST].kill()
        try:
            until(lambda: upstream(proxy, "west")["active"], "the failover", 30)
        finally:
            clusters["east"].restart(EAST)
        (passed,) = proxy.logged(event="an upstream cluster is passed over")
        assert passed["to"] == "gone"
        assert passed["why"].startswith("it does not answer: ")
        assert dead in passed["why"]
