"""What a broker's ACLs let a principal do with hosted groups, it may do here, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from kproxy.wire.generated.error_codes import ErrorCode
from tests.clients.test_java_tools import GROUPS
from tests.support.backend import Backend
from tests.support.client import java_tool, running
from tests.support.members import leave, member
from tests.support.proxy import Proxy
from tests.support.secured import AUTHORIZES, PASSWORD, Secured, secured

TIMEOUT = 30
FORBIDDEN = ErrorCode.GROUP_AUTHORIZATION_FAILED


def credentials(user: str) -> dict[str, str]:
    """Settings of librdkafka for a user."""
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": user,
        "sasl.password": PASSWORD,
    }


@pytest.fixture(scope="module")
def strict() -> Iterator[Secured]:
    """A broker with ACLs. alice reads every group and topic; "a,b=c" may delete, too; bob may do nothing."""
    with secured(AUTHORIZES) as broker:
        admin = AdminClient({"bootstrap.servers": broker.plain, "log_level": 0})
        permitted = [
            (ResourceType.GROUP, AclOperation.READ, "alice"),
            (ResourceType.TOPIC, AclOperation.READ, "alice"),
            (ResourceType.GROUP, AclOperation.DELETE, "a,b=c"),
            (ResourceType.TOPIC, AclOperation.READ, "a,b=c"),
        ]
        bindings = [
            AclBinding(kind, "*", ResourcePatternType.LITERAL, f"User:{user}", "*", operation, AclPermissionType.ALLOW)
            for kind, operation, user in permitted
        ]
        for future in admin.create_acls(bindings).values():
            future.result(TIMEOUT)
        yield broker


@pytest.fixture(scope="module")
def hosting(strict: Secured, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A kproxy that hosts every group."""
    each = {"groups": [{"match": ".*", "initial_rebalance_delay": "50ms"}]}
    with Proxy(tmp_path_factory.mktemp("strict"), {"secured": strict.bootstrap}, each=each) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def topic(strict: Secured) -> str:
    """A topic of one partition."""
    return Backend(strict.cluster).topic(1, 1)


@pytest.fixture(scope="module")
def groups(hosting: Proxy, topic: str) -> Iterator[tuple[str, str]]:
    """A group that has alice as its member, and one that she has left; both have offsets."""
    bootstrap, alice = hosting.bootstrap("secured"), credentials("alice")
    leave(bootstrap, "left", topic, 3, alice)
    with member(bootstrap, "live", topic, alice) as consumer:
        consumer.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
        yield "live", "left"


def admin(hosting: Proxy, user: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": hosting.bootstrap("secured"), "log_level": 0, **credentials(user)})


def errors(futures: dict[str, Any]) -> dict[str, int]:
    """The error of each result, 0 without one."""
    found = {}
    for name, future in futures.items():
        try:
            future.result(TIMEOUT)
            found[name] = 0
        except KafkaException as error:
            found[name] = error.args[0].code()
    return found


def committed(broker: Secured, group: str, topic: str) -> int:
    """The offset that the broker keeps."""
    client = AdminClient({"bootstrap.servers": broker.plain, "log_level": 0})
    asked = [ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0)])]
    return int(client.list_consumer_group_offsets(asked)[group].result(TIMEOUT).topic_partitions[0].offset)


def test_a_principal_without_permission(
    hosting: Proxy, strict: Secured, groups: tuple[str, str], topic: str, tmp_path: Path
) -> None:
    """It sees no hosted group, deletes none, and deletes no offset."""
    bob = admin(hosting, "bob")
    listed = bob.list_consumer_groups().result(TIMEOUT)
    assert ([one.group_id for one in listed.valid], listed.errors) == ([], [])
    assert errors(dict(bob.describe_consumer_groups(list(groups)))) == dict.fromkeys(groups, FORBIDDEN)
    assert errors(dict(bob.delete_consumer_groups(list(groups)))) == dict.fromkeys(groups, FORBIDDEN)
    file = tmp_path / "bob.properties"
    login = f'org.apache.kafka.common.security.scram.ScramLoginModule required username="bob" password="{PASSWORD}";'
    file.write_text(f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config={login}\n")
    for group in groups:
        chosen = ("--delete-offsets", "--group", group, "--topic", f"{topic}:0", "--command-config", str(file))
        where = ("--bootstrap-server", hosting.bootstrap("secured"))
        with running(java_tool(GROUPS, *where, *chosen), tmp_path) as client:
            assert "GroupAuthorizationException" in client.wait()
    assert [committed(strict, group, topic) for group in groups] == [5, 3]


def test_a_principal_that_may_read(hosting: Proxy, strict: Secured, groups: tuple[str, str], topic: str) -> None:
    """It sees the groups, and may delete neither; with or without members makes no difference."""
    alice = admin(hosting, "alice")
    listed = alice.list_consumer_groups().result(TIMEOUT)
    assert {one.group_id: one.state.name for one in listed.valid} == {"live": "STABLE", "left": "EMPTY"}
    described = alice.describe_consumer_groups(list(groups), include_authorized_operations=True)
    for group in groups:
        operations = {operation.name for operation in described[group].result(TIMEOUT).authorized_operations}
        assert operations == {"READ", "DESCRIBE"}
    assert errors(dict(alice.delete_consumer_groups(list(groups)))) == dict.fromkeys(groups, FORBIDDEN)
    assert [committed(strict, group, topic) for group in groups] == [5, 3]


def test_lag(hosting: Proxy, groups: tuple[str, str]) -> None:
    """kproxy's own client has no identity here, and says so."""
    status, body = hosting.get(f"/api/v1/clusters/secured/groups/{groups[0]}/lag")
    assert status == 502
    assert "kproxy cannot ask the brokers: " in json.loads(body)["error"]


def test_a_principal_that_may_delete(hosting: Proxy, strict: Secured, groups: tuple[str, str], topic: str) -> None:
    """It deletes a group that has no members, and is told of another that it has some."""
    leave(hosting.bootstrap("secured"), "left too", topic, 3, credentials("alice"))
    other, live = admin(hosting, "a,b=c"), groups[0]
    deleted = errors(dict(other.delete_consumer_groups([live, "left too"])))
    assert deleted == {live: ErrorCode.NON_EMPTY_GROUP, "left too": 0}
    assert committed(strict, live, topic) == 5
    assert committed(strict, "left too", topic) < 0
    listed = other.list_consumer_groups().result(TIMEOUT)
    assert {one.group_id for one in listed.valid} == set(groups)
