"""kafka-python as a user runs it: one scenario a process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import security
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata, TopicPartition
from logins import Heard, logins
from records import PATIENCE, compare, main, record

KINDS: dict[str, dict[str, Any]] = {
    # not 0 first: its records are lost as long as the leader does not know the topic
    "all": {"acks": "all", "enable_idempotence": False},
    "1": {"acks": 1, "enable_idempotence": False},
    "0": {"acks": 0, "enable_idempotence": False},
    "idempotent": {"enable_idempotence": True},
}

REFUSED_WITHIN_MS = 1500
"""It tries again until then, and tells its user at the end."""


def nodes(bootstrap: str) -> list[tuple[int, str, int]]:
    admin = KafkaAdminClient(**security.kafka_python(bootstrap))
    cluster = admin.describe_cluster()
    admin.close()
    return [(node["broker_id"], node["host"], node["port"]) for node in cluster["brokers"]]


def create(bootstrap: str, topic: str, replicas: int) -> None:
    admin = KafkaAdminClient(**security.kafka_python(bootstrap))
    admin.create_topics({topic: {"num_partitions": 3, "replication_factor": replicas}})
    admin.close()


def produce(producer: KafkaProducer, topic: str, seed: str, count: int) -> list[int]:
    """Produce records; return the numbers of the acknowledged ones."""
    sent = []
    for number in range(count):
        key, value = record(seed, number)
        sent.append(producer.send(topic, value, key))
    producer.flush(60)
    return [number for number, future in enumerate(sent) if future.succeeded()]


def committed(reader: KafkaConsumer, partition: TopicPartition) -> int | None:
    """Return the offset that the last transaction has committed; another one when that does not come in time.

    kafka-python asks for no stable offsets (KIP-447): the broker may not have ended the transaction there yet.
    """
    offset: int | None = None
    pause = threading.Event()
    for _ in range(200):
        offset = reader.committed(partition)
        if offset == len("last"):
            break
        pause.wait(0.05)
    return offset


def consume(bootstrap: str, topic: str, group: str, count: int, **settings: Any) -> list[tuple[bytes, bytes]]:
    """Consume at least `count` records, unless patience ends first; the group's offsets are committed."""
    begun = time.monotonic()
    return drink(bootstrap, topic, group, lambda: count if time.monotonic() - begun < PATIENCE else 0, **settings)


def drink(
    bootstrap: str, topic: str, group: str, total: Callable[[], int | None], **settings: Any
) -> list[tuple[bytes, bytes]]:
    """Consume until there are as many records as `total` says; None: it is not known yet."""
    consumer = KafkaConsumer(
        topic, **security.kafka_python(bootstrap), group_id=group, auto_offset_reset="earliest", **settings
    )
    # 3.0.12 may stop for good, with Kafka itself too, when it joins its group before it knows the topic.
    consumer.partitions_for_topic(topic)
    consumed: list[tuple[bytes, bytes]] = []
    quiet = time.monotonic()
    while (wanted := total()) is None or (len(consumed) < wanted and time.monotonic() - quiet < PATIENCE):
        for messages in consumer.poll(200).values():
            consumed += [(message.key, message.value) for message in messages]
            quiet = time.monotonic()
    consumer.commit()
    consumer.close()
    return consumed


def everything(bootstrap: str, topic: str, group: str, count: int, replicas: int) -> dict[str, Any]:
    create(bootstrap, topic, replicas)
    results = {}
    produced = 0
    for name, settings in KINDS.items():
        producer = KafkaProducer(**security.kafka_python(bootstrap), **settings)
        acknowledged = produce(producer, topic, name, count)
        producer.close()
        produced += len(acknowledged)
        consumed = consume(bootstrap, topic, f"{group}-{name}", produced)
        own = [(key, value) for key, value in consumed if key.startswith(f"{name}-".encode())]
        results[name] = compare(name, acknowledged, own)
    return {"nodes": nodes(bootstrap), "acks": results}


def transactions(
    bootstrap: str, topic: str, group: str, count: int, transactional_id: str, before: int = 0
) -> dict[str, Any]:
    """Commit two transactions with an aborted one between; `before` records were in the topic."""
    producer = KafkaProducer(**security.kafka_python(bootstrap), transactional_id=transactional_id)
    producer.init_transactions()
    partition = TopicPartition(topic, 0)
    result: dict[str, Any] = {}
    acknowledged = {}
    for seed in ("first", "aborted", "last"):
        producer.begin_transaction()
        acknowledged[seed] = produce(producer, topic, seed, count)
        producer.send_offsets_to_transaction({partition: OffsetAndMetadata(len(seed), "", -1)}, f"{group}-offsets")
        if seed == "aborted":
            producer.abort_transaction()
        else:
            producer.commit_transaction()
    producer.close()
    reader = KafkaConsumer(**security.kafka_python(bootstrap), group_id=f"{group}-offsets")
    result["committed"] = committed(reader, partition)
    reader.close()
    consumed = consume(bootstrap, topic, group, before + 2 * count, isolation_level="read_committed")
    for seed, numbers in acknowledged.items():
        own = [(key, value) for key, value in consumed if key.startswith(f"{seed}-".encode())]
        result[seed] = compare(seed, numbers, own)
    return result


def work(bootstrap: str, topic: str, group: str, count: int, transactional_id: str) -> dict[str, Any]:
    """Produce, read in a group, and do transactions with another group."""
    producer = KafkaProducer(**security.kafka_python(bootstrap))
    acknowledged = produce(producer, topic, "plain", count)
    producer.close()
    plain = compare("plain", acknowledged, consume(bootstrap, topic, f"{group}-plain", count))
    return {"plain": plain, **transactions(bootstrap, topic, group, count, transactional_id, before=count)}


def refusal(bootstrap: str) -> dict[str, Any]:
    """Return what its user is told: the error, and what is in the log."""
    heard = Heard()
    try:
        KafkaAdminClient(**security.kafka_python(bootstrap), bootstrap_timeout_ms=REFUSED_WITHIN_MS)
    except KafkaError as error:
        return {"kind": type(error).__name__, "says": f"{error} | {heard.since()}"}
    return {}


def follow(bootstrap: str, topic: str, group: str, seconds: float, seed: str = "follow") -> dict[str, Any]:
    """Produce and consume for a while, whatever happens to the brokers meanwhile."""
    futures: list[Any] = []
    done = threading.Event()

    def run() -> None:
        producer = KafkaProducer(**security.kafka_python(bootstrap), enable_idempotence=True, linger_ms=5)
        end = time.monotonic() + seconds
        pause = threading.Event()
        while time.monotonic() < end:
            key, value = record(seed, len(futures))
            futures.append(producer.send(topic, value, key))
            pause.wait(0.001)
        producer.flush(PATIENCE)
        producer.close()
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    consumed = drink(bootstrap, topic, group, lambda: sum(f.succeeded() for f in futures) if done.is_set() else None)
    thread.join()
    acknowledged = [number for number, future in enumerate(futures) if future.succeeded()]
    failed = [str(future.exception) for future in futures if not future.succeeded()]
    return {"produced": len(futures), "failed": failed[:3], **compare(seed, acknowledged, consumed)}


if __name__ == "__main__":
    main(everything=everything, transactions=transactions, follow=follow, logins=logins(work, refusal))
