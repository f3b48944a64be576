"""kafka-python 2.0.2 at Kafka 0.10.1, alive over a failover: it writes numbers and reads them until it is killed.

Takes JSON: servers, topic. Prints a line of JSON for each number that is acknowledged, or read.
"""

from __future__ import annotations

import json
import sys
import threading

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError

SETTINGS = json.loads(sys.argv[1])
COMMON = {"bootstrap_servers": SETTINGS["servers"], "api_version": (0, 10, 1), "metadata_max_age_ms": 2000}
TOPIC = SETTINGS["topic"]
SECONDS = 30
AT_REST = threading.Event()
SAYING = threading.Lock()


def say(**fields: int) -> None:
    """Print one event: two threads must not share a line."""
    with SAYING:
        print(json.dumps(fields), flush=True)


def write() -> None:
    """Write a number after the other, the same again where it is not acknowledged."""
    producer = KafkaProducer(acks="all", retries=100, **COMMON)
    number = 0
    while True:
        try:
            producer.send(TOPIC, str(number).encode(), partition=0).get(SECONDS)
        except KafkaError:
            continue
        say(acknowledged=number)
        number += 1
        AT_REST.wait(0.02)  # an application has something else to do, too


def read() -> None:
    """Read what comes."""
    consumer = KafkaConsumer(auto_offset_reset="earliest", **COMMON)
    consumer.assign([TopicPartition(TOPIC, 0)])
    while True:
        for records in consumer.poll(timeout_ms=200).values():
            for record in records:
                say(read=int(record.value))


for work in (write, read):
    threading.Thread(target=work).start()
