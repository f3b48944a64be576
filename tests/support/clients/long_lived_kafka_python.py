"""kafka-python as a service runs it: it produces and consumes until it is killed."""

from __future__ import annotations

import itertools
import threading
from functools import partial
from typing import Any

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError
from lines import EVERY, run, say


def produce(who: str, topic: str, name: str, settings: dict[str, Any]) -> None:
    producer = KafkaProducer(**settings)
    pause = threading.Event()
    for number in itertools.count():
        value = f"{name}-{number}"
        try:
            future = producer.send(topic, value.encode())
        except KafkaError as error:  # send itself waits for metadata, and gives up
            say(who, "error", f"not sent: {error!r}")
            continue
        future.add_callback(lambda _, value=value: say(who, "acked", value))
        future.add_errback(lambda error: say(who, "error", f"not delivered: {error!r}"))
        pause.wait(EVERY)


def consume(who: str, topic: str, name: str, settings: dict[str, Any]) -> None:
    consumer = KafkaConsumer(topic, **settings)
    consumer.partitions_for_topic(topic)  # 3.0.12 may stop for good when it joins its group before it knows the topic
    while True:
        try:
            found = consumer.poll(200)
        except KafkaError as error:
            say(who, "error", repr(error))
            continue
        for messages in found.values():
            for message in messages:
                say(who, "consumed", message.value.decode())


def dotless(work: Any, *, settings: dict[str, Any], **role: Any) -> None:
    """Call `work` with the settings spelled as kafka-python has them."""
    work(settings={key.replace(".", "_"): value for key, value in settings.items()}, **role)


if __name__ == "__main__":
    run(producer=partial(dotless, produce), consumer=partial(dotless, consume))
