"""Bulk work by a real client, librdkafka: 1 KiB records in batches of 128 KiB, written and read."""

from __future__ import annotations

import os
import time
from typing import Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from .process import BenchError, wait_until

RECORD_BYTES: Final = 1024
PARTITIONS: Final = 12
_AT_ONCE: Final = 2000  # records handed to librdkafka in one call
_PRODUCER: Final = {
    "batch.size": 128 * 1024,
    "linger.ms": 50,
    "acks": 1,
    "queue.buffering.max.kbytes": 65536,
    "compression.type": "none",
}
_CONSUMER: Final = {
    "group.id": "bench",
    "enable.auto.commit": False,
    "check.crcs": False,
    # librdkafka waits a second once it holds this much; the bench drains it at once, so a wait would only measure that.
    "queued.min.messages": 1_000_000,
    "fetch.queue.backoff.ms": 10,
}


def create_topic(bootstrap: str, topic: str, partitions: int = PARTITIONS) -> None:
    """Create a topic without replicas, so that brokers do not talk to each other, and wait for its leaders."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(30)

    def led() -> bool:
        found = admin.list_topics(topic, timeout=10).topics[topic].partitions
        return len(found) == partitions and all(partition.leader >= 0 for partition in found.values())

    wait_until(led, f"topic {topic} with {partitions} leaders")


def delete_topic(bootstrap: str, topic: str) -> None:
    """Delete a topic, which gives its disk space back."""
    admin = AdminClient({"bootstrap.servers": bootstrap})  # must outlive the request that it sends
    admin.delete_topics([topic])[topic].result(30)


def leader_address(bootstrap: str, topic: str) -> tuple[str, int]:
    """Return the address at which a client of this target finds the leader of the topic's partition 0."""
    metadata = AdminClient({"bootstrap.servers": bootstrap}).list_topics(topic, timeout=10)
    leader = metadata.brokers[metadata.topics[topic].partitions[0].leader]
    return str(leader.host), leader.port


def _trusting(ca: str) -> dict[str, str]:
    return {"security.protocol": "SSL", "ssl.ca.location": ca} if ca else {}


def produce(bootstrap: str, topic: str, records: int, ca: str = "") -> float:
    """Write the records round-robin to all partitions and await every acknowledgement; returns the seconds it took."""
    failures: list[KafkaError] = []

    def on_delivery(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failures.append(error)

    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "queue.buffering.max.messages": 10_000_000,
            **_PRODUCER,
            **_trusting(ca),
            "on_delivery": on_delivery,
        }
    )
    # Incompressible; many batches in a row go to one partition, much as a sticky partitioner would send them.
    payload = [{"value": os.urandom(RECORD_BYTES)} for _ in range(_AT_ONCE)]
    start = time.perf_counter()
    done = 0
    while done < records:
        wanted = min(_AT_ONCE, records - done)
        queued = producer.produce_batch(topic, payload[:wanted], partition=done // _AT_ONCE % PARTITIONS)
        done += queued
        producer.poll(0 if queued == wanted else 0.01)
        if failures:
            break
    left = producer.flush(60)
    seconds = time.perf_counter() - start
    if left or failures:
        raise BenchError(f"{bootstrap}: {left} records unacknowledged, {len(failures)} failed: {failures[:1]}")
    return seconds


def fetch(bootstrap: str, topic: str, records: int, ca: str = "") -> float:
    """Read that many records from the beginning of all partitions; returns the seconds it took."""
    consumer = Consumer({"bootstrap.servers": bootstrap, **_CONSUMER, **_trusting(ca)})
    try:
        start = time.perf_counter()
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in range(PARTITIONS)])
        done = 0
        while done < records:
            messages = consumer.consume(min(_AT_ONCE, records - done), timeout=30)  # waits for all it is asked for
            if not messages:
                raise BenchError(f"{bootstrap}: no record for 30 s after {done} of {records}")
            for message in messages:
                if error := message.error():
                    raise KafkaException(error)
            done += len(messages)
        return time.perf_counter() - start
    finally:
        consumer.close()
