"""The demo: an embedded or a real Kafka, a workload through the proxy, a live screen and a plot."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SECONDS: Final = 20
OUT: Final = Path("demo-out")


def run(kafka: bool, stay: bool, hosted_groups: bool, seconds: int = SECONDS, out: Path = OUT) -> int:
    """Start Kafka, kproxy and clients, show what happens, write a plot and a JSON file to `out`; return the exit code.

    Args:
        kafka: use a real Apache Kafka instead of librdkafka's mock cluster.
        hosted_groups: have kproxy coordinate the consumer group, which a third member joins and leaves.
        stay: keep running afterwards, until Ctrl-C.
        seconds: duration of the load.

    Returns:
        0 when every record arrived once and no client bypassed the proxy, 1 otherwise or when something failed,
        130 after Ctrl-C and 143 after SIGTERM.
    """
    from kproxy.demo.play import play  # noqa: PLC0415 - importers of kproxy.local_kafka.cluster need none of this

    return play(kafka=kafka, stay=stay, hosts_groups=hosted_groups, seconds=seconds, out=out)
