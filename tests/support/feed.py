"""Records that appear in a cluster all the time: written to the brokers themselves, named after the cluster."""

from __future__ import annotations

import itertools

from confluent_kafka import Producer

from tests.support.backend import Backend
from tests.support.beside import Beside

EVERY = 0.05


class Feed(Beside):
    """Writes `NAME-0`, `NAME-1`, ... to a topic of a cluster's own brokers, evenly over its partitions, in a thread."""

    def __init__(self, name: str, backend: Backend, topic: str) -> None:
        super().__init__(f"feed {name}")
        self._name, self._topic = name, topic
        self._partitions = itertools.cycle(backend.leaders(topic))
        self._producer = Producer({"bootstrap.servers": backend.cluster.bootstrap, "log_level": 0})

    def _run(self) -> None:
        numbers = itertools.count()
        while not self._done.wait(EVERY):
            value = f"{self._name}-{next(numbers)}".encode()
            self._producer.produce(self._topic, value, partition=next(self._partitions))
            self._producer.poll(0)
        self._producer.flush(5)
        self._producer.purge()
