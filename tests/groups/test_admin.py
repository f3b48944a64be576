"""Administrators' tools at hosted groups, at a broker's own, and at both at once."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from kproxy.wire.apis import APIS
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from tests.clients.test_java_tools import GROUPS
from tests.support.backend import Backend
from tests.support.client import java_3_9, java_4_4
from tests.support.members import leave, member
from tests.support.proxy import Proxy
from tests.support.raw import RawClient
from tests.support.side import Side
from tests.unit.relay import frames

with warnings.catch_warnings():  # kafka-python's own imports warn
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.admin import KafkaAdminClient

RULES = [{"match": "hosted-.*", "initial_rebalance_delay": "50ms"}]
KIP_848 = {"group.protocol": "consumer"}
DESCRIBE, LIST, DELETE = ApiKey.DESCRIBE_GROUPS, ApiKey.LIST_GROUPS, ApiKey.DELETE_GROUPS
TIMEOUT = 30


@pytest.fixture(scope="module")
def hosting(kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A kproxy that hosts some groups of the three brokers."""
    with Proxy(tmp_path_factory.mktemp("hosting"), {"kafka": kafka.cluster.bootstrap}, each={"groups": RULES}) as proxy:
        yield proxy


@pytest.fixture
def side(hosting: Proxy, kafka: Backend, tmp_path: Path) -> Side:
    """Its virtual cluster."""
    return Side(hosting, "kafka", kafka, tmp_path)


@pytest.fixture(scope="module")
def topic(kafka: Backend) -> str:
    """A topic of all groups here."""
    return kafka.topic()


def names(side: Side) -> dict[str, str]:
    """Names of groups that no other test uses, by what they are."""
    kinds = ("hosted-live", "hosted-left", "hosted-fresh", "plain-live", "plain-left")
    return {kind: side.fresh(kind) for kind in kinds}


@pytest.fixture
def mixed(side: Side, topic: str) -> Iterator[dict[str, str]]:
    """Groups with a member and without, hosted and not; a hosted one has no offsets: only kproxy knows of it."""
    groups = names(side)
    for kind in ("hosted-left", "plain-left"):
        leave(side.bootstrap, groups[kind], topic, 3)
    leave(side.bootstrap, groups["hosted-fresh"], topic)
    with ExitStack() as members:
        for kind in ("hosted-live", "plain-live"):
            consumer = members.enter_context(member(side.bootstrap, groups[kind], topic))
            consumer.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
        yield groups


def of(groups: dict[str, str], words: list[str]) -> Counter[str]:
    """How often each of the groups is among the words."""
    return Counter(word for word in words if word in groups.values())


def committed(backend: Backend, group: str, topic: str) -> int:
    """The offset of partition 0 that the brokers keep; -1001 without one."""
    admin = AdminClient({"bootstrap.servers": backend.cluster.bootstrap, "log_level": 0})
    asked = [ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0)])]
    found = admin.list_consumer_group_offsets(asked)[group].result(TIMEOUT)
    return int(found.topic_partitions[0].offset)


@pytest.mark.parametrize("release", [java_3_9, None, java_4_4], ids=["3.9", "4.3", "4.4"])
def test_kafka_consumer_groups_lists_and_describes(side: Side, mixed: dict[str, str], topic: str, release: Any) -> None:
    """Each group once, with its state; members, hosts and assignments of a hosted one as of any other."""
    classpath = release and release()
    assert of(mixed, side.java(GROUPS, "--list", classpath=classpath).split()) == Counter(mixed.values())
    states = dict(re.findall(r"(\S+) +(Stable|Empty)", side.java(GROUPS, "--list", "--state", classpath=classpath)))
    assert {kind: states[name] for kind, name in mixed.items()} == {
        kind: "Stable" if kind.endswith("live") else "Empty" for kind in mixed
    }
    stable = side.java(GROUPS, "--list", "--state", "stable", classpath=classpath).split()
    assert of(mixed, stable) == Counter([mixed["hosted-live"], mixed["plain-live"]])

    chosen = [word for kind in ("hosted-live", "plain-live") for word in ("--group", mixed[kind])]
    members = side.java(GROUPS, "--describe", *chosen, "--members", "--verbose", classpath=classpath)
    rows = {line.split()[0]: line for line in members.splitlines() if line.startswith(("hosted", "plain"))}
    for row in rows.values():
        assert re.search(r"rdkafka-\S+ +/127\.0\.0\.1 +rdkafka +6 .*[:(]0,1,2,3,4,5", row), row
    assert set(rows) == {mixed["hosted-live"], mixed["plain-live"]}
    described = side.java(GROUPS, "--describe", *chosen, "--state", classpath=classpath)
    for kind in ("hosted-live", "plain-live"):
        assert re.search(rf"{mixed[kind]} .*\brange +Stable +1\b", described), described

    offsets = side.java(GROUPS, "--describe", "--group", mixed["hosted-left"], classpath=classpath)
    assert "has no active members" in offsets
    assert re.search(rf"{topic} +0 +3 ", offsets), offsets
    assert committed(side.backend, mixed["hosted-left"], topic) == 3


