"""kproxy killed while it hosts a group: the group goes on, and no record is lost or assigned to two members."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from kproxy.coordinator.records import GroupRecord, decode
from tests.support.backend import Backend
from tests.support.libraries import CONFLUENT_KAFKA, JAVA_4_4, Library, Role
from tests.support.long_lived import LongLived
from tests.support.proxy import Proxy
from tests.support.wait import until

KILLS: Final = int(os.environ.get("TEST_KILLS", "4"))
SEED: Final = 20
GROUP: Final = "orders"
pytestmark = pytest.mark.timeout(180 + 40 * KILLS)
HEARTBEAT: Final = 1.0
"""Seconds between two heartbeats of each member."""
SESSION: Final = 20
"""Seconds; a busy machine may hold up a client's heartbeats for some."""
MEMBERS: Final = 8
PARTITIONS: Final = 12


def grouped(library: Library, *, commits: bool = True) -> Library:
    """Return a library whose consumers are all of the one group. What one reads that never commits, others read too."""
    consumer = {
        "group.id": GROUP,
        "session.timeout.ms": SESSION * 1000,
        "heartbeat.interval.ms": int(HEARTBEAT * 1000),
        # librdkafka waits for up to 10 s before it connects again to what was killed several times within a minute.
        "reconnect.backoff.max.ms": 1000,
        "enable.auto.commit": str(commits).lower(),
    }
    return replace(library, settings={**library.settings, "consumer": consumer})


@pytest.fixture
def world(newest_kafka: Backend, tmp_path: Path) -> Iterator[tuple[Proxy, Backend, str]]:
    """A kproxy that hosts the group and keeps its state in a file, and a topic."""
    proxy = Proxy(
        tmp_path,
        {"newest": newest_kafka.cluster.bootstrap},
        each={"groups": [{"match": GROUP, "initial_rebalance_delay": "500ms"}]},
        state={"path": str(tmp_path / "state.db")},
    )
    with proxy:
        yield proxy, newest_kafka, newest_kafka.topic(PARTITIONS)


def test_killed_at_random_moments(world: tuple[Proxy, Backend, str], tmp_path: Path) -> None:
    """Eight members of two libraries; half of the kills come while a ninth joins or leaves."""
    proxy, backend, topic = world
    rng = random.Random(SEED)
    with ExitStack() as clients:
        java = clients.enter_context(consumers(grouped(JAVA_4_4), proxy, topic, tmp_path, MEMBERS // 2, "java"))
        rdkafka = clients.enter_context(
            consumers(grouped(CONFLUENT_KAFKA), proxy, topic, tmp_path, MEMBERS // 2, "rdkafka")
        )
        source = CONFLUENT_KAFKA
        directory = tmp_path / "source"
        directory.mkdir()
        producer = clients.enter_context(
            LongLived(source, {"source": Role("producer", backend.cluster.bootstrap, topic, "p")}, directory)
        )
        until(lambda: settled(proxy), "eight members", timeout=60)
        for number in range(KILLS):
            killed(proxy, tmp_path, rng, topic, disturbed=number % 2 == 1)
        sent = [event.value for event in producer.events("source", "acked")]
        members = [(java, who) for who in java.roles] + [(rdkafka, who) for who in rdkafka.roles]

        def missing() -> set[str]:
            read = {event.value for client, who in members for event in client.events(who, "consumed")}
            return set(sent) - read

        until(lambda: not missing(), "every acknowledged record is read", timeout=60, every=0.5)
        assert len(sent) > 100


def consumers(library: Library, proxy: Proxy, topic: str, directory: Path, count: int, prefix: str) -> LongLived:
    """Return consumers of the group, in one process."""
    own = directory / f"{library.label}-{prefix}"
    own.mkdir()
    names = [f"{prefix}{number}" for number in range(count)]
    return LongLived(library, {name: Role("consumer", proxy.bootstrap(), topic, name) for name in names}, own)


def killed(proxy: Proxy, directory: Path, rng: random.Random, topic: str, *, disturbed: bool) -> None:
    """Kill kproxy and start it again; the group must be stable soon, and as it was where its assignments were kept."""
    with ExitStack() as others:
        if disturbed:
            name = f"x{rng.getrandbits(32):08x}"
            others.enter_context(consumers(grouped(CONFLUENT_KAFKA, commits=False), proxy, topic, directory, 1, name))
            until(lambda: proxy.get_json(path())["state"] != "Stable", "the ninth disturbs", timeout=30, every=0.01)
        end = time.monotonic() + rng.uniform(0, 1.5)
        until(lambda: time.monotonic() > end, "a random moment")
        proxy.kill()
        kept = record(directory / "state.db")
        begun = time.monotonic()
        proxy.start()
        if kept is not None and kept.assigned and not disturbed:
            shown = proxy.get_json(path())
            assert (shown["state"], shown["generation"]) == ("Stable", kept.generation)
            check_undisturbed(proxy, kept)
        else:
            until(lambda: stable(proxy), "stable again", timeout=60)
        check_owners(proxy)
        print(f"stable {time.monotonic() - begun:.1f} s after the kill, disturbed: {disturbed}, kept: {kept}"[:90])
    if disturbed:
        until(lambda: settled(proxy), "the ninth is gone", timeout=60, every=0.5)


def check_undisturbed(proxy: Proxy, kept: GroupRecord) -> None:
    """Every member is heard of before its session ends, and nobody joins again."""
    assert {member["member"] for member in shown_members(proxy)} == {member.id for member in kept.members}
    restored = {member["member"]: member["session_ends"] + time.monotonic() for member in shown_members(proxy)}

    def silent() -> list[str]:
        ends = {member["member"]: member["session_ends"] + time.monotonic() for member in shown_members(proxy)}
        return [member for member, end in restored.items() if ends.get(member, end) < end + 0.05]

    until(lambda: not silent(), "every member is heard of", timeout=SESSION)
    assert proxy.get_json(path())["generation"] == kept.generation
    assert proxy.metric("kproxy_group_transitions_total") == 0


def check_owners(proxy: Proxy) -> None:
    """No partition has two owners, and each has one."""
    owners = Counter(
        number for member in shown_members(proxy) for some in member["assignment"].values() for number in some
    )
    assert owners == Counter(range(PARTITIONS))


def path(*below: str) -> str:
    """The path of the group in the admin API."""
    return "/".join(["/api/v1/clusters/newest/groups", GROUP, *below])


def stable(proxy: Proxy) -> bool:
    """Whether the group is there, and stable."""
    status, body = proxy.get(path())
    return status == 200 and json.loads(body)["state"] == "Stable"


def settled(proxy: Proxy) -> bool:
    """Whether the group is stable, and long enough for nobody of before to disturb it, with each of the eight alive."""
    if not stable(proxy) or proxy.get_json(path())["in_state_seconds"] < 3 * HEARTBEAT:
        return False
    members = shown_members(proxy)
    heard = all(member["session_ends"] > SESSION - 2 * HEARTBEAT for member in members)
    return heard and len(members) == len({member["client_id"] for member in members}) == MEMBERS


def shown_members(proxy: Proxy) -> list[dict[str, Any]]:
    """The members as the admin API shows them."""
    members: list[dict[str, Any]] = proxy.get_json(path("members"))["members"]
    return members


def record(state: Path) -> GroupRecord | None:
    """What the state file has of the group."""
    with closing(sqlite3.connect(state)) as connection:
        found = connection.execute("SELECT value FROM entries WHERE collection = 'groups/newest' AND key = ?", (GROUP,))
        row = found.fetchone()
    return None if row is None else decode(GROUP, row[0])
