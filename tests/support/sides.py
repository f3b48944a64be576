"""Two clusters of one broker, which both number producer ids from 0, and a kproxy in front of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.support import short_lived
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.rounds import Result
from tests.support.wait import until

AROUND_KPROXY = ("around kproxy", "-")
"""In place of a library and its version."""


class Sides(NamedTuple):
    """Two clusters and the kproxy in front; every virtual cluster begins at east."""

    east: Backend
    west: Backend
    proxy: Proxy

    def switch(self, cluster: str, to: str) -> None:
        """Fail a virtual cluster over, as soon as the floor between two switches has passed."""
        answer = until(lambda: self._asked(cluster, to), "the floor's end", every=0.02)
        assert answer["upstream"] == to, answer
        left = self.west if to == "east" else self.east
        # For a moment the old cluster still answers what was sent before.
        until(lambda: not self._at(left, cluster), f"nobody at the cluster that is left for {to}", every=0.02)

    def around(
        self, name: str, topic: str, number: int, count: int, records: int
    ) -> tuple[tuple[str, str], str, Result]:
        """Write a batch from each of `count` producers to one side's topic, past kproxy, after the round `number`."""
        side = self.east if name == "east" else self.west
        prefix = f"around-{topic}-{name}-{number}"
        batches = [[f"{prefix}-{one}-{record}" for record in range(records)] for one in range(count)]
        return AROUND_KPROXY, f"{number}: at {name}", short_lived.write(side, topic, number, batches)

    def topic(self, name: str) -> str:
        """Create a topic of one partition at both sides."""
        for side in (self.east, self.west):
            side.topic(1, name=name)
        return name

    def logs(self, topics: Sequence[str], read: Callable[[Backend, str], list[str]]) -> dict[str, Counter[str]]:
        """Return how often each value is in the logs, by side, as `read` reads them."""
        both = {"east": self.east, "west": self.west}
        return {name: Counter(value for topic in topics for value in read(side, topic)) for name, side in both.items()}

    def _at(self, side: Backend, cluster: str) -> list[Any]:
        """Return the client connections of a virtual cluster that lead to one side."""
        page = self.proxy.get_json(f"/api/v1/connections?limit=1000&cluster={cluster}")
        assert page["next"] is None
        ports = {str(port) for port in side.cluster.ports}
        return [one for one in page["connections"] if (one["upstream"] or "").rpartition(":")[2] in ports]

    def _asked(self, cluster: str, to: str) -> dict[str, object] | None:
        status, said = self.proxy.post(f"/api/v1/clusters/{cluster}/failover", {"to": to})
        assert status in (200, 429), f"failover to {to}: {status} {said}"
        return dict(said) if status == 200 else None


@contextmanager
def sides(directory: Path, *virtual: str) -> Iterator[Sides]:
    """Yield two new clusters, in which no id is in use, and these virtual clusters in front of both."""
    with ExitStack() as stack:
        clusters = [Cluster(jars.KAFKA_4_3, (1,)) for _ in range(2)]
        for cluster in clusters:
            stack.callback(cluster.stop)
            cluster.start()
        for cluster in clusters:
            cluster.wait_ready()
        upstreams = {name: one.bootstrap for name, one in zip(("east", "west"), clusters, strict=True)}
        proxy = Proxy(directory, dict.fromkeys(virtual, upstreams), topology={"epoch_floor": "100ms"})
        east, west = map(Backend, clusters)
        yield Sides(east, west, stack.enter_context(proxy))
