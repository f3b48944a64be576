"""A client of librdkafka that asks for metadata over and over, and prints the cluster's id when it is another one."""

from __future__ import annotations

import sys
import threading

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

never = threading.Event()
client = AdminClient({"bootstrap.servers": sys.argv[1], "client.id": "cluster-ids", "log_level": 0})
seen = ""
while not never.wait(0.05):
    try:
        found = client.list_topics(timeout=2).cluster_id or ""
    except KafkaException:  # its connection was closed just now
        continue
    if found not in ("", seen):
        seen = found
        print(found, flush=True)
