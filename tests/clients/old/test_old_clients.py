"""Clients older than what Kafka 4 knows, through kproxy to brokers that know them (KIP-896)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.support import client_commands, client_releases
from tests.support.backend import Backend
from tests.support.client import Running, running
from tests.support.client_releases import COUNT, READ, ClientRelease
from tests.support.proxy import Proxy
from tests.support.violation import never
from tests.support.wait import until

MOVED = 20
"""Records that show that a client goes on."""

CLIENTS = [
    *client_releases.PYTHON,
    *client_releases.JAVA,
    *(pytest.param(client, marks=pytest.mark.go) for client in (*client_releases.SARAMA, client_releases.KAFKA_GO)),
    pytest.param(client_releases.KAFKA_NODE, marks=pytest.mark.node),
]


@pytest.mark.parametrize("cluster", ["relayed", "hosted"])
@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_it_writes_reads_and_commits(
    old_kafka: Backend, old_proxy: Proxy, tmp_path: Path, client: ClientRelease, cluster: str
) -> None:
    """Nothing is lost, doubled or forgotten, and it has connected to kproxy only."""
    topic = old_kafka.topic(3, 2)
    with running(client_commands.command(client, old_proxy.bootstrap(cluster), topic), tmp_path) as process:
        printed = process.wait(timeout=240)
        assert json.loads(printed.splitlines()[-1]) == READ, printed[-2000:]
        assert process.watch.ports <= set(old_proxy.ports[cluster])
    assert sum(old_kafka.end_offsets(topic).values()) == COUNT + 1


@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_it_does_so_directly(old_kafka: Backend, tmp_path: Path, client: ClientRelease) -> None:
    """So what it does through kproxy is what it does."""
    topic = old_kafka.topic(3, 2)
    with running(client_commands.command(client, old_kafka.cluster.bootstrap, topic), tmp_path) as process:
        printed = process.wait(timeout=240)
    assert json.loads(printed.splitlines()[-1]) == READ, printed[-2000:]


def test_one_follows_a_failover(old_kafka: Backend, tmp_path: Path) -> None:
    """It learns of it by its closed connections; what was acknowledged is in one of the logs, also behind the switch.

    Its message sets pass the room that looks for producer ids there.
    """
    with Cluster(jars.KAFKA_3_9, (5,)) as other:
        west, topic = Backend(other), old_kafka.topic(1, 2)
        west.topic(1, 1, name=topic)
        upstreams = {"east": old_kafka.cluster.bootstrap, "west": other.bootstrap}
        with (
            Proxy(tmp_path, {"orders": upstreams}) as proxy,
            running(client_commands.following(proxy.bootstrap(), topic), tmp_path) as process,
        ):
            _goes_on(process, 0)
            proxy.fail_over("orders", "west")
            until(lambda: _written(west, topic) > MOVED, f"{MOVED} written behind the switch")
            _goes_on(process, _acknowledged(process))
            acknowledged = range(_acknowledged(process) + 1)
            logs = {*map(int, old_kafka.values(topic)), *map(int, west.values(topic))}
            assert process.watch.ports <= set(proxy.ports["orders"])
        never(not logs.issuperset(acknowledged), f"acknowledged, and in no log: {sorted({*acknowledged} - logs)}")


def _written(kafka: Backend, topic: str) -> int:
    return sum(kafka.end_offsets(topic).values())


def _acknowledged(process: Running) -> int:
    """Return the last number that was acknowledged, -1 for none."""
    return max((line["acknowledged"] for line in process.lines() if "acknowledged" in line), default=-1)


def _goes_on(process: Running, number: int) -> None:
    """Wait until it has written and read some numbers above this one."""
    wanted = number + MOVED
    until(lambda: _acknowledged(process) > wanted, f"{wanted} written")
    until(lambda: any(line.get("read", -1) > wanted for line in process.lines()), f"{wanted} read")
