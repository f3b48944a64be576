"""Real clients in groups that kproxy hosts: they consume as with a broker's own coordinator, which has no member."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.clients.test_java_tools import GROUPS, TOOLS, objects
from tests.clients.test_python_clients import check_everything, check_transactions
from tests.support.backend import Backend
from tests.support.client import PYTHON_CLIENTS, java_3_9, java_4_4
from tests.support.proxy import Proxy
from tests.support.side import Side
from tests.support.violation import check_read

ALL_GROUPS: Final = [{"match": ".*", "initial_rebalance_delay": "100ms"}]
CLIENTS: Final = (
    *PYTHON_CLIENTS,
    pytest.param("kafkajs", marks=pytest.mark.node),
    pytest.param("franz_go", marks=pytest.mark.go),
)
ASSIGNORS: Final = "org.apache.kafka.clients.consumer"


@pytest.fixture(scope="module")
def hosting(kafka: Backend, newest_kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A kproxy that hosts every group of both clusters."""
    servers = {"kafka": kafka.cluster.bootstrap, "newest": newest_kafka.cluster.bootstrap}
    with Proxy(tmp_path_factory.mktemp("hosting"), servers, each={"groups": ALL_GROUPS}) as proxy:
        yield proxy


@pytest.fixture
def three(hosting: Proxy, kafka: Backend, tmp_path: Path) -> Side:
    """The virtual cluster of three brokers of 4.3.1."""
    return Side(hosting, "kafka", kafka, tmp_path)


@pytest.fixture
def newest(hosting: Proxy, newest_kafka: Backend, tmp_path: Path) -> Side:
    """The virtual cluster of one node of 4.4.0."""
    return Side(hosting, "newest", newest_kafka, tmp_path)


@pytest.mark.parametrize("client", CLIENTS)
def test_every_acks_byte_exact(newest: Side, client: str) -> None:
    """A client of each kind joins a hosted group, consumes every record once, and commits."""
    check_everything(newest, client)
    check_hosted(newest)


@pytest.mark.parametrize("client", CLIENTS)
def test_transactions(three: Side, client: str) -> None:
    """Offsets of a hosted group that are committed in a transaction hold with it (sendOffsetsToTransaction)."""
    check_transactions(three, client)
    check_hosted(three)


@pytest.mark.parametrize("release", [java_3_9, java_4_4], ids=["3.9", "4.4"])
@pytest.mark.parametrize("assignor", ["RangeAssignor", "CooperativeStickyAssignor"])
@pytest.mark.parametrize("instance", [(), ("--group-instance-id", "one")], ids=["dynamic", "static"])
def test_java(three: Side, release: object, assignor: str, instance: tuple[str, ...]) -> None:
    """A member of Java's reads each record, and Kafka's tool sees that all of them are committed."""
    assert callable(release)
    topic, count, group = three.backend.topic(), 1000, three.fresh("group")
    three.java(f"{TOOLS}.VerifiableProducer", "--topic", topic, "--max-messages", str(count))
    strategy = ("--assignment-strategy", f"{ASSIGNORS}.{assignor}")
    arguments = ("--topic", topic, "--group-id", group, "--max-messages", str(count), "--verbose", *strategy, *instance)
    seen = objects(three.java(f"{TOOLS}.VerifiableConsumer", *arguments, classpath=release()))
    values = sorted(int(line["value"]) for line in seen if line["name"] == "record_data")
    check_read(range(count), values)
    assert set(values) == set(range(count))
    rows = [line.split() for line in three.java(GROUPS, "--describe", "--group", group).splitlines()]
    committed = [int(row[3]) for row in rows if row[:2] == [group, topic] and row[3] != "-"]
    assert sum(committed) == count
    check_hosted(three)


def check_hosted(side: Side) -> None:
    """The groups were at kproxy, and no broker has ever had a member."""
    moves = side.proxy.metric("kproxy_group_transitions_total", cluster=side.name, state="Stable", cause="assigned")
    assert moves > 0
    shown = side.proxy.get_json(f"/api/v1/clusters/{side.name}/groups")["groups"]
    assert shown
    assert set(side.backend.group_states().values()) <= {"EMPTY", "DEAD"}
