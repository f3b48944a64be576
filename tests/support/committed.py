"""What a consumer with read_committed reads from a log, once no transaction in it is open any more."""

from __future__ import annotations

import time
from collections.abc import Iterator

from confluent_kafka import Consumer, IsolationLevel, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from tests.support.backend import Backend
from tests.support.wait import until

_TIMEOUT = 30.0


def values(backend: Backend, topic: str) -> list[str]:
    """Return the values of all committed records of partition 0, read from the brokers themselves."""
    admin = AdminClient({"bootstrap.servers": backend.cluster.bootstrap, "log_level": 0})
    until(lambda: _is_stable(admin, topic), f"no open transaction in {topic}", _TIMEOUT)
    settings = {"bootstrap.servers": backend.cluster.bootstrap, "group.id": "reader", "log_level": 0}
    reader = Consumer({**settings, "isolation.level": "read_committed", "enable.partition.eof": True})
    try:
        reader.assign([TopicPartition(topic, 0, 0)])
        return list(_read(reader))
    finally:
        reader.close()


def _is_stable(admin: AdminClient, topic: str) -> bool:
    kinds = (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED)
    return len({_end(admin, topic, kind) for kind in kinds}) == 1


def _end(admin: AdminClient, topic: str, isolation: IsolationLevel) -> int:
    partition = TopicPartition(topic, 0)
    found = admin.list_offsets({partition: OffsetSpec.latest()}, isolation_level=isolation)
    return int(found[partition].result(_TIMEOUT).offset)


def _read(reader: Consumer) -> Iterator[str]:
    deadline = time.monotonic() + _TIMEOUT
    while True:
        assert time.monotonic() < deadline, "the log not read to its end"
        for message in reader.consume(1000, 0.2):
            error = message.error()
            if error is None:
                yield (message.value() or b"").decode()
            elif error.code() == KafkaError._PARTITION_EOF:
                return
            else:
                raise AssertionError(error)
