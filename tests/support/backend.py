"""What tests do to the real cluster behind the proxy: topics, leaders, health. Never through kproxy."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kproxy.demo.kafka import Cluster
from tests.support.wait import until

with warnings.catch_warnings():  # of kafka-python's own imports, which are none of ours
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.admin import KafkaAdminClient
    from kafka.errors import KafkaError, RetriableError
    from kafka.structs import TopicPartition

_names = itertools.count(1)


class Backend:
    """A cluster and an admin client of the test itself that talks to the brokers' own ports."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @contextlib.contextmanager
    def admin(self) -> Iterator[KafkaAdminClient]:
        """An admin client straight to the brokers."""
        client = KafkaAdminClient(bootstrap_servers=self.cluster.bootstrap.split(","), request_timeout_ms=20_000)
        try:
            yield client
        finally:
            client.close()

    def topic(self, partitions: int = 6, replicas: int = 3, *, name: str | None = None, **configs: str) -> str:
        """A topic of its own for a test, on all brokers, with a leader for every partition."""
        name = name or f"t{next(_names)}"
        factor = min(replicas, len(self.cluster.brokers))
        wanted = {"num_partitions": partitions, "replication_factor": factor, "configs": _dotted(configs)}
        with self.admin() as admin:
            admin.create_topics({name: wanted})
            until(lambda: len(self._leaders(admin, name)) == partitions, f"leaders of {name}")
        return name

    def leaders(self, topic: str) -> dict[int, int]:
        """The leader's node id of each partition that has one."""
        with self.admin() as admin:
            return self._leaders(admin, topic)

    def move_leaders(self, topic: str) -> dict[int, int]:
        """Make each partition's next replica its leader; returns the new leaders, once they lead."""
        with self.admin() as admin:
            partitions = admin.describe_topics([topic])[0]["partitions"]
            wanted = {p["partition_index"]: _rotated(p["replica_nodes"], p["leader_id"]) for p in partitions}
            admin.alter_partition_reassignments({TopicPartition(topic, p): nodes for p, nodes in wanted.items()})
            leaders = {p: nodes[0] for p, nodes in wanted.items()}
            until(lambda: self._elect(admin, topic) == leaders, f"{topic} led by {leaders}")
        return leaders

    def wait_in_sync(self, topic: str, timeout: float = 60) -> None:
        """Wait until every replica of every partition is in sync."""
        with self.admin() as admin:
            until(lambda: self._in_sync(admin, topic), f"{topic} in sync", timeout)

    @contextlib.contextmanager
    def paused(self, node_id: int) -> Iterator[None]:
        """SIGSTOP a broker, and SIGCONT whatever happens."""
        self.cluster.brokers[node_id].pause()
        try:
            yield
        finally:
            self.cluster.brokers[node_id].resume()

    def end_offsets(self, topic: str) -> dict[int, int]:
        """The log end offset of each partition."""
        partitions = self.leaders(topic)
        with self.admin() as admin:
            found = until(lambda: self._end_offsets(admin, topic, partitions), f"end offsets of {topic}")
        return {key.partition: value.offset for key, value in found.items()}

    def _elect(self, admin: KafkaAdminClient, topic: str) -> dict[int, int]:
        with contextlib.suppress(KafkaError):  # ELECTION_NOT_NEEDED, or not in sync yet: asked again
            admin.elect_leaders(0, [topic], raise_errors=False)
        return self._leaders(admin, topic)

    @staticmethod
    def _end_offsets(admin: KafkaAdminClient, topic: str, partitions: Iterable[int]) -> Any:
        try:
            return admin.list_partition_offsets({TopicPartition(topic, p): -1 for p in partitions})
        except RetriableError:  # a new leader does not know its high watermark yet
            return None

    @staticmethod
    def _leaders(admin: KafkaAdminClient, topic: str) -> dict[int, int]:
        described = admin.describe_topics([topic])[0]
        return {p["partition_index"]: p["leader_id"] for p in described["partitions"] if p["leader_id"] >= 0}

    @staticmethod
    def _in_sync(admin: KafkaAdminClient, topic: str) -> bool:
        partitions = admin.describe_topics([topic])[0]["partitions"]
        return all(set(p["isr_nodes"]) == set(p["replica_nodes"]) for p in partitions)


def _rotated(nodes: list[int], leader: int) -> list[int]:
    first = (nodes.index(leader) + 1) % len(nodes)
    return nodes[first:] + nodes[:first]


def _dotted(configs: Mapping[str, str]) -> dict[str, str]:
    return {key.replace("_", "."): value for key, value in configs.items()}
