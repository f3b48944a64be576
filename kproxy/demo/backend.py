"""The Kafka behind the proxy: librdkafka's mock cluster in a process of its own, or a real cluster.

`Play` starts it before all else, and it ends last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kproxy.demo.children import Child
from kproxy.local_kafka import jars, java
from kproxy.local_kafka.cluster import Cluster

BROKERS: Final = 3
_START_TIMEOUT: Final = 30.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Backend:
    """A running cluster, and what the demo needs to know about it.

    `own` has the brokers' own addresses by node id; `check` raises ToolError when the cluster is gone.
    """

    name: str
    own: Mapping[int, str]
    workload_options: tuple[str, ...]
    check: Callable[[], None]
    console: tuple[str, ...]

    @property
    def bootstrap(self) -> str:
        """`host:port,...` of all brokers."""
        return ",".join(self.own.values())


@contextmanager
def mock(out: Path, say: Say) -> Iterator[Backend]:
    """Run librdkafka's mock cluster: it starts at once and needs no Java."""
    say(f"starting librdkafka's mock cluster: {BROKERS} brokers")
    with Child("the mock cluster", ("-m", "kproxy.demo.mock_broker", str(BROKERS)), out / "kafka.log") as child:
        own: dict[int, str] = {}

        def listens() -> bool:
            for line in child.lines():
                own.update({int(node): address for node, address in line["addresses"].items()})
            return bool(own)

        child.wait_until(listens, "no brokers", _START_TIMEOUT)
        yield Backend("librdkafka's mock cluster", own, ("--mock",), child.check, ())


@contextmanager
def real(say: Say) -> Iterator[Backend]:
    """Run Apache Kafka; its jars are fetched once, into a cache."""
    release = jars.KAFKA_4_3
    cluster = Cluster(release, say=say)
    say(f"starting Apache {release.name.title().replace('-', ' ')}: {BROKERS} brokers")
    with cluster:
        own = {node_id: broker.address for node_id, broker in cluster.brokers.items()}
        console = (java.find_java(), "-cp", f"{release.directory}/*")
        options = ("--replicas", str(BROKERS))
        yield Backend(f"Apache {release.name.title().replace('-', ' ')}", own, options, cluster.check, console)