def test_kafka_consumer_groups_deletes(side: Side, mixed: dict[str, str], topic: str) -> None:
    """Groups with members stay, with a clear error, and keep their offsets; the others go, with theirs."""
    chosen = [word for name in (*mixed.values(), "nobody") for word in ("--group", name)]
    output = side.java(GROUPS, "--delete", *chosen)
    failed = dict(re.findall(r"Group '(\S+)' could not be deleted due to: \S*\.(\w+)Exception", output))
    live = {mixed["hosted-live"], mixed["plain-live"]}
    assert failed == {**dict.fromkeys(live, "GroupNotEmpty"), "nobody": "GroupIdNotFound"}
    assert [committed(side.backend, name, topic) for name in live] == [5, 5]
    for kind in ("hosted-left", "plain-left"):
        assert committed(side.backend, mixed[kind], topic) < 0
    assert of(mixed, side.java(GROUPS, "--list").split()) == Counter(live)


def test_kafka_consumer_groups_deletes_and_resets_offsets(side: Side, mixed: dict[str, str], topic: str) -> None:
    """Offsets in use stay; those of a topic that nobody reads, and of groups without members, can be changed."""
    other = side.backend.topic(1)
    live, left = mixed["hosted-live"], mixed["hosted-left"]
    topics = ("--topic", topic, "--topic", other)
    for name, used in [(live, True), (left, False), (mixed["plain-live"], True)]:
        output = side.java(GROUPS, "--delete-offsets", "--group", name, *topics)
        assert len(re.findall(rf"{topic} +\d +Error: \S*GroupSubscribedToTopicException", output)) == 6 * used, output
        assert len(re.findall(rf"{topic} +\d +Successful", output)) == 6 * (not used), output
        assert re.search(rf"{other} +0 +Successful", output), output
    assert committed(side.backend, left, topic) < 0

    reset = ("--topic", topic, "--to-offset", "0", "--execute")
    output = side.java(GROUPS, "--reset-offsets", "--group", live, *reset)
    assert "the current state is Stable" in output
    output = side.java(GROUPS, "--reset-offsets", "--group", left, *reset)
    assert re.search(rf"{left} +{topic} +0 +0\b", output), output
    assert committed(side.backend, left, topic) == 0


def test_kafka_groups(side: Side, mixed: dict[str, str], topic: str) -> None:
    """kafka-groups, which asks for all types, lists hosted groups as classic ones beside a KIP-848 group."""
    newer = side.fresh("plain-848")
    with member(side.bootstrap, newer, topic, KIP_848):
        output = side.java("org.apache.kafka.tools.GroupsCommand", "--list")
        rows = {line.split()[0]: line.split()[1:] for line in output.splitlines() if line}
        assert [rows[name] for name in mixed.values()] == [["Classic", "consumer"]] * len(mixed)
        assert rows[newer] == ["Consumer", "consumer"]
        chosen = ("--list", "--consumer")
        assert of(mixed, side.java("org.apache.kafka.tools.GroupsCommand", *chosen).split()) == Counter(mixed.values())


