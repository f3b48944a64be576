"""What members make of a hosted group among themselves: each way to assign that has a name, with real clients."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka import Consumer

from kproxy.local_kafka.broker import rack
from tests.support.backend import Backend
from tests.support.beside import Beside
from tests.support.hosted_group import HostedGroup
from tests.support.libraries import CONFLUENT_KAFKA, JAVA_4_4, Library
from tests.support.proxy import Proxy
from tests.support.side import Side
from tests.support.wait import stays, until

with warnings.catch_warnings():  # kafka-python's own imports warn
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaConsumer
    from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor
    from kafka.coordinator.base import BaseCoordinator
    from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription

PARTITIONS: Final = 6
SESSION: Final = 6
RULES: Final = [{"match": ".*", "initial_rebalance_delay": "300ms"}]
COMMON: Final[Mapping[str, str | int]] = {
    "session.timeout.ms": SESSION * 1000,
    "heartbeat.interval.ms": 500,
    "log_level": 0,
    "topic.metadata.refresh.interval.ms": 500,
}


@pytest.fixture(scope="module")
def hosting(newest_kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A kproxy that hosts every group."""
    servers = {"newest": newest_kafka.cluster.bootstrap}
    with Proxy(tmp_path_factory.mktemp("hosting"), servers, each={"groups": RULES}) as proxy:
        yield proxy


@pytest.fixture
def group(hosting: Proxy, newest_kafka: Backend, tmp_path: Path) -> HostedGroup:
    """A group that no other test uses."""
    return HostedGroup(hosting, "newest", Side(hosting, "newest", newest_kafka, tmp_path).fresh("use-case"))


class Librdkafka(Beside):
    """A member that polls, and leaves at its end."""

    def __init__(self, group: HostedGroup, client_id: str, topics: Sequence[str], **settings: str) -> None:
        super().__init__(client_id)
        own = {"bootstrap.servers": group.proxy.bootstrap(), "group.id": group.name, "client.id": client_id}
        self._consumer = Consumer({**COMMON, **own, **{key.replace("_", "."): one for key, one in settings.items()}})
        self._topics = list(topics)
        self.revoked: list[int] = []
        """The partitions that it had to give up, but for those at its end."""

    def _run(self) -> None:
        self._consumer.subscribe(self._topics, on_revoke=self._revoke)
        while not self._done.is_set():
            self._consumer.poll(0.05)
        self._consumer.close()

    def _revoke(self, _consumer: Consumer, partitions: Sequence[Any]) -> None:
        if not self._done.is_set():
            self.revoked += [partition.partition for partition in partitions]


def held(group: HostedGroup) -> dict[str, dict[str, list[int]]]:
    """What each member is assigned, by client id."""
    return {one["client_id"]: one["assignment"] for one in group.members()}


def whole(group: HostedGroup, *client_ids: str) -> bool:
    """Whether the group is stable, and has just these members."""
    return sorted(one["client_id"] for one in group.stable_members()) == sorted(client_ids)


def test_co_partitioned(group: HostedGroup, newest_kafka: Backend) -> None:
    """Range: partitions of one number of two topics are one member's, so that it can join them."""
    topics = [newest_kafka.topic(PARTITIONS) for _ in range(2)]
    with (
        Librdkafka(group, "a", topics, partition_assignment_strategy="range"),
        Librdkafka(group, "b", topics, partition_assignment_strategy="range"),
    ):
        until(lambda: whole(group, "a", "b"), "two members")
        for assignment in held(group).values():
            assert sorted(assignment) == sorted(topics)
            assert len(assignment[topics[0]]) == PARTITIONS // 2
            assert assignment[topics[0]] == assignment[topics[1]]


def test_cooperative(group: HostedGroup, newest_kafka: Backend) -> None:
    """A member that joins takes a part of the partitions; nobody gives up what it keeps."""
    topic = newest_kafka.topic(PARTITIONS)
    with Librdkafka(group, "a", [topic], partition_assignment_strategy="cooperative-sticky") as first:
        until(lambda: whole(group, "a") and len(held(group)["a"][topic]) == PARTITIONS, "all at one")
        with Librdkafka(group, "b", [topic], partition_assignment_strategy="cooperative-sticky"):
            until(lambda: whole(group, "a", "b") and len(held(group)["b"].get(topic, [])) == 3, "three each")
            assert sorted(first.revoked) == held(group)["b"][topic]


