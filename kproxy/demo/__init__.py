"""An embedded or a real Kafka, a workload through the proxy, the live screen and the plot."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SECONDS: Final = 20
OUT: Final = Path("demo-out")


def run(kafka: bool, stay: bool, seconds: int = SECONDS, out: Path = OUT) -> int:
    """Start Kafka, kproxy and clients, show what happens, leave a plot and a JSON file in `out`; the exit code.

    Args:
        kafka: a real Apache Kafka instead of librdkafka's mock cluster.
        stay: stay up afterwards, until Ctrl-C.
        seconds: how long the load lasts.

    Returns:
        0 when every record arrived once and no client went past the proxy, 1 when not or when something failed,
        130 after Ctrl-C and 143 after SIGTERM.
    """
    from kproxy.demo.play import play  # noqa: PLC0415 - who imports kproxy.local_kafka.cluster needs none of this

    return play(kafka=kafka, stay=stay, seconds=seconds, out=out)
