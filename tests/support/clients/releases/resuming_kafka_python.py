"""kafka-python, with a pinned `api_version` or without: it writes and reads what brokers of that version knew.

Takes JSON: servers, topic, group, count, version, login; without a version, it asks the brokers for theirs. Prints
JSON: what each of two consumers of the group has read.
"""

from __future__ import annotations

import json
import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

SETTINGS = json.loads(sys.argv[1])
VERSION = tuple(SETTINGS["version"])
TOPIC = SETTINGS["topic"]
MILLISECONDS = 60_000
WITH_MEMBERS = (0, 9)


def security() -> dict[str, object]:
    """How it logs in."""
    login = SETTINGS["login"]
    if not login:
        return {}
    return {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": login["mechanism"],
        "sasl_plain_username": login["username"],
        "sasl_plain_password": login["password"],
    }


COMMON = {"bootstrap_servers": SETTINGS["servers"], **({"api_version": VERSION} if VERSION else {}), **security()}


def consumer() -> KafkaConsumer:
    """A member of the group; before 0.9 there are no members, and each names its partitions."""
    found = KafkaConsumer(
        **COMMON,
        group_id=SETTINGS["group"],
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        consumer_timeout_ms=MILLISECONDS,
    )
    if not VERSION or VERSION >= WITH_MEMBERS:
        found.subscribe([TOPIC])
    else:
        found.assign([TopicPartition(TOPIC, number) for number in sorted(found.partitions_for_topic(TOPIC))])
    return found


def write(numbers: range) -> None:
    """Write numbers, each acknowledged by all replicas: compressed, a message has the others in it."""
    producer = KafkaProducer(acks="all", compression_type="gzip", linger_ms=5, **COMMON)
    sent = [producer.send(TOPIC, str(number).encode(), str(number).encode()) for number in numbers]
    for future in sent:
        future.get(MILLISECONDS / 1000)
    producer.close()


def read(count: int) -> list[int]:
    """Read this many records, and commit them."""
    member = consumer()
    found = [int(record.value) for _, record in zip(range(count), member, strict=False)]
    member.commit()
    member.close()
    return sorted(found)


write(range(SETTINGS["count"]))
first = read(SETTINGS["count"])
write(range(SETTINGS["count"], SETTINGS["count"] + 1))
print(json.dumps([first, read(1)]))
