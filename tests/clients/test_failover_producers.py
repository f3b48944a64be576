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
from typing import NamedTuple

import pytest

from kproxy.demo import jars
from kproxy.demo.kafka import Cluster
from tests.support import rounds_table, short_lived
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.rounds import Programs
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

    def topic(self, name: str) -> str:
        """Of one partition, at both."""
        for side in (self.east, self.west):
            side.topic(1, name=name)
        return name

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
    """What was seen of all switches: each library's rounds; ids in use at west, and given at east, before the first.

    `around`: the values that producers around kproxy wrote, and how often each is in the log it was written to.
    """

    seen: Sequence[Seen]
    ids_at_west: set[int]
    ids_at_east: set[int]
    around: Counter[str]


@pytest.fixture(scope="module")
def moved(sides: Sides, tmp_path_factory: pytest.TempPathFactory) -> Moved:
    """Six switches; after each, every producer sends two records, one after the first."""
    first, topic = sides.topic("first"), sides.topic("moved")
    around = [f"around-{AROUND}-{number}" for number in range(AROUND)]
    short_lived.write(sides.west, topic, [f"west-{value}" for value in around])
    bootstrap = sides.proxy.bootstrap("idempotent")
    with Programs(EVERY_SENDER, bootstrap, PRODUCERS, tmp_path_factory.mktemp("idempotent")) as programs:
        results = [(sender, "1: at east", result) for sender, result in programs.round(first).items()]
        given = short_lived.ids(sides.east, first)
        short_lived.write(sides.east, topic, [f"east-{value}" for value in around])
        known = short_lived.ids(sides.west, topic)
        for number, to in enumerate(SWITCHES):
            sides.switch("idempotent", to)
            found = programs.round(topic, 2 if number else 1)
            results += [(sender, f"{result.round}: to {to}", result) for sender, result in found.items()]
            between = [f"between-{number}-{one}" for one in range(BETWEEN)]
            for name, side in (("east", sides.east), ("west", sides.west)):
                short_lived.write(side, topic, [f"{name}-{value}" for value in between])
        programs.end()
    written = Counter(
        value for side in (sides.east, sides.west) for one in (first, topic) for value in side.values(one)
    )
    seen = rounds_table.judge(results, written)
    print(rounds_table.write(TABLE, "Idempotent producers", seen))
    return Moved(seen, known, given, written)


def test_ids_of_both_clusters_overlap(moved: Moved) -> None:
    """The producers would bring ids that are in use: the other cluster's are the same numbers, and there are more."""
    assert moved.ids_at_west >= set(range(AROUND))
    assert max(moved.ids_at_east) < AROUND


@pytest.mark.parametrize("sender", EVERY_SENDER, ids=lambda sender: sender.label)
def test_acknowledged_records_are_there_once(moved: Moved, sender: Sender) -> None:
    """Nothing that a moved producer was told to be written is missing, nothing that it sent is there twice."""
    rounds = [one for one in moved.seen if one.sender is sender]
    assert sum(len(one.result.acked) for one in rounds) > 0
    assert not {one.where: one.lost for one in rounds if one.lost}, "acknowledged, and in no log"
    assert not {one.where: one.doubled for one in rounds if one.doubled}, "written twice"
