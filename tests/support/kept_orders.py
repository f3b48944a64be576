"""The orders that an upstream's control topic has, read past kproxy, each with the time when the broker wrote it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from confluent_kafka import Consumer, TopicPartition

from tests.support.backend import Backend
from tests.support.replica import CLUSTER

Rank = tuple[int, str]


class Kept(NamedTuple):
    """An order in a topic. `at` is the broker's clock in seconds, where the topic has LogAppendTime."""

    at: float
    rank: Rank
    upstream: str


class KeptOrders:
    """The orders of one topic at one cluster; `found` are those up to the last `read`, in the topic's sequence."""

    def __init__(self, backend: Backend, topic: str) -> None:
        self._backend, self._topic = backend, topic
        self._reader: Consumer | None = None
        self._next = 0
        self.found: list[Kept] = []

    def read(self) -> None:
        """Read up to the topic's present end; it must exist."""
        if self._reader is None:
            servers = self._backend.cluster.bootstrap
            self._reader = Consumer({"bootstrap.servers": servers, "group.id": "kept", "log_level": 0})
            self._reader.assign([TopicPartition(self._topic, 0, 0)])
        end = self._backend.end_offsets(self._topic)[0]
        while self._next < end:
            self.found += self._batch(self._reader)

    def _batch(self, reader: Consumer) -> Iterator[Kept]:
        for message in reader.consume(1000, 0.1):
            assert message.error() is None, message.error()
            self._next = (message.offset() or 0) + 1
            said = _order(message.value())
            if said is not None:
                yield Kept(message.timestamp()[1] / 1000, (said["number"], said["replica"]), said["upstream"])

    def restart(self) -> None:
        """Begin anew, as the topic was made anew."""
        self.close()
        self._reader, self._next = None, 0
        self.found.clear()

    def close(self) -> None:
        """End the consumer."""
        if self._reader is not None:
            self._reader.close()


def _order(value: bytes | None) -> dict[str, Any] | None:
    """Return what is an order of the virtual cluster, among what strangers have written."""
    try:
        said = json.loads(value or b"")
    except ValueError:
        return None
    return said if said["cluster"] == CLUSTER and said["version"] == 1 else None