def test_static(group: HostedGroup, newest_kafka: Backend) -> None:
    """A static member that comes back within its session has what it had; no member joins again."""
    topic = newest_kafka.topic(PARTITIONS)
    with Librdkafka(group, "a", [topic]) as other:
        until(lambda: whole(group, "a"), "one member")
        with Librdkafka(group, "b", [topic], group_instance_id="b"):
            until(lambda: whole(group, "a", "b"), "two members")
            before, generation = held(group), group.generation()
            other.revoked.clear()
        with Librdkafka(group, "b", [topic], group_instance_id="b"):
            until(lambda: group.settled(2), "it is heard of again", timeout=20)
            assert (held(group), group.generation(), other.revoked) == (before, generation, [])


def test_a_rolling_upgrade_of_the_protocol(group: HostedGroup, newest_kafka: Backend) -> None:
    """Statement 20: the old one as long as a member has only that; once all have the new one, the new one."""
    topic = newest_kafka.topic(PARTITIONS)

    def protocol() -> str:
        shown = group.shown()
        assert shown is not None
        return str(shown["protocol"])

    with ExitStack() as newer:
        with ExitStack() as older:
            for name in ("a", "b"):
                older.enter_context(Librdkafka(group, name, [topic], partition_assignment_strategy="range"))
            until(lambda: whole(group, "a", "b"), "two old members")
            newer.enter_context(Librdkafka(group, "c", [topic], partition_assignment_strategy="roundrobin,range"))
            until(lambda: whole(group, "a", "b", "c"), "a new member")
            assert protocol() == "range"
        until(lambda: whole(group, "c"), "the old ones have left")
        assert protocol() == "roundrobin"


def test_a_leader_that_dies(group: HostedGroup, newest_kafka: Backend, tmp_path: Path) -> None:
    """Statement 22: the other members join again under a new leader, and have all partitions."""
    topic = newest_kafka.topic(PARTITIONS)
    with ExitStack() as clients:
        members = {
            name: clients.enter_context(group.consumers(library, topic, tmp_path, [name], session=SESSION))
            for library, name in ((JAVA_4_4, "java"), (CONFLUENT_KAFKA, "rdkafka"))
        }
        until(lambda: len(group.stable_members()) == 2, "two members", timeout=60)
        (leader,) = [one for one in group.members() if one["leader"]]
        (other,) = [one for one in group.members() if not one["leader"]]
        (dead,) = [client for name, client in members.items() if name in leader["client_id"]]
        dead.__exit__(None, None, None)
        until(lambda: len(group.stable_members()) == 1, "one is left", timeout=60)
        (left,) = group.members()
        assert (left["member"], left["leader"]) == (other["member"], True)
        assert left["assignment"] == {topic: list(range(PARTITIONS))}


@pytest.mark.parametrize("library", [JAVA_4_4, CONFLUENT_KAFKA], ids=lambda library: library.label)
def test_by_the_brokers_racks(kafka: Backend, library: Library, tmp_path: Path) -> None:
    """KIP-881: each member, which says its rack, is assigned the partitions whose only replica is there."""
    first, second, third = kafka.cluster.brokers
    topic = kafka.topic_at([first, second, second, third, first, third])
    near = {rack(first): {topic: [0, 4]}, rack(second): {topic: [1, 2]}, rack(third): {topic: [3, 5]}}
    with ExitStack() as stack:
        proxy = stack.enter_context(Proxy(tmp_path, {"three": kafka.cluster.bootstrap}, each={"groups": RULES}))
        group = HostedGroup(proxy, "three", "by-rack")
        for name in near:
            stack.enter_context(group.consumers(library, topic, tmp_path, [name], session=SESSION, rack=name))
        until(lambda: whole(group, *near), "three members", timeout=60)
        assert held(group) == near


