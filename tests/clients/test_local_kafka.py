"""The cluster that tests and the demo start."""

from __future__ import annotations

from kproxy.local_kafka.known import known_brokers
from kproxy.local_kafka.ports import free_port
from tests.conftest import NODE_IDS
from tests.support.backend import Backend
from tests.support.raw import HOST


def test_each_broker_knows_all(kafka: Backend) -> None:
    """Clients may ask any of them first; what does not answer knows nobody."""
    ports = [broker.port for broker in kafka.cluster.brokers.values()]
    assert [known_brokers(HOST, port) for port in ports] == [{*NODE_IDS}] * len(ports)
    assert known_brokers(HOST, free_port()) == frozenset()
