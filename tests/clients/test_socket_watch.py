"""The check that all other client tests rely on: it notices connections that bypass the proxy."""

from __future__ import annotations

import pytest

from tests.support.client import running, script
from tests.support.side import Side


def test_a_client_past_the_proxy_is_caught(three: Side) -> None:
    """A client that bootstraps at the brokers themselves is seen at their ports, and the check fails for it."""
    command = script(
        "confluent_kafka",
        "everything",
        bootstrap=three.backend.cluster.bootstrap,
        topic=three.fresh("past"),
        group=three.fresh("group"),
        count=10,
        replicas=3,
    )
    with running(command, three.directory) as client:
        client.wait()
    assert {broker.port for broker in three.backend.cluster.brokers.values()} <= client.watch.ports
    with pytest.raises(AssertionError, match="brokers' own ports"):
        three.check_ports(client.watch.ports)
