"""pykafka 2.8, which speaks the first versions of every API: a producer, and members of a group that it balances.

Takes JSON: servers, topic, group, count, version, login. It has no SASL. Prints JSON: what each of two consumers of
the group has read.
"""

from __future__ import annotations

import json
import sys

from pykafka import KafkaClient
from pykafka.common import OffsetType

SETTINGS = json.loads(sys.argv[1])
if SETTINGS["login"]:
    sys.exit("error: pykafka 2.8 has no SASL")
MILLISECONDS = 60_000
CLIENT = KafkaClient(hosts=SETTINGS["servers"], broker_version=".".join(map(str, SETTINGS["version"])))
TOPIC = CLIENT.topics[SETTINGS["topic"].encode()]


def write(numbers: range) -> None:
    """Write numbers, each acknowledged by all replicas."""
    with TOPIC.get_producer(sync=True, required_acks=-1, linger_ms=5) as producer:
        for number in numbers:
            producer.produce(str(number).encode())


def read(count: int) -> list[int]:
    """Read this many records as a member of the group, and commit them."""
    member = TOPIC.get_balanced_consumer(
        SETTINGS["group"].encode(),
        managed=True,
        auto_offset_reset=OffsetType.EARLIEST,
        consumer_timeout_ms=MILLISECONDS,
        auto_commit_enable=False,
    )
    found = [int(member.consume().value) for _ in range(count)]
    member.commit_offsets()
    member.stop()
    return sorted(found)


write(range(SETTINGS["count"]))
first = read(SETTINGS["count"])
write(range(SETTINGS["count"], SETTINGS["count"] + 1))
print(json.dumps([first, read(1)]))
