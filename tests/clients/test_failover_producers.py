"""Producers that are moved between two real clusters, back and forth: each acknowledged record is in one log, once.

Both clusters number producer ids from 0, and other producers write directly to them: a moved producer brings an id that
is in use at its new cluster. A round is over before the next switch, so that no record can be in both logs. What each
library showed its application is written to build/failover-producers.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import committed, rounds_table, short_lived, twins
from tests.support.backend import Backend
from tests.support.rounds import Programs
from tests.support.rounds_table import Seen
from tests.support.senders import EVERY_SENDER, Sender
from tests.support.sides import AROUND_KPROXY, Sides
from tests.support.sides import sides as two_sides

pytestmark = [pytest.mark.go, pytest.mark.node]

TABLE = Path(__file__).parents[2] / "build" / "failover-producers.md"
PRODUCERS = 12
"""Producers of each library."""

AROUND = 360
"""Ids in use at each cluster before the first switch: more than all libraries' producers have, up to three each."""

ISSUED = (1 << 38) - 1
"""The bits of a producer id that a broker has issued; the other bits say which cluster the id is of."""

BETWEEN = 40
"""Further ids that are used at each cluster between two switches."""

SWITCHES = ("west", "east") * (int(os.environ.get("TEST_SWITCHES", "6")) // 2)
"""The targets of the switches; TEST_SWITCHES=20 makes more of them."""
OPEN_AT = ("west", "east", "west")
"""The target of each switch while transactions are open."""


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    """Yield two clusters, with a virtual cluster in front for each kind of producer."""
    with two_sides(tmp_path_factory.mktemp("kproxy"), "idempotent", "transactional") as both:
        yield both


@dataclass(frozen=True)
class Moved:
    """What was seen of all switches: each library's rounds, and those of the producers around kproxy.

    `in_use`: the ids that west's partition knew before the first switch; `given`: the ids that east's broker issued.
    """

    seen: Sequence[Seen]
    in_use: set[int]
    given: set[int]

    def of(self, who: tuple[str, str]) -> list[Seen]:
        """Return the rounds of a library in a version."""
        return [one for one in self.seen if one.who == who]


@pytest.fixture(scope="module")
def moved(sides: Sides, tmp_path_factory: pytest.TempPathFactory) -> Moved:
    """Make all switches; after each, once the old cluster is empty, all producers send two records, one at first."""
    first, topic = sides.topic("first"), sides.topic("moved")
    results = [sides.around("west", topic, 0, AROUND, 1)]
    bootstrap = sides.proxy.bootstrap("idempotent")
    with Programs(EVERY_SENDER, bootstrap, PRODUCERS, tmp_path_factory.mktemp("idempotent")) as programs:
        results += [(sender.who, "1: at east", result) for sender, result in programs.round(first).items()]
        given = {one & ISSUED for one in short_lived.ids(sides.east, first)}
        in_use = short_lived.ids(sides.west, topic)
        results.append(sides.around("east", topic, 1, AROUND, 1))
        for number, to in enumerate(SWITCHES, 2):
            sides.switch("idempotent", to)
            found = programs.round(topic, 2 if number > 2 else 1)
            results += [(sender.who, f"{number}: to {to}", result) for sender, result in found.items()]
            results += [sides.around(side, topic, number, BETWEEN, 2) for side in ("east", "west")]
        programs.end()
    seen = rounds_table.compare(results, sides.logs((first, topic), Backend.values))
    print(rounds_table.write(TABLE, "Idempotent producers", seen))
    return Moved(seen, in_use, given)


def test_ids_of_both_clusters_overlap(moved: Moved) -> None:
    """The producers' ids are in use at the other cluster, too: passed on unchanged, they would collide."""
    assert moved.in_use >= set(range(AROUND))
    assert moved.given
    assert max(moved.given) < AROUND


@pytest.mark.parametrize("sender", EVERY_SENDER, ids=lambda sender: sender.label)
def test_acknowledged_records_are_there_once(moved: Moved, sender: Sender) -> None:
    """No record that was acknowledged to a moved producer is missing, and none that it sent is there twice."""
    rounds = moved.of(sender.who)
    assert len(rounds) == 1 + len(SWITCHES)
    assert sum(len(one.result.acked) for one in rounds) > 0
    rounds_table.check_once(rounds)
    wrong = rounds_table.wrong(rounds, "elsewhere")
    assert not wrong


@pytest.mark.parametrize("sender", EVERY_SENDER, ids=lambda sender: sender.label)
def test_no_application_notices(moved: Moved, sender: Sender) -> None:
    """No record fails and no producer has to be replaced, whichever cluster it comes to, and however often."""
    rounds = moved.of(sender.who)
    assert not {one.where: one.result.failed for one in rounds if one.result.failed}
    assert sum(one.result.replaced for one in rounds) == 0


def test_producers_around_kproxy_are_not_harmed(moved: Moved) -> None:
    """A producer around kproxy that later gets a moved producer's id loses nothing, and nothing of it is refused."""
    rounds = moved.of(AROUND_KPROXY)
    rounds_table.check_once(rounds)
    wrong = rounds_table.wrong(rounds, "undead")
    assert not wrong
    assert not {one.where: one.result.failed for one in rounds if one.result.failed}, "refused"


@pytest.fixture(scope="module")
def transacted(sides: Sides, tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    """Make three switches, each while every producer has a transaction open; after each, whole transactions.

    Every other transactional id is known at both clusters before, with the same producer id.
    """
    topic = sides.topic("transacted")
    results = [sides.around(side, topic, 0, AROUND, 1) for side in ("east", "west")]
    bootstrap, directory = sides.proxy.bootstrap("transactional"), tmp_path_factory.mktemp("transactional")
    with Programs(EVERY_SENDER, bootstrap, PRODUCERS, directory, "transactional") as programs:
        shared = programs.producers[::2]
        twins.prepare(sides.east, sides.west, shared)
        results += [(sender.who, "1: at east", result) for sender, result in programs.round(topic).items()]
        twins.complete(sides.east, sides.west, shared)
        for number, to in enumerate(OPEN_AT, 1):
            begun = programs.round(topic, only="begin")
            sides.switch("transactional", to)
            ended = programs.round(topic, only="commit")
            results += [(one.who, f"{2 * number}: open, to {to}", begun[one].then(ended[one])) for one in EVERY_SENDER]
            found = programs.round(topic, 2)
            results += [(sender.who, f"{2 * number + 1}: whole, {to}", result) for sender, result in found.items()]
        programs.end()
    for side in (sides.east, sides.west):
        short_lived.end_transactions(side, programs.producers)
    seen = rounds_table.compare(results, sides.logs((topic,), committed.values))
    print(rounds_table.write(TABLE, "Transactional producers", seen))
    return seen


@pytest.mark.parametrize("sender", EVERY_SENDER, ids=lambda sender: sender.label)
def test_committed_records_are_there_once(transacted: list[Seen], sender: Sender) -> None:
    """A committed transaction is read whole and once, by read_committed; nothing is read of a failed one."""
    rounds = [one for one in transacted if one.who == sender.who]
    assert len(rounds) == 1 + 2 * len(OPEN_AT)
    assert sum(len(one.result.acked) for one in rounds) > 0
    rounds_table.check_once(rounds)
    wrong = rounds_table.wrong(rounds, "undead")
    assert not wrong
    # A transaction that is open at a switch may be committed at the cluster where it began.
    elsewhere = rounds_table.wrong((one for one in rounds if "open" not in one.where), "elsewhere")
    assert not elsewhere
