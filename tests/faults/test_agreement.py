"""Replicas that agree on the active upstream: real ones, each in a network namespace whose links can be cut.

One test runs random schedules: TEST_SCHEDULES says how many, TEST_SEED repeats those from a seed on.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from kproxy.local_kafka.processes import kill_group, spawn
from tests import support
from tests.support.agreeing import Agreeing
from tests.support.backend import Backend
from tests.support.replica import CLUSTER, Replica
from tests.support.schedules import Schedule
from tests.support.wait import stays, until

SCHEDULES = int(os.environ.get("TEST_SCHEDULES", "1"))
SEED = int(os.environ.get("TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
SECONDS_EACH = 60
CLIENTS = Path(support.__file__).with_name("clients")

pytestmark = pytest.mark.namespaces


@pytest.fixture(scope="module")
def backends() -> Iterator[dict[str, Backend]]:
    """Yield two clusters that no other test has been at."""
    clusters = {name: Cluster(jars.KAFKA_4_3, (1,)) for name in ("east", "west")}
    try:
        for cluster in clusters.values():
            cluster.start()
        for cluster in clusters.values():
            cluster.wait_ready()
        yield {name: Backend(cluster) for name, cluster in clusters.items()}
    finally:
        for cluster in clusters.values():
            cluster.stop()


@pytest.fixture(scope="module")
def replicas(backends: dict[str, Backend], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agreeing]:
    """Yield three that run."""
    with Agreeing(tmp_path_factory.mktemp("replicas"), backends, "kproxy-orders") as agreeing:
        yield agreeing


@pytest.fixture
def agreeing(replicas: Agreeing) -> Iterator[Agreeing]:
    """Yield three that are at `east`, by an order, and check afterwards that nothing was that must not be."""
    replicas.rest()
    switch(replicas, "west")
    switch(replicas, "east")
    yield replicas
    replicas.rest()
    assert not list(replicas.faults())


def switch(agreeing: Agreeing, to: str) -> None:
    """Have the first replica fail over to an upstream, unless all are there, and wait until all are there."""
    if not agreeing.replicas[0].is_at(to):
        status, said = agreeing.replicas[0].order(to)
        assert status == 200, said
    agreeing.until_at(to)


def test_one_order_switches_all(agreeing: Agreeing) -> None:
    """They are all there within seconds, each has moved its clients once, and both topics have the order."""
    before = [one.shown()["epoch"] for one in agreeing.replicas]
    switch(agreeing, "west")
    agreeing.rest()
    assert [one.shown()["epoch"] for one in agreeing.replicas] == [epoch + 1 for epoch in before]
    assert {max(order.rank for order in one.found) for one in agreeing.kept.values()} == {agreeing.agreed()}


def test_real_clients(agreeing: Agreeing) -> None:
    """One order moves a client of each replica to the other cluster, once."""
    clients = [_Client(replica) for replica in agreeing.replicas]
    try:
        ids = [agreeing.backends[name].cluster.cluster_id for name in ("east", "west")]
        until(lambda: all(one.seen == ids[:1] for one in clients), "clients at east")
        switch(agreeing, "west")
        until(lambda: all(one.seen[1:] for one in clients), "clients elsewhere")
        stays(lambda: all(one.seen == ids for one in clients), "clients at west", 1)
    finally:
        for one in clients:
            one.kill()


class _Client:
    """A client of librdkafka in a replica's namespace."""

    def __init__(self, replica: Replica) -> None:
        self._log = replica.directory / "client.log"
        command = [*replica.namespace.command, sys.executable, str(CLIENTS / "cluster_ids.py"), replica.bootstrap()]
        self._process = spawn(command, self._log)

    @property
    def seen(self) -> list[str]:
        """The ids of the clusters where it was."""
        return self._log.read_text().split()

    def kill(self) -> None:
        kill_group(self._process)


def test_a_newcomer(agreeing: Agreeing) -> None:
    """One without state, and not the first upstream, is never ready before it is where the others are."""
    switch(agreeing, "west")
    newcomer = agreeing.replicas[2]
    begun = time.time()
    agreeing.restart(newcomer, forget=True)
    agreeing.rest()
    ready = [one for one in agreeing.samples(newcomer) if one.ready and one.at > begun]
    assert {one.upstream for one in ready} <= {"west"}
    shown = newcomer.shown()
    assert (shown["upstream"], shown["epoch"]) == ("west", 0)


def test_a_restart_with_both_clusters_away(agreeing: Agreeing) -> None:
    """It stays where its state says, and readiness says that the others may be elsewhere."""
    switch(agreeing, "west")
    lonely = agreeing.replicas[1]
    lonely.cut()
    agreeing.restart(lonely)
    lonely.until_live()
    until(lambda: "no order can be read, so the others may be elsewhere" in lonely.strict()[1], "a cause", 15)
    assert (lonely.shown()["upstream"], lonely.strict()[0]) == ("west", False)


def test_a_replica_without_a_way_to_the_new_cluster(agreeing: Agreeing) -> None:
    """It follows an order that was copied to the cluster that it reaches, and is not ready there."""
    agreeing.replicas[1].cut("west")
    switch(agreeing, "west")
    assert not agreeing.replicas[1].strict()[0]


