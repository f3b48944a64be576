"""A producer of confluent-kafka (librdkafka) that pushes telemetry while it produces: so many records, or for ever."""

from __future__ import annotations

import itertools
import json
import sys
import threading
from typing import Any

from confluent_kafka import Producer

EVERY = 0.05
"""Seconds between two records."""
FIRST = 50
"""Records that go to the first partition; then the others have their turn, and their leaders take new connections."""


def main(settings: dict[str, Any], topic: str, records: int) -> None:
    producer = Producer(settings)
    partitions = len(producer.list_topics(topic, 30).topics[topic].partitions)
    pause = threading.Event()
    for number in itertools.count() if records < 0 else range(records):
        producer.produce(topic, b"x", partition=number % partitions if number >= FIRST else 0)
        producer.poll(0)
        pause.wait(EVERY)
    left = producer.flush(30)
    producer.close()
    print(json.dumps({"left": left}), flush=True)


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
