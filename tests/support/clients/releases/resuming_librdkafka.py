"""librdkafka by its own functions, in a release so old that no binding for today's Python or node has it.

Takes JSON: servers, topic, group, count, login, and the file of the library. Prints JSON: what each of two consumers of
the group has read. The types are those of rdkafka.h.
"""

from __future__ import annotations

import ctypes as c
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

SETTINGS = json.loads(sys.argv[1])
TOPIC = SETTINGS["topic"].encode()
SECONDS = 60
MILLISECONDS = SECONDS * 1000
PRODUCER, CONSUMER = range(2)
ANY_PARTITION, COPIED = -1, 2
END_OF_PARTITION = -191
"""RD_KAFKA_RESP_ERR__PARTITION_EOF, which consumers are told of before 1.0."""
TEXT = 512


class Message(c.Structure):
    """rd_kafka_message_t."""

    _fields_ = (
        ("error", c.c_int),
        ("topic", c.c_void_p),
        ("partition", c.c_int32),
        ("payload", c.c_void_p),
        ("length", c.c_size_t),
    )


LIBRARY = c.CDLL(SETTINGS["library"])
for name in ("conf_new", "topic_conf_new", "new", "topic_new", "topic_partition_list_new", "topic_partition_list_add"):
    getattr(LIBRARY, f"rd_kafka_{name}").restype = c.c_void_p
LIBRARY.rd_kafka_consumer_poll.restype = c.POINTER(Message)
LIBRARY.rd_kafka_err2str.restype = c.c_char_p
REPORTED = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Message), c.c_void_p)


class KafkaError(Exception):
    """What the library says of an error code."""


def check(code: int, where: str) -> None:
    """Raise KafkaError for a code that is one."""
    if code:
        raise KafkaError(f"{where}: {LIBRARY.rd_kafka_err2str(code).decode()}")


def security() -> dict[str, str]:
    """How it logs in."""
    login = SETTINGS["login"]
    if not login:
        return {}
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanisms": login["mechanism"],
        "sasl.username": login["username"],
        "sasl.password": login["password"],
    }


def configured(settings: Mapping[str, str]) -> c.c_void_p:
    """Return an object with the settings of a client, and of its topics, which go by the same names there."""
    said, whole = c.create_string_buffer(TEXT), c.c_void_p(LIBRARY.rd_kafka_conf_new())
    for name, value in {"metadata.broker.list": SETTINGS["servers"], **security(), **settings}.items():
        if LIBRARY.rd_kafka_conf_set(whole, name.encode(), value.encode(), said, c.c_size_t(TEXT)):
            raise KafkaError(said.value.decode())
    return whole


@contextmanager
def client(kind: int, whole: c.c_void_p) -> Iterator[c.c_void_p]:
    """Yield a producer or a consumer."""
    said = c.create_string_buffer(TEXT)
    made = LIBRARY.rd_kafka_new(kind, whole, said, c.c_size_t(TEXT))
    if not made:
        raise KafkaError(said.value.decode())
    yield c.c_void_p(made)
    LIBRARY.rd_kafka_destroy(c.c_void_p(made))


def write(numbers: range) -> None:
    """Write numbers, each acknowledged by all replicas."""
    reports: list[int] = []
    report = REPORTED(lambda _, message, __: reports.append(message.contents.error))
    whole = configured({"request.required.acks": "-1"})
    LIBRARY.rd_kafka_conf_set_dr_msg_cb(whole, report)
    with client(PRODUCER, whole) as producer:
        topic = c.c_void_p(LIBRARY.rd_kafka_topic_new(producer, TOPIC, None))
        for number in numbers:
            value = str(number).encode()
            produced = (value, c.c_size_t(len(value)), None, c.c_size_t(0), None)
            if LIBRARY.rd_kafka_produce(topic, ANY_PARTITION, COPIED, *produced):
                check(LIBRARY.rd_kafka_last_error(), "produce")
        check(LIBRARY.rd_kafka_flush(producer, MILLISECONDS), "flush")
        LIBRARY.rd_kafka_topic_destroy(topic)
    for code in reports:
        check(code, "a record is not acknowledged")
    assert len(reports) == len(numbers)


def read(count: int) -> list[int]:
    """Read this many records as a member of the group, and commit them."""
    own = {"group.id": SETTINGS["group"], "auto.offset.reset": "earliest", "enable.auto.commit": "false"}
    with client(CONSUMER, configured(own)) as member:
        LIBRARY.rd_kafka_poll_set_consumer(member)
        topics = c.c_void_p(LIBRARY.rd_kafka_topic_partition_list_new(1))
        LIBRARY.rd_kafka_topic_partition_list_add(topics, TOPIC, ANY_PARTITION)
        check(LIBRARY.rd_kafka_subscribe(member, topics), "subscribe")
        LIBRARY.rd_kafka_topic_partition_list_destroy(topics)
        found: list[int] = []
        while len(found) < count:
            found += polled(member)
        check(LIBRARY.rd_kafka_commit(member, None, 0), "commit")
        check(LIBRARY.rd_kafka_consumer_close(member), "close")
    return sorted(found)


def polled(member: c.c_void_p) -> Iterator[int]:
    """Give the number of the next record; none at the end of a partition."""
    message = LIBRARY.rd_kafka_consumer_poll(member, MILLISECONDS)
    if not message:
        raise KafkaError(f"error: nothing in {SECONDS} s")
    if message.contents.error != END_OF_PARTITION:
        check(message.contents.error, "poll")
        yield int(c.string_at(message.contents.payload, message.contents.length))
    LIBRARY.rd_kafka_message_destroy(message)


write(range(SETTINGS["count"]))
first = read(SETTINGS["count"])
write(range(SETTINGS["count"], SETTINGS["count"] + 1))
print(json.dumps([first, read(1)]))
