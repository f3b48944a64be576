"""MirrorMaker 2: it copies a topic and what a group has committed, here into the cluster that they come from.

Another client writes, and reads as a member of the group: first the topic; then, once the group's commits are copied,
the copy, where it goes on.

Takes JSON: servers, topic, group, count, login; the beginning of its command: mirrormaker; and its settings to log in:
java. Prints JSON: what each of the two has read.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

SETTINGS = json.loads(sys.argv[1])
TOPIC, GROUP, LOGIN = SETTINGS["topic"], SETTINGS["group"], SETTINGS["login"]
# Names of their own: its group and its topics are named after them.
SOURCE, TARGET = f"source-{TOPIC}", f"target-{TOPIC}"
COPY = f"{SOURCE}.{TOPIC}"
SECONDS = 180
FLOW = {
    "enabled": "true",
    "topics": TOPIC,
    "groups": GROUP,
    "sync.group.offsets.enabled": "true",
    "offset.lag.max": 0,  # a commit is copied where it stands, not up to 100 records before
    "sync.topic.acls.enabled": "false",  # the brokers have none
    **{f"{what}.interval.seconds": 1 for what in ("emit.checkpoints", "sync.group.offsets", "refresh.groups")},
}
REPLICAS = ("", "offset-syncs.topic.", "checkpoints.topic.", "heartbeats.topic.")
STORED = ("offset", "config", "status")


def properties() -> dict[str, object]:
    """What its file says."""
    each = {"bootstrap.servers": SETTINGS["servers"], **SETTINGS["java"]}
    return {
        "clusters": f"{SOURCE},{TARGET}",
        **{f"{cluster}.{name}": value for cluster in (SOURCE, TARGET) for name, value in each.items()},
        **{f"{SOURCE}->{TARGET}.{name}": value for name, value in FLOW.items()},
        f"{TARGET}->{SOURCE}.enabled": "false",
        **{f"{topic}replication.factor": 1 for topic in REPLICAS},
        **{f"{topic}.storage.replication.factor": 1 for topic in STORED},
    }


def client_settings() -> dict[str, object]:
    """How the other client reaches the same servers."""
    if not LOGIN:
        return {"bootstrap.servers": SETTINGS["servers"]}
    return {
        "bootstrap.servers": SETTINGS["servers"],
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": LOGIN["mechanism"],
        "sasl.username": LOGIN["username"],
        "sasl.password": LOGIN["password"],
    }


def consumer() -> Consumer:
    """Return one of the group, which is no member before it subscribes."""
    own = {"group.id": GROUP, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    return Consumer({**client_settings(), **own})


def write(numbers: range) -> None:
    """Write numbers, each acknowledged by all replicas."""
    producer = Producer({**client_settings(), "acks": "all"})
    for number in numbers:
        producer.produce(TOPIC, str(number).encode())
    if missing := producer.flush(SECONDS):
        raise KafkaException(f"{missing} records are not acknowledged")


def read(topic: str, count: int) -> list[int]:
    """Read this many records as a member of the group, and commit them."""
    member = consumer()
    member.subscribe([topic])
    found: list[int] = []
    while len(found) < count:
        message = member.poll(SECONDS)
        if message is None or message.error():
            raise KafkaException(f"{len(found)} of {count} records, then {message and message.error()}")
        found.append(int(message.value() or b""))
    member.commit(asynchronous=False)
    member.close()
    return sorted(found)


def wait_copied(count: int) -> None:
    """Wait until the group has committed this many records of the copy, which none of its members has read."""
    asking = consumer()
    partitions = [TopicPartition(COPY, partition) for partition in asking.list_topics(TOPIC).topics[TOPIC].partitions]
    deadline = time.monotonic() + SECONDS
    while (copied := sum(max(one.offset, 0) for one in asking.committed(partitions, SECONDS))) < count:
        if time.monotonic() > deadline:
            raise KafkaException(f"the commits of {copied} of {count} records are copied")
    asking.close()


@contextmanager
def mirroring() -> Iterator[None]:
    """Copy for as long as the block runs."""
    with tempfile.NamedTemporaryFile("w", suffix=".properties") as file:
        file.write("".join(f"{name}={value}\n" for name, value in properties().items()))
        file.flush()
        with subprocess.Popen([*SETTINGS["mirrormaker"], file.name]) as process:
            try:
                yield
            finally:
                process.kill()


write(range(SETTINGS["count"]))
first = read(TOPIC, SETTINGS["count"])
with mirroring():
    wait_copied(SETTINGS["count"])
    write(range(SETTINGS["count"], SETTINGS["count"] + 1))
    print(json.dumps([first, read(COPY, 1)]))
