"""confluent-kafka (librdkafka) as a service runs it: it produces and consumes until it is killed."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer
from lines import EVERY, run, say


def produce(who: str, topic: str, name: str, settings: dict[str, Any]) -> None:
    producer = Producer({**settings, "error_cb": lambda error: say(who, "error", str(error))})

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            say(who, "acked", (message.value() or b"").decode())
        else:
            say(who, "error", f"not delivered: {error}")

    pause = threading.Event()
    for number in itertools.count():
        producer.produce(topic, f"{name}-{number}".encode(), on_delivery=delivered)
        producer.poll(0)
        pause.wait(EVERY)


def consume(who: str, topic: str, name: str, settings: dict[str, Any]) -> None:
    consumer = Consumer({**settings, "error_cb": lambda error: say(who, "error", str(error))})
    consumer.subscribe([topic])
    while True:
        for message in consumer.consume(100, EVERY):
            if message.error() is None:
                say(who, "consumed", (message.value() or b"").decode())
            else:
                say(who, "error", str(message.error()))


if __name__ == "__main__":
    run(producer=produce, consumer=consume)
