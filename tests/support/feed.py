"""Records that appear in a cluster all the time: written to the brokers themselves, named after the cluster."""

from __future__ import annotations

import itertools
import threading
from types import TracebackType
from typing import Self

from confluent_kafka import Producer

from tests.support.backend import Backend

EVERY = 0.05


class Feed:
    """Writes `NAME-0`, `NAME-1`, ... to a topic of a cluster's own brokers, evenly over its partitions, in a thread."""

    def __init__(self, name: str, backend: Backend, topic: str) -> None:
        self._name, self._topic = name, topic
        self._partitions = itertools.cycle(backend.leaders(topic))
        self._producer = Producer({"bootstrap.servers": backend.cluster.bootstrap, "log_level": 0})
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"feed {name}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        numbers = itertools.count()
        while not self._done.wait(EVERY):
            value = f"{self._name}-{next(numbers)}".encode()
            self._producer.produce(self._topic, value, partition=next(self._partitions))
            self._producer.poll(0)
        self._producer.flush(5)
        self._producer.purge()
