"""Kafka 2.8, the oldest broker that runs without ZooKeeper, behind kproxy.

It issues no producer ids in that mode, which clients of today ask for by default, directly as through kproxy.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import client_commands
from tests.support.backend import Backend
from tests.support.client import running
from tests.support.client_releases import READ, ClientRelease
from tests.support.proxy import Proxy

OLD = (
    ClientRelease("java", "0.10.2.2"),
    ClientRelease("java", "2.8.2"),
    ClientRelease("kafka-python", "2.0.2", (0, 9)),
    ClientRelease("confluent-kafka", "2.0.2", (0, 9, 0, 1)),
)


@pytest.mark.parametrize("cluster", ["relayed", "hosted"])
@pytest.mark.parametrize("client", OLD, ids=str)
def test_an_old_client(
    oldest_kafka: Backend, oldest_proxy: Proxy, tmp_path: Path, client: ClientRelease, cluster: str
) -> None:
    """It writes, reads and commits as at 3.9."""
    topic = oldest_kafka.topic(3, 1)
    with running(client_commands.command(client, oldest_proxy.bootstrap(cluster), topic), tmp_path) as process:
        printed = process.wait(timeout=240)
        assert json.loads(printed.splitlines()[-1]) == READ, printed[-2000:]
        assert process.watch.ports <= set(oldest_proxy.ports[cluster])
