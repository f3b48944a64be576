"""A broker of the last line that knows every version there has been, and kproxy in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.support.backend import Backend
from tests.support.proxy import Proxy

NODES = (7, 1001)


@pytest.fixture(scope="session")
def old_kafka() -> Iterator[Backend]:
    """Two brokers of Apache Kafka 3.9."""
    with Cluster(jars.KAFKA_3_9, NODES) as cluster:
        yield Backend(cluster)


@pytest.fixture(scope="session")
def oldest_kafka() -> Iterator[Backend]:
    """One node of Apache Kafka 2.8, whose mode without ZooKeeper is an early one."""
    with Cluster(jars.KAFKA_2_8, NODES[:1], settings={"advertised.listeners": None}) as cluster:
        yield Backend(cluster)


@pytest.fixture(scope="session")
def old_proxy(old_kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A kproxy with two virtual clusters in front of 3.9; one hosts every group."""
    with hosting(old_kafka, tmp_path_factory.mktemp("kproxy")) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def oldest_proxy(oldest_kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """The same in front of 2.8."""
    with hosting(oldest_kafka, tmp_path_factory.mktemp("kproxy")) as proxy:
        yield proxy


def hosting(backend: Backend, directory: Path) -> Proxy:
    """Return a kproxy with the virtual clusters `relayed` and `hosted`, which hosts every group."""
    servers = dict.fromkeys(("relayed", "hosted"), backend.cluster.bootstrap)
    return Proxy(directory, servers, own={"hosted": {"groups": [{"match": ".*"}]}})
