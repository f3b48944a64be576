"""The offsets of hosted groups are the broker's, which knows no members: they must not expire there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.wait import until

RETENTION_MINUTES: Final = 1


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    """A broker that expires offsets after a minute, and looks for them every second."""
    settings = {"offsets.retention.minutes": RETENTION_MINUTES, "offsets.retention.check.interval.ms": 1000}
    with Cluster(jars.KAFKA_4_3, (0,), settings=settings) as cluster:
        yield Backend(cluster)


def test_the_offsets_of_a_live_member_do_not_expire(backend: Backend, tmp_path: Path) -> None:
    """A member that commits once and then has nothing to read keeps its offsets; a group without members loses them."""
    topic = backend.topic(2)
    producer = Producer({"bootstrap.servers": backend.cluster.bootstrap})
    for partition in range(2):
        producer.produce(topic, b"only", partition=partition)
    assert producer.flush(10) == 0
    groups = [{"match": "hosted-.*", "initial_rebalance_delay": "100ms", "offset_refresh": "10s"}]
    with ExitStack() as stack:
        proxy = stack.enter_context(Proxy(tmp_path, {"kafka": backend.cluster.bootstrap}, each={"groups": groups}))
        live = stack.enter_context(closing(proxy, "hosted-live"))
        live.subscribe([topic])
        until(lambda: len(live.consume(2, 5)) == 2, "both records")
        live.commit(asynchronous=False)
        gone = stack.enter_context(closing(proxy, "hosted-gone"))
        partitions = [TopicPartition(topic, partition, 1) for partition in range(2)]
        gone.commit(offsets=partitions, asynchronous=False)
        begun = time.monotonic()
        assert offsets(gone, topic) == offsets(live, topic) == [1, 1]
        # The live one sends its heartbeats by itself.
        until(
            lambda: live.poll(0) is None and offsets(gone, topic) == [-1001, -1001], "they expire", timeout=150, every=1
        )
        assert time.monotonic() - begun > RETENTION_MINUTES * 60
        assert offsets(live, topic) == [1, 1]


class closing:
    """A consumer of a group, closed at the end."""

    def __init__(self, proxy: Proxy, group: str) -> None:
        settings = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
        self._consumer = Consumer({"bootstrap.servers": proxy.bootstrap(), **settings})

    def __enter__(self) -> Consumer:
        return self._consumer

    def __exit__(self, *_: object) -> None:
        self._consumer.close()


def offsets(consumer: Consumer, topic: str) -> list[int]:
    """The committed offsets of both partitions; -1001 for none."""
    return [one.offset for one in consumer.committed([TopicPartition(topic, number) for number in range(2)], 10)]
