"""librdkafka, which takes its broker for an old one (`broker.version.fallback`) where it is told a version.

Takes JSON: servers, topic, group, count, version, login; without a version, it asks the brokers for theirs. Prints
JSON: what each of two consumers of the group has read.
"""

from __future__ import annotations

import json
import sys

from confluent_kafka import Consumer, KafkaException, Producer

SETTINGS = json.loads(sys.argv[1])
TOPIC = SETTINGS["topic"]
VERSION = ".".join(map(str, SETTINGS["version"]))
PIN = {"api.version.request": False, "broker.version.fallback": VERSION} if VERSION else {}
SECONDS = 60


def security() -> dict[str, object]:
    """How it logs in."""
    login = SETTINGS["login"]
    if not login:
        return {}
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": login["mechanism"],
        "sasl.username": login["username"],
        "sasl.password": login["password"],
    }


COMMON = {"bootstrap.servers": SETTINGS["servers"], **PIN, **security()}


def write(numbers: range) -> None:
    """Write numbers, each acknowledged by all replicas."""
    producer = Producer({**COMMON, "acks": "all"})
    for number in numbers:
        producer.produce(TOPIC, str(number).encode())
    if missing := producer.flush(SECONDS):
        raise KafkaException(f"{missing} records are not acknowledged")


def read(count: int) -> list[int]:
    """Read this many records as a member of the group, and commit them."""
    member = Consumer(
        {**COMMON, "group.id": SETTINGS["group"], "auto.offset.reset": "earliest", "enable.auto.commit": False}
    )
    member.subscribe([TOPIC])
    found: list[int] = []
    while len(found) < count:
        message = member.poll(SECONDS)
        if message is None or message.error():
            raise KafkaException(f"{len(found)} of {count} records, then {message and message.error()}")
        found.append(int(message.value() or b""))
    member.commit(asynchronous=False)
    member.close()
    return sorted(found)


write(range(SETTINGS["count"]))
first = read(SETTINGS["count"])
write(range(SETTINGS["count"], SETTINGS["count"] + 1))
print(json.dumps([first, read(1)]))