class Redundant(AbstractPartitionAssignor):  # type: ignore[misc]
    """Every member gets every partition of its rack, which its user data names; partitions of even numbers are in a."""

    name = "redundant"
    racks: Final[Mapping[int, str]] = {number: "ab"[number % 2] for number in range(PARTITIONS)}

    def __init__(self, near: str) -> None:
        self._near = near

    def metadata(self, topics: Sequence[str]) -> ConsumerProtocolSubscription:
        return ConsumerProtocolSubscription(0, list(topics), self._near.encode())

    def assign(self, cluster: Any, members: Sequence[Any]) -> dict[str, ConsumerProtocolAssignment]:
        return {member.member_id: self._assigned(member.metadata) for member in members}

    def _assigned(self, said: ConsumerProtocolSubscription) -> ConsumerProtocolAssignment:
        (topic,) = said.topics
        near = [number for number, place in self.racks.items() if place == bytes(said.user_data).decode()]
        return ConsumerProtocolAssignment(0, [(topic, near)], b"")

    def on_assignment(self, assignment: Any, generation: int) -> None:
        """Nothing to note."""


class KafkaPython(Beside):
    """A member with an assignor of its own."""

    def __init__(self, group: HostedGroup, client_id: str, topic: str, near: str) -> None:
        super().__init__(client_id)
        self._consumer = KafkaConsumer(
            topic,
            bootstrap_servers=group.proxy.bootstrap(),
            group_id=group.name,
            client_id=client_id,
            partition_assignment_strategy=[Redundant(near)],
            session_timeout_ms=SESSION * 1000,
            heartbeat_interval_ms=500,
        )

    def _run(self) -> None:
        while not self._done.is_set():
            self._consumer.poll(timeout_ms=50)
        self._consumer.close()


def test_redundant_and_by_rack(group: HostedGroup, newest_kafka: Backend) -> None:
    """Statement 28: user data reaches the leader, whose assignor gives partitions near by, and some of them twice."""
    topic = newest_kafka.topic(PARTITIONS)
    with (
        KafkaPython(group, "a1", topic, "a"),
        KafkaPython(group, "a2", topic, "a"),
        KafkaPython(group, "b", topic, "b"),
    ):
        until(lambda: whole(group, "a1", "a2", "b"), "three members")
        near = {"a1": {topic: [0, 2, 4]}, "a2": {topic: [0, 2, 4]}, "b": {topic: [1, 3, 5]}}
        assert held(group) == near
        stays(lambda: held(group) == near and group.state() == "Stable", "it is stable", seconds=1.5)


class Election(BaseCoordinator):  # type: ignore[misc]
    """A member of a group that elects a single writer: a protocol of its own, as schema registries have."""

    writer = ""

    def protocol_type(self) -> str:
        return "single-writer"

    def group_protocols(self) -> list[tuple[str, bytes]]:
        return [("v0", b"I may write")]

    def _perform_assignment(self, leader_id: str, protocol: str, members: Sequence[Any]) -> dict[str, bytes]:
        assert all(bytes(member.metadata) == b"I may write" for member in members)
        return {member.member_id: leader_id.encode() for member in members}

    async def _on_join_complete_async(self, generation: int, member_id: str, protocol: str, assignment: bytes) -> None:
        self.writer = bytes(assignment).decode()


class Candidate(Beside):
    """A process that may write."""

    def __init__(self, group: HostedGroup, client_id: str) -> None:
        super().__init__(client_id)
        self._consumer = KafkaConsumer(bootstrap_servers=group.proxy.bootstrap(), client_id=client_id)
        self.election = Election(
            self._consumer._client,
            group_id=group.name,
            session_timeout_ms=SESSION * 1000,
            heartbeat_interval_ms=500,
            api_version=(4, 0),
        )

    def _run(self) -> None:
        while not self._done.is_set():
            self.election.ensure_active_group(timeout_ms=500)
            self.election.poll_heartbeat()
            self._done.wait(0.05)
        self.election.close()
        self._consumer.close()


def test_statement_27_a_single_writer(group: HostedGroup) -> None:
    """All know the one writer; when it leaves, the other becomes it."""
    with Candidate(group, "one") as one:
        with Candidate(group, "two") as two:
            until(lambda: len(group.stable_members()) == 2, "two candidates")
            until(lambda: one.election.writer == two.election.writer != "", "both know the writer")
            shown = group.shown()
            assert shown is not None
            assert (shown["protocol_type"], shown["protocol"], shown["leader"]) == (
                "single-writer",
                "v0",
                one.election.writer,
            )
        until(lambda: len(group.stable_members()) == 1, "one is left")
        (left,) = group.members()
        until(lambda: one.election.writer == left["member"], "it is the writer")
