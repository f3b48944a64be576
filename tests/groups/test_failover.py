"""A failover and a drain: the members of a hosted group stay members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka import Producer

from tests.support.backend import Backend
from tests.support.hosted_group import HostedGroup
from tests.support.libraries import CONFLUENT_KAFKA, JAVA_4_4
from tests.support.long_lived import LongLived
from tests.support.proxy import Proxy
from tests.support.wait import until

GROUP: Final = "orders"
PARTITIONS: Final = 6
MEMBERS: Final = 4
RULES: Final = [{"match": GROUP, "initial_rebalance_delay": "500ms"}]


def whole(group: HostedGroup) -> bool:
    """Whether the group is stable with all members, each with some of the partitions."""
    shown = group.stable_members()
    return len(shown) == MEMBERS and all(member["assignment"] for member in shown)


def produce(backend: Backend, topic: str, values: Sequence[str]) -> None:
    """Write records to all partitions, directly."""
    producer = Producer({"bootstrap.servers": backend.cluster.bootstrap})
    for number, value in enumerate(values):
        producer.produce(topic, value.encode(), partition=number % PARTITIONS)
    assert producer.flush(30) == 0


def check_read(clients: Sequence[LongLived], backend: Backend, topic: str, prefix: str) -> None:
    """Write records, and wait until the members have read them."""
    values = [f"{prefix}-{number}" for number in range(60)]
    produce(backend, topic, values)

    def missing() -> set[str]:
        events = (client.events(who, "consumed") for client in clients for who in client.roles)
        return set(values) - {event.value for some in events for event in some}

    until(lambda: not missing(), f"all is read: {prefix}", timeout=60)


@pytest.fixture
def topic(kafka: Backend, newest_kafka: Backend, request: pytest.FixtureRequest) -> str:
    """A topic of one name at both clusters."""
    name = f"groups-{request.node.name}"
    for backend in (kafka, newest_kafka):
        backend.topic(PARTITIONS, name=name)
    return name


@contextmanager
def hosting(
    directory: Path, servers: Any, topic: str, settings: Mapping[str, Any]
) -> Iterator[tuple[HostedGroup, list[LongLived]]]:
    """A kproxy that hosts the group, and two libraries' members of it."""
    with ExitStack() as stack:
        proxy = stack.enter_context(Proxy(directory, {"orders": servers}, each={"groups": RULES}, **settings))
        group = HostedGroup(proxy, "orders", GROUP)
        clients = [
            stack.enter_context(group.consumers(library, topic, directory, [f"{prefix}1", f"{prefix}2"]))
            for library, prefix in ((JAVA_4_4, "java"), (CONFLUENT_KAFKA, "rdkafka"))
        ]
        until(lambda: whole(group), "four members", timeout=60)
        yield group, clients


def test_a_failover(kafka: Backend, newest_kafka: Backend, topic: str, tmp_path: Path) -> None:
    """Two libraries' members find the group at the other cluster, under their ids, and read what is there."""
    servers = {"east": kafka.cluster.bootstrap, "west": newest_kafka.cluster.bootstrap}
    with hosting(tmp_path, servers, topic, {}) as (group, clients):
        check_read(clients, kafka, topic, "east")
        known = group.ids()
        group.proxy.fail_over("orders", "west")
        check_read(clients, newest_kafka, topic, "west")
        until(lambda: whole(group), "four members again", timeout=60)
        assert group.ids() == known
        assert GROUP not in {name for name, state in newest_kafka.group_states().items() if state != "EMPTY"}


def test_a_drain(newest_kafka: Backend, topic: str, tmp_path: Path) -> None:
    """All are members of the restarted process, in their generation, with what they are assigned."""
    state = {"state": {"path": str(tmp_path / "state.db")}}
    with hosting(tmp_path, newest_kafka.cluster.bootstrap, topic, state) as (group, clients):
        # One that has not asked for its assignment before it is cut off joins again, as at a broker.
        check_read(clients, newest_kafka, topic, "before")
        known, generation = group.ids(), group.generation()
        group.proxy.signal()
        assert group.proxy.wait() == 0
        group.proxy.start()
        assert (group.ids(), group.generation()) == (known, generation)
        check_read(clients, newest_kafka, topic, "again")
        assert (group.ids(), group.generation()) == (known, generation)
