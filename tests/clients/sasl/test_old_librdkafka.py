"""librdkafka before 2.11 through kproxy to a broker that asks for SASL: it looks at the lowest version named."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.support import venvs
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.secured import PASSWORD, Secured

RELEASES: Final = ("2.0.2", "2.10.0")
# SCRAM of releases before 2.6.1 is refused by Kafka 4, also without kproxy.
CASES: Final = ((RELEASES[0], "PLAIN"), (RELEASES[1], "PLAIN"), (RELEASES[1], "SCRAM-SHA-256"))
COUNT: Final = 50
SCRIPT: Final = """
import json, sys
from confluent_kafka import Consumer, Producer, libversion
settings, topic, count = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
producer = Producer({**settings, "acks": "all"})
for number in range(count):
    producer.produce(topic, str(number).encode())
missing = producer.flush(60)
consumer = Consumer({**settings, "group.id": topic, "auto.offset.reset": "earliest"})
consumer.subscribe([topic])
seen = []
while not missing and len(seen) < count:
    message = consumer.poll(60)
    if message is None or message.error():
        break
    seen.append(int(message.value()))
consumer.close()
print(json.dumps([libversion()[0], missing, sorted(seen)]))
"""


@pytest.mark.parametrize(("release", "mechanism"), CASES)
def test_it_authenticates(broker: Secured, tmp_path: Path, release: str, mechanism: str) -> None:
    """As it does directly: its records are written, and its group reads them."""
    topic = Backend(broker.cluster).topic(1, 1)
    with Proxy(tmp_path, {"secured": broker.bootstrap}) as proxy:
        login = {"sasl.mechanism": mechanism, "sasl.username": "alice", "sasl.password": PASSWORD}
        settings = {"bootstrap.servers": proxy.bootstrap(), "security.protocol": "SASL_PLAINTEXT", **login}
        python = venvs.python_with("confluent-kafka", release)
        command = [python, "-c", SCRIPT, json.dumps(settings), topic, str(COUNT)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
        assert done.returncode == 0, done.stderr[-2000:]
        assert json.loads(done.stdout) == [release, 0, list(range(COUNT))], done.stderr[-2000:]
