"""A failover, a drain and a restart of a broker: the members of a hosted group stay members."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka import Producer

from tests.groups.test_killed import consumers, grouped
from tests.support.backend import Backend
from tests.support.libraries import CONFLUENT_KAFKA, JAVA_4_4
from tests.support.long_lived import LongLived
from tests.support.proxy import Proxy
from tests.support.wait import until

GROUP: Final = "orders"
PARTITIONS: Final = 6
MEMBERS: Final = 4
PATH: Final = f"/api/v1/clusters/orders/groups/{GROUP}"
RULES: Final = [{"match": GROUP, "initial_rebalance_delay": "500ms"}]


def members(proxy: Proxy) -> list[dict[str, Any]]:
    """The members, as the admin API shows them."""
    shown: list[dict[str, Any]] = proxy.get_json(f"{PATH}/members")["members"]
    return shown


def ids(proxy: Proxy) -> set[str]:
    """Their member ids."""
    return {member["member"] for member in members(proxy)}


def whole(proxy: Proxy) -> bool:
    """Whether the group is stable with all members, each with some of the partitions."""
    status, _ = proxy.get(PATH)
    if status != 200 or proxy.get_json(PATH)["state"] != "Stable":
        return False
    shown = members(proxy)
    return len(shown) == MEMBERS and all(member["assignment"] for member in shown)


def produce(backend: Backend, topic: str, values: Sequence[str]) -> None:
    """Write records to all partitions, directly."""
    producer = Producer({"bootstrap.servers": backend.cluster.bootstrap})
    for number, value in enumerate(values):
        producer.produce(topic, value.encode(), partition=number % PARTITIONS)
    assert producer.flush(30) == 0


def read(clients: Sequence[LongLived]) -> set[str]:
    """All that was consumed so far."""
    return {event.value for client in clients for who in client.roles for event in client.events(who, "consumed")}


@pytest.fixture
def topic(kafka: Backend, newest_kafka: Backend, request: pytest.FixtureRequest) -> str:
    """A topic of one name at both clusters."""
    name = f"groups-{abs(hash(request.node.name)) % 10**6}"
    for backend in (kafka, newest_kafka):
        backend.topic(PARTITIONS, name=name)
    return name


def test_a_failover(kafka: Backend, newest_kafka: Backend, topic: str, tmp_path: Path) -> None:
    """Two libraries' members find the group at the other cluster, under their ids, and read what is there."""
    servers = {"orders": {"east": kafka.cluster.bootstrap, "west": newest_kafka.cluster.bootstrap}}
    with ExitStack() as stack:
        proxy = stack.enter_context(Proxy(tmp_path, servers, each={"groups": RULES}))
        clients = [
            stack.enter_context(consumers(grouped(library), proxy, topic, tmp_path, MEMBERS // 2, prefix))
            for library, prefix in ((JAVA_4_4, "java"), (CONFLUENT_KAFKA, "rdkafka"))
        ]
        until(lambda: whole(proxy), "four members", timeout=60)
        before = [f"east-{number}" for number in range(60)]
        produce(kafka, topic, before)
        until(lambda: read(clients) >= set(before), "all is read at the first cluster", timeout=60)
        known = ids(proxy)
        proxy.fail_over("orders", "west")
        after = [f"west-{number}" for number in range(60)]
        produce(newest_kafka, topic, after)
        until(lambda: read(clients) >= set(after), "all is read at the other cluster", timeout=60)
        until(lambda: whole(proxy), "four members again", timeout=60)
        assert ids(proxy) == known
        assert GROUP not in {group for group, state in newest_kafka.group_states().items() if state != "EMPTY"}


def test_a_drain(newest_kafka: Backend, topic: str, tmp_path: Path) -> None:
    """A member that waits in JoinGroup does not hold up the drain, and all are members of the restarted process."""
    servers = {"orders": newest_kafka.cluster.bootstrap}
    state = {"path": str(tmp_path / "state.db")}
    with ExitStack() as stack:
        proxy = stack.enter_context(Proxy(tmp_path, servers, each={"groups": RULES}, state=state))
        clients = [
            stack.enter_context(consumers(grouped(library), proxy, topic, tmp_path, MEMBERS // 2, prefix))
            for library, prefix in ((JAVA_4_4, "java"), (CONFLUENT_KAFKA, "rdkafka"))
        ]
        until(lambda: whole(proxy), "four members", timeout=60)
        known, generation = ids(proxy), proxy.get_json(PATH)["generation"]
        proxy.signal()
        assert proxy.wait() == 0
        proxy.start()
        assert (ids(proxy), proxy.get_json(PATH)["generation"]) == (known, generation)
        values = [f"again-{number}" for number in range(60)]
        produce(newest_kafka, topic, values)
        until(lambda: read(clients) >= set(values), "all is read after the restart", timeout=60)
        assert (ids(proxy), proxy.get_json(PATH)["generation"]) == (known, generation)
