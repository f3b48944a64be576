"""confluent-kafka (librdkafka) as a user runs it: one scenario a process."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import security
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from logins import logins
from records import PATIENCE, compare, main, record

KINDS: dict[str, dict[str, Any]] = {
    "all": {"acks": "all"},  # first: with acks=0 records are lost as long as the leader does not know the topic
    "1": {"acks": "1"},
    "0": {"acks": "0"},
    "idempotent": {"enable.idempotence": True},
}

REFUSED_WITHIN = 10.0
"""Seconds until it must have told its user why it is not let in."""


def nodes(bootstrap: str) -> list[tuple[int, str, int]]:
    admin = AdminClient(security.librdkafka(bootstrap))  # alive until its result is there
    cluster = admin.describe_cluster().result(30)
    return [(node.id, node.host, node.port) for node in cluster.nodes]


def create(bootstrap: str, topic: str, replicas: int) -> None:
    admin = AdminClient(security.librdkafka(bootstrap))
    admin.create_topics([NewTopic(topic, 3, replicas)])[topic].result(30)


def produce(producer: Producer, topic: str, seed: str, count: int) -> list[int]:
    """Produce records; return the numbers of the acknowledged ones."""
    acknowledged: list[int] = []
    for number in range(count):
        key, value = record(seed, number)

        def delivered(error: Any, message: Any, number: int = number) -> None:
            if error is None:
                acknowledged.append(number)

        producer.produce(topic, value, key, on_delivery=delivered)
        producer.poll(0)
    producer.flush(30)
    return acknowledged


def content(message: Message) -> tuple[bytes, bytes]:
    """Return key and value: all records of these tests have both."""
    key, value = message.key(), message.value()
    assert key is not None
    assert value is not None
    return key, value


def consume(bootstrap: str, topic: str, group: str, count: int, **settings: Any) -> list[tuple[bytes, bytes]]:
    """Consume at least `count` records, unless patience ends first; the group's offsets are committed."""
    consumer = Consumer(
        {**security.librdkafka(bootstrap), "group.id": group, "auto.offset.reset": "earliest", **settings}
    )
    consumer.subscribe([topic])
    consumed: list[tuple[bytes, bytes]] = []
    deadline = time.monotonic() + PATIENCE
    while len(consumed) < count and time.monotonic() < deadline:
        for message in consumer.consume(500, 0.2):
            if message.error() is None:
                consumed.append(content(message))
    consumer.commit(asynchronous=False)
    consumer.close()
    return consumed


def everything(bootstrap: str, topic: str, group: str, count: int, replicas: int) -> dict[str, Any]:
    create(bootstrap, topic, replicas)
    results = {}
    produced = 0
    for name, settings in KINDS.items():
        producer = Producer({**security.librdkafka(bootstrap), **settings})
        acknowledged = produce(producer, topic, name, count)
        produced += len(acknowledged)
        consumed = consume(bootstrap, topic, f"{group}-{name}", produced)
        own = [(key, value) for key, value in consumed if key.startswith(f"{name}-".encode())]
        results[name] = compare(name, acknowledged, own)
    return {"nodes": nodes(bootstrap), "acks": results}


def transactions(
    bootstrap: str, topic: str, group: str, count: int, transactional_id: str, before: int = 0
) -> dict[str, Any]:
    """Commit two transactions with an aborted one between; `before` records were in the topic."""
    producer = Producer({**security.librdkafka(bootstrap), "transactional.id": transactional_id})
    producer.init_transactions(30)
    reader = Consumer({**security.librdkafka(bootstrap), "group.id": f"{group}-offsets"})
    acknowledged = {}
    for seed in ("first", "aborted", "last"):
        producer.begin_transaction()
        acknowledged[seed] = produce(producer, topic, seed, count)
        offsets = [TopicPartition(topic, 0, len(seed))]
        producer.send_offsets_to_transaction(offsets, reader.consumer_group_metadata(), 30)
        if seed == "aborted":
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
    committed = reader.committed([TopicPartition(topic, 0)], 30)[0].offset
    reader.close()
    consumed = consume(bootstrap, topic, group, before + 2 * count, **{"isolation.level": "read_committed"})
    return {"committed": committed, **by_seed(acknowledged, consumed)}


def by_seed(acknowledged: dict[str, list[int]], consumed: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    return {
        seed: compare(seed, numbers, [(k, v) for k, v in consumed if k.startswith(f"{seed}-".encode())])
        for seed, numbers in acknowledged.items()
    }


def work(bootstrap: str, topic: str, group: str, count: int, transactional_id: str) -> dict[str, Any]:
    """Produce, read in a group, and do transactions with another group."""
    acknowledged = produce(Producer(security.librdkafka(bootstrap)), topic, "plain", count)
    plain = compare("plain", acknowledged, consume(bootstrap, topic, f"{group}-plain", count))
    return {"plain": plain, **transactions(bootstrap, topic, group, count, transactional_id, before=count)}


def refusal(bootstrap: str) -> dict[str, Any]:
    """Return the first error that its user is told."""
    told: list[KafkaError] = []
    callback: dict[str, Any] = {"error_cb": told.append}
    admin = AdminClient({**security.librdkafka(bootstrap), **callback, "log_level": 0})
    deadline = time.monotonic() + REFUSED_WITHIN
    while not told and time.monotonic() < deadline:
        admin.poll(0.1)
    return {"kind": told[0].name(), "says": told[0].str()} if told else {}


def follow(bootstrap: str, topic: str, group: str, seconds: float, stop: str = "") -> dict[str, Any]:
    """Produce and consume, whatever happens to the brokers meanwhile, for a while or until the file `stop` is there."""
    seed = "follow"
    produced, done = [0], threading.Event()
    acknowledged: list[int] = []
    failed: list[str] = []

    def run() -> None:
        settings = {**security.librdkafka(bootstrap), "enable.idempotence": True, "linger.ms": 5, "debug": "eos"}
        producer = Producer(settings)
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (stop and Path(stop).exists()):
            number, produced[0] = produced[0], produced[0] + 1
            key, value = record(seed, number)

            def delivered(error: Any, message: Any, number: int = number) -> None:
                if error is None:
                    acknowledged.append(number)
                else:
                    failed.append(str(error))

            producer.produce(topic, value, key, on_delivery=delivered)
            producer.poll(0.001)
        producer.flush(PATIENCE)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    consumed = drink(bootstrap, topic, group, lambda: len(acknowledged) if done.is_set() else None)
    thread.join()
    return {"produced": produced[0], "failed": failed[:3], **compare(seed, acknowledged, consumed)}


def drink(bootstrap: str, topic: str, group: str, total: Any) -> list[tuple[bytes, bytes]]:
    consumer = Consumer({**security.librdkafka(bootstrap), "group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    consumed: list[tuple[bytes, bytes]] = []
    quiet = time.monotonic()
    while (wanted := total()) is None or (len(consumed) < wanted and time.monotonic() - quiet < PATIENCE):
        for message in consumer.consume(500, 0.2):
            if message.error() is None:
                consumed.append(content(message))
                quiet = time.monotonic()
    consumer.close()
    return consumed


if __name__ == "__main__":
    try:
        main(everything=everything, transactions=transactions, follow=follow, logins=logins(work, refusal))
    except KafkaException as error:
        raise SystemExit(f"KafkaException: {error}") from error
