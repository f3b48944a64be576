"""Brokers' configs as clients see them through kproxy: no address of a broker or controller, all else as it is."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from tests.support.client import java_tool, running
from tests.support.proxy import HOST
from tests.support.side import Side

with warnings.catch_warnings():  # kafka-python's own imports warn
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.admin import ConfigResource as KafkaPythonResource
    from kafka.admin import ConfigResourceType, KafkaAdminClient

TOOL = "kafka.admin.ConfigCommand"
LISTENERS, VOTERS = ("listeners", "advertised.listeners"), "controller.quorum.voters"


def masks(side: Side, node_id: int) -> dict[str, str]:
    """What the values of a broker that name hosts become, by config."""
    brokers = side.backend.cluster.brokers
    port = side.proxy.node_ports(side.name)[node_id]
    listeners = f"CLIENT://{HOST}:{port},CONTROLLER://controller-{node_id}.invalid:{brokers[node_id].controller_port}"
    voters = ",".join(
        f"{one.node_id}@controller-{one.node_id}.invalid:{one.controller_port}" for one in brokers.values()
    )
    return dict.fromkeys(LISTENERS, listeners) | {VOTERS: voters}


def originals(side: Side, node_id: int) -> dict[str, str]:
    """The same values as the broker has them."""
    brokers = side.backend.cluster.brokers
    node = brokers[node_id]
    listeners = f"CLIENT://{HOST}:{node.port},CONTROLLER://{HOST}:{node.controller_port}"
    voters = ",".join(f"{one.node_id}@{HOST}:{one.controller_port}" for one in brokers.values())
    return dict.fromkeys(LISTENERS, listeners) | {VOTERS: voters}


def expected(side: Side, node_id: int, direct: str) -> str:
    """What a client is to see in place of what it sees without kproxy."""
    real, masked = originals(side, node_id), masks(side, node_id)
    for config in (*LISTENERS[::-1], VOTERS):
        direct = direct.replace(real[config], masked[config])
    return direct


@pytest.fixture(params=["first", "last"])
def node_id(request: pytest.FixtureRequest, side: Side) -> int:
    """Two of the brokers; of a single one, the same twice."""
    return sorted(side.backend.cluster.brokers)[0 if request.param == "first" else -1]


def test_kafka_configs(side: Side, node_id: int) -> None:
    """kafka-configs --describe --all, with synonyms, shows what it shows directly, but no address of the cluster's."""
    entity = ("--describe", "--all", "--entity-type", "brokers", "--entity-name", str(node_id))
    with running(
        java_tool(TOOL, "--bootstrap-server", side.backend.cluster.bootstrap, *entity), side.directory
    ) as client:
        direct = client.wait()
    shown = side.java(TOOL, *entity)
    assert all(value in direct for value in originals(side, node_id).values())
    assert shown == expected(side, node_id, direct)
    assert all(f"{config}={value}" in shown for config, value in masks(side, node_id).items())


def described(bootstrap: str, node_id: int) -> Mapping[str, ConfigEntry]:
    """A broker's configs by confluent-kafka, with synonyms."""
    resource = ConfigResource(ConfigResource.Type.BROKER, str(node_id))
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    future: Future[Mapping[str, ConfigEntry]] = admin.describe_configs([resource], request_timeout=30)[resource]
    return future.result(30)


def plain(entry: ConfigEntry) -> tuple[object, ...]:
    """All that a config entry says, the synonyms' entries too."""
    synonyms = [plain(one) for one in entry.synonyms.values()]
    return (entry.name, entry.value, entry.source, entry.is_read_only, entry.is_default, entry.is_sensitive, *synonyms)


def test_librdkafka(side: Side, node_id: int) -> None:
    """confluent-kafka's describe_configs, values and synonyms."""
    direct = described(side.backend.cluster.bootstrap, node_id)
    shown = described(side.bootstrap, node_id)
    side.check_text(repr([plain(one) for one in shown.values()]))
    assert {name: shown[name].value for name in masks(side, node_id)} == masks(side, node_id)
    assert repr([plain(one) for one in shown.values()]) == expected(
        side, node_id, repr([plain(one) for one in direct.values()])
    )


def by_kafka_python(bootstrap: str, node_id: int) -> Any:
    """A broker's configs by kafka-python."""
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        resource = KafkaPythonResource(ConfigResourceType.BROKER, str(node_id))
        return admin.describe_configs([resource], include_synonyms=True, config_filter="all")
    finally:
        admin.close()


def test_kafka_python(side: Side, node_id: int) -> None:
    """kafka-python's describe_configs."""
    direct = by_kafka_python(side.backend.cluster.bootstrap, node_id)
    shown = by_kafka_python(side.bootstrap, node_id)
    side.check_text(repr(shown))
    assert repr(shown) == expected(side, node_id, repr(direct))
    assert all(value in repr(shown) for value in masks(side, node_id).values())


def alter(side: Side, node_id: int, name: str, value: str) -> str:
    """Set a broker's config through kproxy; return the error's text."""
    change = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.BROKER, str(node_id), incremental_configs=[change])
    admin = AdminClient({"bootstrap.servers": side.bootstrap, "log_level": 0})
    with pytest.raises(KafkaException) as caught:
        admin.incremental_alter_configs([resource], request_timeout=30)[resource].result(30)
    return str(caught.value)


def test_a_tool_that_writes_back_what_it_reads(side: Side, node_id: int) -> None:
    """The broker would listen at kproxy's address: kproxy refuses, and the broker keeps its listeners."""
    read = described(side.bootstrap, node_id)["listeners"].value
    assert read is not None
    assert "an address that kproxy shows in place of the broker's own" in alter(side, node_id, "listeners", read)
    direct = described(side.backend.cluster.bootstrap, node_id)["listeners"].value
    assert direct == originals(side, node_id)["listeners"]


def test_the_error_message_of_a_change_that_fails(side: Side, node_id: int) -> None:
    """Kafka names the present listeners in it, and kproxy none."""
    error = alter(side, node_id, "listener.security.protocol.map", "CLIENT:SSL")
    assert "CLIENT://masked.invalid, CONTROLLER://masked.invalid" in error
    side.check_text(error)
