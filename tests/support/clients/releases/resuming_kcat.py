"""kcat, which is librdkafka at a command line: it writes what is on standard input, and reads as a member of the group.

Takes JSON: servers, topic, group, count, login, and its own program: kcat. Prints JSON: what each of two consumers of
the group has read.
"""

from __future__ import annotations

import json
import subprocess
import sys

SETTINGS = json.loads(sys.argv[1])
TOPIC = SETTINGS["topic"]
SECONDS = 60


def security() -> dict[str, str]:
    """How it logs in."""
    login = SETTINGS["login"]
    if not login:
        return {}
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": login["mechanism"],
        "sasl.username": login["username"],
        "sasl.password": login["password"],
    }


def kcat(*arguments: str, given: str = "", **settings: str) -> str:
    """Run it; return what it prints. Settings are librdkafka's, with `_` for their dots."""
    dotted = {name.replace("_", "."): value for name, value in settings.items()}
    said = [part for name, value in {**security(), **dotted}.items() for part in ("-X", f"{name}={value}")]
    command = [SETTINGS["kcat"], "-b", SETTINGS["servers"], *said, *arguments]
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=False, timeout=SECONDS)
    if done.returncode:
        sys.exit(done.returncode)  # it has said why itself
    return done.stdout


def write(numbers: range) -> None:
    """Write numbers, each acknowledged by all replicas."""
    kcat("-P", "-t", TOPIC, given="".join(f"{number}\n" for number in numbers), acks="all")


def read(count: int) -> list[int]:
    """Read this many records; the consumer commits where it has come to as it ends."""
    printed = kcat("-q", "-c", str(count), "-G", SETTINGS["group"], TOPIC, auto_offset_reset="earliest")
    return sorted(int(line) for line in printed.split())


write(range(SETTINGS["count"]))
first = read(SETTINGS["count"])
write(range(SETTINGS["count"], SETTINGS["count"] + 1))
print(json.dumps([first, read(1)]))
