"""Members of consumer groups that a test needs, but does not test: librdkafka's, in the test's own process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from confluent_kafka import Consumer, TopicPartition

from tests.support.wait import until

_TIMEOUT = 30.0


@contextmanager
def member(
    bootstrap: str, group: str, topic: str, settings: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Consumer]:
    """Yield a member that has partitions; it stays in its group until the end, and commits nothing by itself."""
    common = {"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False, "log_level": 0}
    consumer = Consumer({**common, **settings})
    try:
        consumer.subscribe([topic])
        until(lambda: consumer.poll(0.1) is None and consumer.assignment(), f"{group} has a member", _TIMEOUT)
        yield consumer
    finally:
        consumer.close()


def leave(
    bootstrap: str,
    group: str,
    topic: str,
    offset: int | None = None,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Have a group that a member has left, with an offset of partition 0 where one is given."""
    with member(bootstrap, group, topic, settings) as consumer:
        if offset is not None:
            consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
