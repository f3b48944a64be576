"""What tests do to the real cluster behind the proxy: topics, leaders, health. It bypasses kproxy."""

from __future__ import annotations

import contextlib
import itertools
import time
import warnings
from collections.abc import Iterator, Sequence

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec, PartitionMetadata

from kproxy.local_kafka.cluster import Cluster
from tests.support.wait import until

with warnings.catch_warnings():  # kafka-python's own imports warn
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka.structs
    from kafka.admin import KafkaAdminClient
    from kafka.errors import KafkaError

_TIMEOUT = 10
_names = itertools.count(1)


class Backend:
    """A cluster and an admin client of the test itself that talks to the brokers' own ports."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})

    def topic(self, partitions: int = 6, replicas: int = 3, *, name: str | None = None, **configs: str) -> str:
        """Create a topic that all its leaders serve already, and return its name; `a_b="x"` sets its config `a.b`."""
        name = name or f"t{next(_names)}"
        factor = min(replicas, len(self.cluster.brokers))
        dotted = {key.replace("_", "."): value for key, value in configs.items()}
        return self._create(NewTopic(name, partitions, factor, config=dotted), partitions)

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        self._admin.delete_topics([topic])[topic].result(_TIMEOUT)

    def topic_at(self, node_ids: Sequence[int]) -> str:
        """Create a topic with a partition at each of these nodes, in this order, and no other replicas."""
        placed = [[node] for node in node_ids]
        return self._create(NewTopic(f"t{next(_names)}", len(placed), replica_assignment=placed), len(placed))

    def _create(self, topic: NewTopic, partitions: int) -> str:
        name: str = topic.topic
        self._admin.create_topics([topic])[name].result(_TIMEOUT)
        until(lambda: len(self.leaders(name)) == partitions, f"leaders of {name}")
        self.end_offsets(name)  # the leaders answer this themselves; they may learn of the topic later than others
        return name

    def forget(self, *topics: str) -> None:
        """Delete topics, and wait until they are gone."""
        for done in self._admin.delete_topics(list(topics)).values():
            done.result(30)
        until(lambda: not {*topics} & self._admin.list_topics(timeout=10).topics.keys(), f"{topics} gone")

    def leaders(self, topic: str) -> dict[int, int]:
        """Return the leader's node id of each partition that has one."""
        return {number: one.leader for number, one in self._partitions(topic).items() if one.leader >= 0}

    def move_leaders(self, topic: str) -> dict[int, int]:
        """Make each partition's next replica its leader; return the leaders once they lead. All brokers are up."""
        wanted = {number: _rotated(one.replicas, one.leader) for number, one in self._partitions(topic).items()}
        leaders = {number: nodes[0] for number, nodes in wanted.items()}
        with self._mover() as admin:
            moves = {kafka.structs.TopicPartition(topic, number): nodes for number, nodes in wanted.items()}
            admin.alter_partition_reassignments(moves)
            until(lambda: self._elect(admin, topic, leaders), f"{topic} led by {leaders}")
        return leaders

    def reassign(self, node_ids: Sequence[int], timeout: float = 60) -> None:
        """Put every replica of every topic onto these nodes, evenly, and wait until they are in sync and lead."""
        topics = list(self._admin.list_topics(timeout=_TIMEOUT).topics)
        count = {topic: len(self._partitions(topic)) for topic in topics}
        turns = [_turned(node_ids, number) for number in range(max(count.values()))]
        with self._mover() as admin:
            moves = {kafka.structs.TopicPartition(name, n): turns[n] for name in topics for n in range(count[name])}
            admin.alter_partition_reassignments(moves)
        until(
            lambda: all(
                set(one.replicas) == set(one.isrs) == set(node_ids) and one.leader in node_ids
                for topic in topics
                for one in self._partitions(topic).values()
            ),
            f"all replicas on {node_ids}",
            timeout,
            0.2,
        )

    def open_coordinator(self, topic: str) -> None:
        """Make the brokers create their topic of group offsets, which a cluster has that was used before."""
        committer = Consumer({"bootstrap.servers": self.cluster.bootstrap, "group.id": "committer", "log_level": 0})
        try:
            until(lambda: _commit(committer, topic), "a commit")
        finally:
            committer.close()

    def wait_in_sync(self, topic: str, timeout: float = 60) -> None:
        """Wait until every replica of every partition is in sync."""
        until(
            lambda: all(set(one.isrs) == set(one.replicas) for one in self._partitions(topic).values()),
            f"{topic} in sync",
            timeout,
        )

    def end_offsets(self, topic: str) -> dict[int, int]:
        """Return the log end offset of each partition; ask again while a new leader does not know it yet."""
        return until(lambda: self._end_offsets(topic), f"end offsets of {topic}")

    def leader_epochs(self, topic: str) -> dict[int, int]:
        """Return the leader epoch of each partition: how often it had a new leader."""
        latest = {TopicPartition(topic, number): OffsetSpec.latest() for number in self._partitions(topic)}
        found = self._admin.list_offsets(latest, request_timeout=_TIMEOUT)
        return {key.partition: future.result(_TIMEOUT).leader_epoch for key, future in found.items()}

    def values(self, topic: str) -> list[str]:
        """Return the values of all records of a topic, read past the proxy, each partition in its order."""
        ends = {number: end for number, end in self.end_offsets(topic).items() if end}
        reader = Consumer({"bootstrap.servers": self.cluster.bootstrap, "group.id": "reader", "log_level": 0})
        try:
            reader.assign([TopicPartition(topic, number, 0) for number in ends])
            return list(_read(reader, ends))
        finally:
            reader.close()

    def group_states(self) -> dict[str, str]:
        """Return the state of each consumer group that the brokers know, as STABLE or EMPTY."""
        return {group.group_id: group.state.name for group in self._admin.list_consumer_groups().result(_TIMEOUT).valid}

    @contextlib.contextmanager
    def paused(self, node_id: int) -> Iterator[None]:
        """Pause a broker with SIGSTOP; SIGCONT follows whatever happens."""
        self.cluster.brokers[node_id].pause()
        try:
            yield
        finally:
            self.cluster.brokers[node_id].resume()

    def _partitions(self, topic: str) -> dict[int, PartitionMetadata]:
        return dict(self._admin.list_topics(topic, timeout=_TIMEOUT).topics[topic].partitions)

    def _end_offsets(self, topic: str) -> dict[int, int] | None:
        latest = {TopicPartition(topic, number): OffsetSpec.latest() for number in self._partitions(topic)}
        try:
            found = self._admin.list_offsets(latest, request_timeout=_TIMEOUT)
            return {key.partition: future.result(_TIMEOUT).offset for key, future in found.items()}
        except (KafkaException, TimeoutError):
            return None

    @contextlib.contextmanager
    def _mover(self) -> Iterator[KafkaAdminClient]:
        # librdkafka has no reassignment, and its Python binding's election fails
        admin = KafkaAdminClient(bootstrap_servers=self.cluster.bootstrap.split(","))
        try:
            yield admin
        finally:
            admin.close()

    def _elect(self, admin: KafkaAdminClient, topic: str, leaders: dict[int, int]) -> bool:
        with contextlib.suppress(KafkaError):  # a replica not in sync yet: asked again
            admin.elect_leaders(0, [topic], raise_errors=False)
        return self.leaders(topic) == leaders


def _read(reader: Consumer, ends: dict[int, int]) -> Iterator[str]:
    deadline = time.monotonic() + 3 * _TIMEOUT
    while ends:
        assert time.monotonic() < deadline, f"partitions not read to their ends: {ends}"
        for message in reader.consume(1000, 0.2):
            assert message.error() is None, message.error()
            number, offset = message.partition(), message.offset()
            assert number is not None
            assert offset is not None
            if offset < ends.get(number, 0):
                yield (message.value() or b"").decode()
            if offset + 1 >= ends.get(number, offset + 2):
                del ends[number]


def _commit(committer: Consumer, topic: str) -> bool:
    try:
        committer.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)
    except KafkaException:  # no coordinator yet
        return False
    return True


def _rotated(nodes: list[int], leader: int) -> list[int]:
    return _turned(nodes, nodes.index(leader) + 1)


def _turned(nodes: Sequence[int], by: int) -> list[int]:
    first = by % len(nodes)
    return [*nodes[first:], *nodes[:first]]
