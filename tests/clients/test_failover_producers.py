"""Producers that are moved between two real clusters, back and forth: what is acknowledged is in a log exactly once.

Both clusters number producer ids from 0, and other producers write around kproxy: a moved producer brings an id that is
in use where it comes to. A round is over before the next switch, so that no record can be in both logs. What each
library showed its application is written to build/failover-producers.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kproxy.demo import jars
from kproxy.demo.kafka import Cluster
from tests.support import rounds_table, short_lived
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.rounds import Programs, Result
from tests.support.rounds_table import Seen
from tests.support.senders import EVERY_SENDER, Sender
from tests.support.wait import until

pytestmark = pytest.mark.go

TABLE = Path(__file__).parents[2] / "build" / "failover-producers.md"
PRODUCERS = 12
"""Of each library."""

AROUND = 360
"""Ids in use at each cluster before the first switch: more than all libraries' producers have, up to three each."""

BETWEEN = 40
"""Ids more at each cluster between two switches."""

AROUND_KPROXY = ("around kproxy", "-")

SWITCHES = ("west", "east", "west", "east", "west", "east")


class Sides(NamedTuple):
    """Two clusters of one broker, each with ids of its own from 0, and a kproxy in front of both, which begins east."""

    east: Backend
    west: Backend
    proxy: Proxy

    def switch(self, cluster: str, to: str) -> None:
        """Fail a virtual cluster over, as soon as the floor between two switches has passed."""
        answer = until(lambda: self._asked(cluster, to), "the floor's end", every=0.02)
        assert answer["upstream"] == to, answer
        left = self.west if to == "east" else self.east
        # For a moment what was sent before is still answered by the cluster that is left.
        until(lambda: not self._at(left, cluster), f"nobody at the cluster that is left for {to}", every=0.02)

    def around(self, name: str, topic: str, number: int, count: int) -> tuple[tuple[str, str], str, Result]:
        """So many producers write a record each to the topic of one side, past kproxy, after the round `number`."""
        side = self.east if name == "east" else self.west
        values = [f"around-{topic}-{name}-{number}-{one}" for one in range(count)]
        return AROUND_KPROXY, f"{number}: at {name}", short_lived.write(side, topic, number, values)

    def topic(self, name: str) -> str:
        """Of one partition, at both."""
        for side in (self.east, self.west):
            side.topic(1, name=name)
        return name

    def logs(self, *topics: str) -> dict[str, Counter[str]]:
        """How often each value is in the logs, by side."""
        sides = {"east": self.east, "west": self.west}
        return {
            name: Counter(value for topic in topics for value in side.values(topic)) for name, side in sides.items()
        }

    def _at(self, side: Backend, cluster: str) -> list[Any]:
        """The client connections of a virtual cluster that lead to one side."""
        page = self.proxy.get_json(f"/api/v1/connections?limit=1000&cluster={cluster}")
        assert page["next"] is None
        ports = {str(port) for port in side.cluster.ports}
        return [one for one in page["connections"] if (one["upstream"] or "").rpartition(":")[2] in ports]

    def _asked(self, cluster: str, to: str) -> dict[str, object] | None:
        status, said = self.proxy.post(f"/api/v1/clusters/{cluster}/failover", {"to": to})
        assert status in (200, 429), f"failover to {to}: {status} {said}"
        return dict(said) if status == 200 else None


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    """Clusters that are new, so that nobody has an id yet."""
    with ExitStack() as stack:
        clusters = [Cluster(jars.KAFKA_4_3, (1,)) for _ in range(2)]
        for cluster in clusters:
            stack.callback(cluster.stop)
            cluster.start()
        for cluster in clusters:
            cluster.wait_ready()
        upstreams = {name: one.bootstrap for name, one in zip(("east", "west"), clusters, strict=True)}
        virtual = dict.fromkeys(("idempotent", "transactional"), upstreams)
        proxy = Proxy(tmp_path_factory.mktemp("kproxy"), virtual, topology={"epoch_floor": "100ms"})
        east, west = map(Backend, clusters)
        yield Sides(east, west, stack.enter_context(proxy))


@dataclass(frozen=True)
class Moved:
    """What was seen of all switches: each library's rounds, and those of the producers around kproxy.

    `in_use`: the ids that west's partition knew before the first switch; `given`: those that the producers got at east.
    """

    seen: Sequence[Seen]
    in_use: set[int]
    given: set[int]

    def of(self, who: tuple[str, str]) -> list[Seen]:
        """The rounds of a library in a version."""
        return [one for one in self.seen if one.who == who]


@pytest.fixture(scope="module")
def moved(sides: Sides, tmp_path_factory: pytest.TempPathFactory) -> Moved:
    """Six switches; after each, once nobody is at the cluster that was left, all send two records, one at first."""
    first, topic = sides.topic("first"), sides.topic("moved")
    results = [sides.around("west", topic, 0, AROUND)]
    bootstrap = sides.proxy.bootstrap("idempotent")
    with Programs(EVERY_SENDER, bootstrap, PRODUCERS, tmp_path_factory.mktemp("idempotent")) as programs:
        results += [(sender.who, "1: at east", result) for sender, result in programs.round(first).items()]
        given, in_use = short_lived.ids(sides.east, first), short_lived.ids(sides.west, topic)
        results.append(sides.around("east", topic, 1, AROUND))
        for number, to in enumerate(SWITCHES, 2):
            sides.switch("idempotent", to)
            found = programs.round(topic, 2 if number > 2 else 1)
            results += [(sender.who, f"{number}: to {to}", result) for sender, result in found.items()]
            results += [sides.around(side, topic, number, BETWEEN) for side in ("east", "west")]
        programs.end()
    seen = rounds_table.judge(results, sides.logs(first, topic))
    print(rounds_table.write(TABLE, "Idempotent producers", seen))
    return Moved(seen, in_use, given)


def test_ids_of_both_clusters_overlap(moved: Moved) -> None:
    """The producers bring numbers that are in use where they come to, if kproxy passes them on as they are."""
    assert moved.in_use >= set(range(AROUND))
    assert moved.given
    assert max(moved.given) < AROUND


@pytest.mark.parametrize("sender", EVERY_SENDER, ids=lambda sender: sender.label)
def test_acknowledged_records_are_there_once(moved: Moved, sender: Sender) -> None:
    """Nothing that a moved producer was told to be written is missing, nothing that it sent is there twice."""
    rounds = moved.of(sender.who)
    assert len(rounds) == 1 + len(SWITCHES)
    assert sum(len(one.result.acked) for one in rounds) > 0
    assert not {one.where: one.lost for one in rounds if one.lost}, "acknowledged, and in no log"
    assert not {one.where: one.doubled for one in rounds if one.doubled}, "written twice"
    assert not {one.where: one.elsewhere for one in rounds if one.elsewhere}, "not at the cluster of the round"


def test_producers_around_kproxy_are_not_harmed(moved: Moved) -> None:
    """A moved producer takes no id from one that gets it after: nothing of it is lost, and nothing is refused."""
    rounds = moved.of(AROUND_KPROXY)
    assert not {one.where: one.lost for one in rounds if one.lost}, "acknowledged, and in no log"
    assert not {one.where: one.result.failed for one in rounds if one.result.failed}, "refused"