def test_confluent_kafkas_admin(side: Side, mixed: dict[str, str]) -> None:
    """It lists, describes and deletes both kinds of groups in one call."""
    admin = AdminClient({"bootstrap.servers": side.bootstrap, "log_level": 0})
    listed = admin.list_consumer_groups().result(TIMEOUT)
    assert listed.errors == []
    states = {one.group_id: one.state.name for one in listed.valid if one.group_id in mixed.values()}
    assert states == {name: "STABLE" if kind.endswith("live") else "EMPTY" for kind, name in mixed.items()}
    futures = admin.describe_consumer_groups(list(mixed.values()), include_authorized_operations=True)
    described = {name: future.result(TIMEOUT) for name, future in futures.items()}
    for kind, name in mixed.items():
        one = described[name]
        assert one.state.name == states[name]
        assert [len(each.assignment.topic_partitions) for each in one.members] == [6] * kind.endswith("live")
        assert "DELETE" in {operation.name for operation in one.authorized_operations}
    failed = {}
    for name, future in admin.delete_consumer_groups(list(mixed.values())).items():
        try:
            future.result(TIMEOUT)
        except KafkaException as error:
            failed[name] = error.args[0].code()
    assert failed == {mixed[kind]: ErrorCode.NON_EMPTY_GROUP for kind in ("hosted-live", "plain-live")}


def test_kafka_pythons_admin(side: Side, mixed: dict[str, str]) -> None:
    """The same with kafka-python."""
    admin = KafkaAdminClient(bootstrap_servers=side.bootstrap)
    try:
        listed = [one["group_id"] for one in admin.list_groups() if one["group_id"] in mixed.values()]
        assert Counter(listed) == Counter(mixed.values())
        described = admin.describe_groups(list(mixed.values()))
        states = {name: described[name]["group_state"] for name in mixed.values()}
        assert states == {name: "Stable" if kind.endswith("live") else "Empty" for kind, name in mixed.items()}
        assert len(described[mixed["hosted-live"]]["members"]) == 1
        deleted = admin.delete_groups(list(mixed.values()))
        assert {name for name, said in deleted.items() if said != "OK"} == {mixed["hosted-live"], mixed["plain-live"]}
    finally:
        admin.close()


def ask(port: int, key: int, version: int, content: dict[str, Any]) -> Any:
    """A response to a request of any content, read by the schema."""
    with RawClient(port) as client:
        client.send(frames.request(key, version, 7, content))
        correlation_id, rest = client.receive()
        return frames.understood(key, version, correlation_id.to_bytes(4) + rest)


def test_r14_every_group_is_listed_by_one_server(side: Side, topic: str) -> None:
    """Of twenty hosted groups, and in every version, each is listed by exactly one of the nodes; each node answers."""
    hosted = [side.fresh("hosted-spread") for _ in range(20)]
    with ExitStack() as members:
        for number, name in enumerate(hosted):
            if number < 4:
                members.enter_context(member(side.bootstrap, name, topic))
            else:
                leave(side.bootstrap, name, topic, offset=1 if number % 2 else None)
        ports = side.proxy.node_ports()
        for version in frames.versions(LIST):
            listed = {node: ask(port, LIST, version, {})["Groups"] for node, port in ports.items()}
            ids = Counter(one["GroupId"] for groups in listed.values() for one in groups)
            assert {name: ids[name] for name in hosted} == dict.fromkeys(hosted, 1), version
            assert sum(any(one["GroupId"] in hosted for one in groups) for groups in listed.values()) > 1
        empty = [
            one["GroupId"]
            for port in ports.values()
            for one in ask(port, LIST, 5, {"StatesFilter": ["eMPTY"]})["Groups"]
        ]
        assert sorted(name for name in empty if name in hosted) == sorted(hosted[4:])


def test_r14_names_are_described_by_their_coordinator(side: Side, mixed: dict[str, str]) -> None:
    """Whoever asks for hosted groups by their names has those, from one node each; the others say 16, as Kafka's."""
    states = {mixed["hosted-live"]: "Stable", mixed["hosted-left"]: "Empty"}
    own = {name: coordinator(side, name) for name in states}
    for port in side.proxy.node_ports().values():
        for version in frames.versions(DESCRIBE):
            described = ask(port, DESCRIBE, version, {"Groups": list(states)})["Groups"]
            found = {one["GroupId"]: (one["ErrorCode"], one["GroupState"]) for one in described}
            assert found == {
                name: (ErrorCode.NONE, state) if port == own[name] else (ErrorCode.NOT_COORDINATOR, "")
                for name, state in states.items()
            }


