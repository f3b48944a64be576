"""Every version that Kafka 4 has removed, answered by a real broker: through kproxy as directly, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kproxy.wire.apis import APIS
from kproxy.wire.generated.api_keys import ApiKey
from tests.clients.old.conftest import NODES
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, produce
from tests.support.violation import never
from tests.support.wait import until
from tests.unit.relay import frames

REMOVED = [
    pytest.param(api.key, version, id=f"{api.name}-v{version}")
    for api in APIS.values()
    for version in range(api.min_version, api.newest_from)
    if api.broker
]
TOPIC, BROKER = 2, 4
HOSTS = {"advertised.listeners", "listeners", "controller.quorum.voters", "controller.quorum.bootstrap.servers"}
UNKNOWN = "Fetch v3 was in flight, which brokers do not know from Kafka 4 on (KIP-896)"


def content(key: int, topic: str) -> dict[str, Any]:
    """Fields of a request about the topic that changes nothing, the second time at least."""
    partition = {"Partition": 0, "PartitionMaxBytes": 1 << 20}
    listed = {"PartitionIndex": 0, "Timestamp": -2, "MaxNumOffsets": 1}
    acl = {"ResourceType": 2, "ResourceName": topic, "Principal": "User:a", "Host": "*"}
    allowed = {"Operation": 3, "PermissionType": 3}
    committed = {"PartitionIndex": 0, "CommittedOffset": 2, "CommittedMetadata": "why"}
    by_key: dict[int, dict[str, Any]] = {
        # Empty records are refused, so that both answers have the same offset.
        ApiKey.PRODUCE: _acks(-1, "TopicData", {"Name": topic, "PartitionData": [{"Index": 0, "Records": b""}]}),
        ApiKey.FETCH: {"ReplicaId": -1, "MaxBytes": 1 << 20, **_one("Topic", topic, [partition])},
        ApiKey.LIST_OFFSETS: {"ReplicaId": -1, **_one("Name", topic, [listed])},
        ApiKey.OFFSET_COMMIT: {"GroupId": "old", **_one("Name", topic, [committed])},
        ApiKey.OFFSET_FETCH: {"GroupId": "old", "Topics": [{"Name": topic, "PartitionIndexes": [0]}]},
        ApiKey.CREATE_TOPICS: {
            "Topics": [{"Name": topic, "NumPartitions": 1, "ReplicationFactor": 1}],
            "timeoutMs": 5000,
        },
        ApiKey.DELETE_TOPICS: {"TopicNames": ["absent"], "TimeoutMs": 5000},
        ApiKey.OFFSET_FOR_LEADER_EPOCH: _one("Topic", topic, [{"Partition": 0, "LeaderEpoch": 0}]),
        ApiKey.DESCRIBE_ACLS: {"ResourceTypeFilter": 1, "Operation": 1, "PermissionType": 1},  # any
        ApiKey.CREATE_ACLS: {"Creations": [acl | allowed]},
        ApiKey.DELETE_ACLS: {"Filters": [{"ResourceTypeFilter": 2, "ResourceNameFilter": topic, **allowed}]},
        ApiKey.DESCRIBE_CONFIGS: _configs(TOPIC, topic),
        ApiKey.DESCRIBE_LOG_DIRS: _one("Topic", topic, [0]),
    }
    return by_key.get(key, {})


def _acks(acks: int, name: str, *topics: dict[str, Any]) -> dict[str, Any]:
    return {"Acks": acks, "TimeoutMs": 5000, name: [*topics]}


def _one(name: str, topic: str, partitions: list[Any]) -> dict[str, Any]:
    return {"Topics": [{name: topic, "Partitions": partitions}]}


def _configs(kind: int, name: str) -> dict[str, Any]:
    return {"Resources": [{"ResourceType": kind, "ResourceName": name, "ConfigurationKeys": None}]}


@pytest.fixture(scope="module")
def topic(old_kafka: Backend) -> str:
    """A topic of one partition at the first node, with records."""
    found = old_kafka.topic_at(NODES[:1])
    with RawClient(old_kafka.cluster.brokers[NODES[0]].port) as client:
        client.ask(produce(1, found, -1, [b"one", b"two", b"three"]))
    assert old_kafka.end_offsets(found) == {0: 3}
    return found


@pytest.mark.parametrize(("key", "version"), REMOVED)
def test_it_is_answered_as_directly(old_kafka: Backend, old_proxy: Proxy, topic: str, key: int, version: int) -> None:
    """The broker that is asked is the same."""
    ports = old_kafka.cluster.brokers[NODES[0]].port, old_proxy.node_ports("relayed")[NODES[0]]
    request = frames.request(key, version, 5, content(key, topic))
    answers = []
    for port in ports:
        with RawClient(port) as client:
            answers.append(client.ask(request))
    direct, relayed = answers
    assert relayed == direct
    assert frames.understood(key, version, b"\0\0\0\5" + direct)


def test_a_client_that_changes_its_version(old_kafka: Backend, old_proxy: Proxy, topic: str) -> None:
    """From request to request, without waiting: each is answered in its own version."""
    asked = [(ApiKey.FETCH, version) for version in (0, 4, 2, 11, 3)] + [(ApiKey.LIST_OFFSETS, one) for one in (0, 1)]
    requests = [frames.request(*one, number, content(one[0], topic)) for number, one in enumerate(asked)]
    answers = []
    for port in (old_kafka.cluster.brokers[NODES[0]].port, old_proxy.node_ports("relayed")[NODES[0]]):
        with RawClient(port) as client:
            client.send(b"".join(requests))
            answers.append([client.receive() for _ in requests])
    direct, relayed = answers
    assert relayed == direct
    assert [number for number, _ in relayed] == [*range(len(asked))]


def test_configs_that_name_hosts_are_masked(old_kafka: Backend, old_proxy: Proxy) -> None:
    """In DescribeConfigs v0, too, which has no synonyms; all other configs of the broker are as it says."""
    node, key = NODES[0], ApiKey.DESCRIBE_CONFIGS
    broker = old_kafka.cluster.brokers[node]
    request = frames.request(key, 0, 5, _configs(BROKER, str(node)))
    said = []
    for port in (broker.port, old_proxy.node_ports("relayed")[node]):
        with RawClient(port) as client:
            answer = frames.understood(key, 0, b"\0\0\0\5" + client.ask(request))
        (result,) = answer["Results"]
        said.append({config["Name"]: config["Value"] for config in result["Configs"]})
    direct, relayed = said
    assert relayed.keys() == direct.keys()
    masked = {name for name in direct if direct[name] != relayed[name]}
    assert {"advertised.listeners", "controller.quorum.voters"} <= masked <= HOSTS
    ports = [str(one.port) for one in old_kafka.cluster.brokers.values()]
    never(any(port in (relayed[name] or "") for name in masked for port in ports), "a broker's port in its configs")


def test_kafka_4_does_not_know_them(newest_kafka: Backend, tmp_path: Path) -> None:
    """It ends the connection, as it does directly; kproxy's log says which request did that."""
    with Proxy(tmp_path, {"newest": newest_kafka.cluster.bootstrap}) as proxy:
        for port in (newest_kafka.cluster.brokers[0].port, proxy.port()):
            with RawClient(port) as client, pytest.raises((EOFError, ConnectionResetError)):
                client.ask(frames.request(ApiKey.FETCH, 3, 5))
        (ended,) = until(lambda: proxy.logged(event="connection ended", detail=UNKNOWN), "the end in the log")
        assert ended["reason"] in {"broker_closed", "broker_reset"}