def test_opposite_orders_at_once(agreeing: Agreeing) -> None:
    """One of them counts at all replicas, whoever was answered what."""
    for replica, to in zip(agreeing.replicas, ("west", "west", "east"), strict=True):
        agreeing.order(replica, to)
    agreeing.rest()
    switch(agreeing, "west")
    agreeing.order(agreeing.replicas[1], "east")
    agreeing.order(agreeing.replicas[2], "east")
    agreeing.rest()
    assert agreeing.replicas[0].is_at("east")


def test_an_order_for_a_cluster_out_of_reach(agreeing: Agreeing) -> None:
    """It is refused with a reason; forced it counts there, and at the others once they can read it."""
    lonely, *others = agreeing.replicas
    lonely.cut()
    status, said = lonely.order("west")
    assert (status, lonely.is_at("east")) == (409, True)
    assert "west cannot take over: " in said["error"]
    assert lonely.order("west", force=True)[0] == 200
    assert lonely.shown()["upstream"] == "west"
    assert all(one.is_at("east") for one in others)
    lonely.heal()
    agreeing.until_at("west")


def test_records_of_strangers(agreeing: Agreeing) -> None:
    """What is no order, of another version, or another virtual cluster's changes nothing."""
    agreed = agreeing.agreed()
    assert agreed is not None
    for backend in agreeing.backends.values():
        strangers = Producer({"bootstrap.servers": backend.cluster.bootstrap, "log_level": 0})
        for value in (b"", None, b"\xff{", _record(version=2), _record(cluster="others"), _record(number=-1)):
            strangers.produce(agreeing.topic, value, key=b"others/1/stranger")
        assert strangers.flush(10) == 0
    stays(lambda: all(one.is_at("east") for one in agreeing.replicas), "at east", 1)
    switch(agreeing, "west")
    found = agreeing.agreed()
    assert found is not None
    assert found[0] == agreed[0] + 1


def _record(**fields: Any) -> bytes:
    stay = {"failovers": 9, "cluster": "c", "returned": False, "visited": [], "separates": True}
    order = {"cluster": CLUSTER, "number": 10**9, "upstream": "west", "stay": stay, "replica": "stranger"}
    return json.dumps(order | {"cause": "operator", "at": 0.0, "version": 1} | fields).encode()


@pytest.mark.timeout(120 + SECONDS_EACH * SCHEDULES)
def test_random_schedules(agreeing: Agreeing) -> None:
    """At rest all agree, no order is lost, nobody is moved twice for one, or ready elsewhere for longer than 5 s."""
    for number in range(SCHEDULES):
        _run(agreeing, SEED + number)


def _run(agreeing: Agreeing, seed: int) -> None:
    begun = time.monotonic()
    schedule = Schedule(agreeing, seed)
    try:
        schedule.run()
        agreeing.rest()
        given = [order.result().status for order in agreeing.orders]
        faults = list(agreeing.faults())
        assert not faults, "\n".join(faults)
    except BaseException:
        print(f"TEST_SEED={seed} repeats it: {schedule.steps}")
        raise
    took = time.monotonic() - begun
    print(f"{seed}: {took:.1f} s, {len(schedule.steps)} steps, answers {given}, agreed on {agreeing.agreed()}")


def test_a_topic_that_is_deleted(agreeing: Agreeing) -> None:
    """It is made anew at either cluster, with the newest order; without the broker's time, so schedules run before."""
    agreed = agreeing.agreed()
    for name, backend in agreeing.backends.items():
        backend.delete(agreeing.topic)
        agreeing.kept[name].restart()
    for backend in agreeing.backends.values():
        until(lambda backend=backend: backend.leaders(agreeing.topic), "a topic")  # type: ignore[misc]
    until(lambda: agreed in _ranks(agreeing, "east") and agreed in _ranks(agreeing, "west"), "the order", every=0.2)
    switch(agreeing, "west")


def _ranks(agreeing: Agreeing, place: str) -> list[tuple[int, str]]:
    agreeing.kept[place].read()
    return [one.rank for one in agreeing.kept[place].found]


def test_a_topic_that_forgets(backends: dict[str, Backend], tmp_path: Path) -> None:
    """One with cleanup.policy=delete is not used, and readiness says so."""
    for backend in backends.values():
        backend.topic(1, name="forgets", cleanup_policy="delete")
    servers = {name: backend.cluster.bootstrap for name, backend in backends.items()}
    replica = Replica(tmp_path / "replica", servers, "forgets")
    try:
        replica.launch()
        until(replica.answers, "an answer")
        until(lambda: "topic forgets: its cleanup.policy is delete" in replica.strict()[1], "a cause")
        assert not replica.strict()[0]
    finally:
        replica.close()


def test_an_automatic_failover(backends: dict[str, Backend], tmp_path: Path) -> None:
    """All come to the cluster that is left, by one switch each, and stay there when the other one is back."""
    settings = {"automatic": True, "after": "1s", "floor": "1s", "standby_interval": "500ms"}
    with Agreeing(tmp_path, backends, "automatic", **settings) as agreeing:
        agreeing.rest()
        backends["east"].cluster.brokers[1].kill()
        agreeing.until_at("west")
        stays(lambda: all(one.is_at("west") for one in agreeing.replicas), "at west", 2)
        backends["east"].cluster.restart(1)
        agreeing.rest()
        assert [one.metric("kproxy_topology_epochs_total", cause="failover") for one in agreeing.replicas] == [1] * 3
        assert not list(agreeing.faults())
