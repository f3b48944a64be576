"""A process that sends one-record Produce requests on command: {"seconds": ...} on standard input.

Arguments: host and port of the leader, and the topic.
"""

from __future__ import annotations

import json
import statistics
import sys
from contextlib import closing

from .frames import OneRecordProduce, connect
from .small import requests_during


def main(host: str, port: str, topic: str) -> None:
    """Answer each command with the p50 in seconds of the requests, one after the other on a new connection."""
    for line in sys.stdin:
        with closing(connect((host, int(port)))) as connection:
            samples = requests_during(connection, OneRecordProduce.to(topic), json.loads(line)["seconds"])
        print(json.dumps({"p50": statistics.median(samples)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
