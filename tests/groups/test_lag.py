"""`kproxy groups lag`: what it shows of a hosted group is what Kafka's own tool shows."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition

from tests.clients.test_java_tools import GROUPS
from tests.support.backend import Backend
from tests.support.members import leave, member
from tests.support.proxy import KPROXY, Proxy
from tests.support.side import Side

RULES = [{"match": "hosted-.*", "initial_rebalance_delay": "50ms"}]
PARTITIONS, RECORDS = 4, 5


@pytest.fixture
def side(kafka: Backend, tmp_path: Path) -> Iterator[Side]:
    """A kproxy that hosts some groups."""
    with Proxy(tmp_path, {"kafka": kafka.cluster.bootstrap}, each={"groups": RULES}) as proxy:
        yield Side(proxy, "kafka", kafka, tmp_path)


@pytest.fixture
def topic(kafka: Backend) -> str:
    """A topic with as many records in each partition."""
    name = kafka.topic(PARTITIONS)
    producer = Producer({"bootstrap.servers": kafka.cluster.bootstrap, "log_level": 0})
    for partition in range(PARTITIONS):
        for _ in range(RECORDS):
            producer.produce(name, b"x", partition=partition)
    assert producer.flush(30) == 0
    return name


def kproxy(side: Side, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `kproxy groups …`."""
    command = [KPROXY, "groups", *words, "--admin", f"http://127.0.0.1:{side.proxy.admin_port}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def partitions(side: Side, group: str) -> list[dict[str, Any]]:
    """What `kproxy groups lag --json` says of each partition."""
    done = kproxy(side, "lag", group, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found: list[dict[str, Any]] = json.loads(done.stdout)["partitions"]
    return found


def described(side: Side, group: str) -> list[tuple[str, ...]]:
    """What kafka-consumer-groups says: topic, partition, committed, end, lag, host, client id."""
    output = side.java(GROUPS, "--describe", "--group", group)
    rows = [line.split() for line in output.splitlines() if line.startswith(f"{group} ")]
    return sorted((*row[1:6], row[7].removeprefix("/"), row[8]) for row in rows)


def shown(found: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The same of kproxy."""
    names = ("topic", "partition", "committed", "end", "lag", "host", "client_id")
    return [tuple("-" if row[name] is None else str(row[name]) for name in names) for row in found]


def test_as_kafkas_own_tool(side: Side, topic: str) -> None:
    """Of a group with members and of one without: offsets, ends, lag, and who is assigned each partition."""
    live, left = side.fresh("hosted-live"), side.fresh("hosted-left")
    leave(side.bootstrap, left, topic, 2)
    with ExitStack() as members:
        first = members.enter_context(member(side.bootstrap, live, topic, {"client.id": "one"}))
        offsets = [TopicPartition(topic, 0, 5), TopicPartition(topic, 2, 1)]
        first.commit(offsets=offsets, asynchronous=False)
        found = partitions(side, live)
        assert shown(found) == described(side, live)
        assert [(row["committed"], row["lag"]) for row in found] == [(5, 0), (None, None), (1, 4), (None, None)]
        assert {(row["client_id"], row["error"]) for row in found} == {("one", None)}
    assert shown(partitions(side, left)) == described(side, left) == [(topic, "0", "2", "5", "3", "-", "-")]

    table = kproxy(side, "lag", left).stdout
    assert re.search(rf"^{topic} +0 +2 +5 +3 +- +- +- *$", table, re.MULTILINE), table
    assert table.endswith("\n3 records behind\n")


def test_a_group_that_kproxy_has_forgotten(side: Side, topic: str) -> None:
    """Its offsets are the brokers', so a restart that forgets its members changes nothing."""
    group = side.fresh("hosted-left")
    leave(side.bootstrap, group, topic, 1)
    side.proxy.stop()
    side.proxy.start()
    assert kproxy(side, "describe", group).returncode == 1
    assert [(row["partition"], row["lag"]) for row in partitions(side, group)] == [(0, 4)]
    assert partitions(side, side.fresh("hosted-unknown")) == []


def test_a_group_of_the_brokers(side: Side) -> None:
    """kproxy shows its own groups only."""
    group = side.fresh("plain")
    done = kproxy(side, "lag", group)
    assert (done.returncode, done.stderr) == (1, f"kproxy hosts no group '{group}': no entry of `groups` matches it\n")