def test_r18_the_coordinator_is_found_through_any_server(side: Side, mixed: dict[str, str]) -> None:
    """Each node names the same one for a hosted group, at which its members are heard of."""
    group = mixed["hosted-live"]
    ports = {coordinator(side, group, port) for port in side.proxy.node_ports().values()}
    assert len(ports) == 1
    stranger = {"GroupId": group, "GenerationId": 1, "MemberId": "of nobody"}
    for version in frames.versions(ApiKey.HEARTBEAT):
        assert ask(min(ports), ApiKey.HEARTBEAT, version, stranger)["ErrorCode"] == ErrorCode.UNKNOWN_MEMBER_ID


def coordinator(side: Side, group: str, port: int | None = None) -> int:
    """The port of the node that the backend has as a group's coordinator, asked at a port or that of the bootstrap."""
    found = ask(port or side.proxy.port("kafka"), ApiKey.FIND_COORDINATOR, 4, {"CoordinatorKeys": [group]})
    return int(found["Coordinators"][0]["Port"])


@pytest.mark.parametrize("kind", ["hosted-live", "plain-live", "hosted-left", "plain-left"])
def test_unusual_requests(side: Side, mixed: dict[str, str], kind: str) -> None:
    """A name that stands twice and an empty list are answered for a hosted group as for a broker's own."""
    name, live = mixed[kind], kind.endswith("live")
    port = coordinator(side, name)
    for version in frames.versions(DESCRIBE):
        twice = ask(port, DESCRIBE, version, {"Groups": [name, name]})["Groups"]
        assert [(one["GroupId"], one["GroupState"]) for one in twice] == [(name, "Stable" if live else "Empty")] * 2
        assert ask(port, DESCRIBE, version, {"Groups": []})["Groups"] == []
    for version in range(3):
        assert ask(port, DELETE, version, {"GroupsNames": []})["Results"] == []
    results = ask(port, DELETE, 2, {"GroupsNames": [name, name]})["Results"]
    assert [(one["GroupId"], one["ErrorCode"]) for one in results] == [(name, 68 if live else 0)]


@pytest.mark.parametrize("key", [DESCRIBE, LIST, DELETE, ApiKey.OFFSET_DELETE])
def test_unknown_versions(side: Side, key: int) -> None:
    """They end the connection, as with every API."""
    with RawClient(side.proxy.port("kafka")) as client:
        client.send(frames.raw_request(key, APIS[key].max_version + 1, 7, b"\0" * 20))
        assert client.wait_closed() == b""


@pytest.mark.parametrize(
    "key", [ApiKey.CONSUMER_GROUP_DESCRIBE, ApiKey.SHARE_GROUP_DESCRIBE, ApiKey.STREAMS_GROUP_DESCRIBE]
)
def test_other_kinds_of_groups(side: Side, mixed: dict[str, str], key: int) -> None:
    """Whoever asks for a hosted group as one of another kind is told that it is none (69), and falls back."""
    apis = ask(side.proxy.port("kafka"), ApiKey.API_VERSIONS, 0, {})["ApiKeys"]
    (versions,) = (range(one["MinVersion"], one["MaxVersion"] + 1) for one in apis if one["ApiKey"] == key)
    for kind in ("hosted-live", "hosted-left", "hosted-fresh"):
        for version in versions:
            (one,) = ask(coordinator(side, mixed[kind]), key, version, {"GroupIds": [mixed[kind]]})["Groups"]
            assert one["ErrorCode"] == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_million_names(side: Side, mixed: dict[str, str]) -> None:
    """A request with more groups than anybody has ends its connection, without holding up the others."""
    port = coordinator(side, mixed["hosted-live"])
    with RawClient(port) as client:
        client.ask(frames.request(ApiKey.API_VERSIONS, 0, 1))
        client.send(frames.request(DESCRIBE, 0, 7, {"Groups": [mixed["hosted-live"], *["x"] * 1_000_000]}))
        assert client.wait_closed() == b""
    assert side.proxy.told("frame_too_large") >= 1
