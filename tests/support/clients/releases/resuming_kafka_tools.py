"""Kafka's own console producer and consumer, each in a JVM: the one writes numbers, the other is a member of the group.

Takes JSON: servers, topic, group, count, and the beginnings of their commands: producer, consumer. Prints JSON: what
each of two consumers of the group has read.
"""

from __future__ import annotations

import json
import subprocess
import sys

SETTINGS = json.loads(sys.argv[1])
WHERE = ["--bootstrap-server", SETTINGS["servers"], "--topic", SETTINGS["topic"]]
SECONDS = 60


def write(numbers: range) -> None:
    """Write numbers, each acknowledged by all replicas."""
    lines = "".join(f"{number}\n" for number in numbers)
    command = [*SETTINGS["producer"], *WHERE, "--request-required-acks", "all"]
    subprocess.run(command, input=lines, text=True, check=True, timeout=SECONDS)


def read(count: int) -> list[int]:
    """Read this many records; the consumer commits where it has come to as it ends."""
    limits = ["--max-messages", str(count), "--timeout-ms", str(SECONDS * 1000)]
    command = [*SETTINGS["consumer"], *WHERE, "--group", SETTINGS["group"], "--from-beginning", *limits]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=SECONDS + 10)
    return sorted(int(line) for line in done.stdout.split())


write(range(SETTINGS["count"]))
first = read(SETTINGS["count"])
write(range(SETTINGS["count"], SETTINGS["count"] + 1))
print(json.dumps([first, read(1)]))
