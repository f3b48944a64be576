"""Kafka Streams: an application's group is hosted, with the assignor and the user data of its own (statement 27)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import Producer

from tests.support import committed
from tests.support.backend import Backend
from tests.support.hosted_group import HostedGroup
from tests.support.proxy import Proxy
from tests.support.streams import Application
from tests.support.violation import never
from tests.support.wait import until

pytestmark = pytest.mark.timeout(300)
GROUP: Final = "counts"
PARTITIONS: Final = 4
KEYS: Final = [f"key-{number}" for number in range(12)]


def test_statement_27_an_application_of_two_instances(newest_kafka: Backend, tmp_path: Path) -> None:
    """Each record counts exactly once, though kproxy is killed and an instance dies."""
    proxy = Proxy(
        tmp_path,
        {"newest": newest_kafka.cluster.bootstrap},
        each={"groups": [{"match": ".*", "initial_rebalance_delay": "500ms"}]},
        state={"path": str(tmp_path / "state.db")},
    )
    source, sink = newest_kafka.topic(PARTITIONS), newest_kafka.topic(1)
    group = HostedGroup(proxy, "newest", GROUP)
    application = Application(proxy.bootstrap(), GROUP, source, sink, tmp_path)
    counts = Counts(newest_kafka, source, sink)
    with proxy, application.instance("one") as one, application.instance("two") as two:
        until(lambda: group.settled(2), "two instances", timeout=90, every=0.2)
        assert [len(some) for some in owned(group).values()] == [PARTITIONS // 2] * 2
        counts.check("at first")

        known, generation = owned(group), group.generation()
        proxy.kill()
        proxy.start()
        assert (group.state(), group.generation()) == ("Stable", generation)
        counts.check("after kproxy's kill")
        until(lambda: group.settled(2), "both instances are heard of", timeout=60, every=0.2)
        # The leader may have joined again: a Java client that reached nobody has bootstrapped anew, without its topics.
        assert owned(group) == known

        one.kill()
        counts.check("after an instance's death")
        until(lambda: group.settled(1), "the other instance", timeout=60, every=0.2)
        assert [len(some) for some in owned(group).values()] == [PARTITIONS]
        two.check()
        assert GROUP not in {name for name, state in newest_kafka.group_states().items() if state != "EMPTY"}


def owned(group: HostedGroup) -> dict[str, list[int]]:
    """The partitions that each member is assigned."""
    return {
        one["member"]: [number for some in one["assignment"].values() for number in some] for one in group.members()
    }


class Counts:
    """Records that the application is to count, and what it has made of them."""

    def __init__(self, backend: Backend, source: str, sink: str) -> None:
        self._backend = backend
        self._source, self._sink = source, sink
        self._producer = Producer({"bootstrap.servers": backend.cluster.bootstrap, "log_level": 0})
        self._sent = Counter[str]()

    def check(self, when: str) -> None:
        """Send five records more of each key, and wait for their counts: every number once, up to the last."""
        for key in KEYS * 5:
            self._producer.produce(self._source, b"x", key=key)
            self._sent[key] += 1
        assert self._producer.flush(30) == 0
        expected = Counter(f"{key}={count}" for key, most in self._sent.items() for count in range(1, most + 1))
        until(lambda: len(self._written()) >= expected.total(), f"all are counted {when}", timeout=90, every=0.5)
        found = Counter(self._written())
        never(found != expected, f"lost {when}: {expected - found}; counted twice: {found - expected}")

    def _written(self) -> list[str]:
        return committed.values(self._backend, self._sink)
