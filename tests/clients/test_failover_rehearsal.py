"""`kproxy failover --dry-run` and `--wait` at two real clusters: what they say is so."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from kproxy.local_kafka.ports import free_port
from tests.support.backend import Backend
from tests.support.proxy import HOST, KPROXY, Proxy
from tests.support.raw import API_VERSIONS, RawClient, frame, string
from tests.support.wait import until


@pytest.fixture(scope="module")
def backends() -> Iterator[tuple[Backend, Backend]]:
    """Yield two clusters that no other test has been at."""
    with Cluster(jars.KAFKA_4_3, (1,)) as one, Cluster(jars.KAFKA_4_4, (1, 2)) as other:
        yield Backend(one), Backend(other)


def rehearsed(proxy: Proxy, *options: str) -> tuple[int, dict[str, Any]]:
    """Return exit code and answer of a failover that is not made."""
    command = [KPROXY, "failover", "orders", "--dry-run", "--json", *options]
    admin = ("--admin", f"http://{HOST}:{proxy.admin_port}")
    done = subprocess.run([*command, *admin], capture_output=True, timeout=90, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def warnings(proxy: Proxy) -> list[dict[str, Any]]:
    """What /readyz warns of."""
    found: list[dict[str, Any]] = proxy.get_json("/readyz").get("warnings", [])
    return found


def introduction(name: str, version: str) -> bytes:
    """ApiVersions v3 of a client with this software."""
    software = b"".join(bytes([len(text) + 1]) + text.encode() for text in (name, version))
    return frame(struct.pack(">hhi", API_VERSIONS, 3, 1) + string("old") + b"\0" + software + b"\0")


def commit(backend: Backend, topic: str, group: str) -> None:
    """Commit an offset of the group."""
    consumer = Consumer({"bootstrap.servers": backend.cluster.bootstrap, "group.id": group, "log_level": 0})
    consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    consumer.close()


def test_who_comes_back(backends: tuple[Backend, Backend], tmp_path: Path) -> None:
    """The command ends when the producer of librdkafka that was there has connected anew."""
    here, there = backends
    for backend in backends:
        backend.topic(1, name="back")
    servers = {"first": here.cluster.bootstrap, "second": there.cluster.bootstrap}
    with Proxy(tmp_path, {"orders": servers}) as proxy:
        command = [KPROXY, "failover", "orders", "--wait", "30", "--admin", f"http://{HOST}:{proxy.admin_port}"]
        producer = Producer({"bootstrap.servers": proxy.bootstrap(), "client.id": "a-producer", "log_level": 0})
        producer.produce("back", b"one")
        assert producer.flush(20) == 0
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.splitlines()[-1].endswith("1 of 1 clients are back")
        assert "Not back" not in done.stdout


def test_topics_that_clients_use(backends: tuple[Backend, Backend], tmp_path: Path) -> None:
    """Where one is missing, or has fewer partitions, a switch is refused unless forced; /readyz says so before."""
    here, there = backends
    here.topic(3, name="used")
    here.topic(3, name="narrow")
    there.topic(2, name="narrow")
    servers = {"first": here.cluster.bootstrap, "second": there.cluster.bootstrap}
    said = "topics that clients use {}"
    missing, fewer = said.format("are not there: used"), said.format("have fewer partitions there: narrow (2 of 3)")
    with Proxy(tmp_path, {"orders": servers}, each={"failover": {"standby_interval": "300ms"}}) as proxy:
        producer = Producer({"bootstrap.servers": proxy.bootstrap(), "log_level": 0})
        for topic in ("used", "narrow"):
            producer.produce(topic, b"one")
        assert producer.flush(20) == 0
        code, found = rehearsed(proxy)
        assert (code, found["findings"][0]["weight"], found["findings"][0]["detail"]) == (
            1,
            "refuses",
            f"{missing}; {fewer}",
        )
        refused = proxy.post("/api/v1/clusters/orders/failover", {"to": "second"})
        assert refused[0] == 409
        assert f"second cannot take over: {missing}; {fewer}; force it to switch all the same" in refused[1]["error"]
        warned = until(lambda: warnings(proxy), "a warning")
        assert warned[0]["reason"] == f"the standby second: {missing}; {fewer}"
        there.topic(3, name="used")
        until(
            lambda: fewer == proxy.get_json("/readyz")["warnings"][0]["reason"].partition(": ")[2], "one that is left"
        )
        assert proxy.post("/api/v1/clusters/orders/failover", {"to": "second", "force": True})[0] == 200
    for backend in backends:  # the next test compares all topics
        backend.forget("used", "narrow")


def test_two_clusters(backends: tuple[Backend, Backend], tmp_path: Path) -> None:
    """Topics, partitions, offsets and clients; then a node that is away, and a cluster that is."""
    here, there = backends
    for name, partitions in (("missing", 0), ("smaller", 1), ("same", 3)):
        here.topic(3, name=name)
        if partitions:
            there.topic(partitions, name=name)
    for backend, group in ((here, "behind"), (here, "known"), (there, "known")):
        commit(backend, "same", group)
    nowhere = f"{HOST}:{free_port()}"
    servers = {"first": here.cluster.bootstrap, "second": there.cluster.bootstrap, "third": nowhere}
    with Proxy(tmp_path, {"orders": servers}) as proxy:
        with RawClient(proxy.port()) as old:
            old.ask(introduction("apache-kafka-java", "3.6.0"))
            until(lambda: proxy.get_json("/api/v1/clients?rebootstrap=no")["clients"], "a client that cannot follow")
            code, found = rehearsed(proxy)
        unable = found["findings"].pop()
        assert (code, found["cluster"], found["upstream"], found["refused"]) == (0, "orders", "second", False)
        assert found["findings"] == [
            {"weight": "warns", "about": "topics", "detail": "are not there: missing"},
            {"weight": "warns", "about": "topics", "detail": "have fewer partitions there: smaller (1 of 3)"},
            {
                "weight": "warns",
                "about": "groups",
                "detail": "have no committed offsets there, so auto.offset.reset decides: behind",
            },
        ]
        assert unable["detail"] == f"cannot follow and must be restarted: old at {HOST}"
        there.cluster.brokers[2].kill()
        code, found = rehearsed(proxy)
        assert (code, found["refused"]) == (0, False)
        nodes = [one["detail"] for one in found["findings"] if one["about"] == "nodes"]
        assert nodes in ([], ["node 2 cannot be connected to: connection refused"])  # unless it is not named any more
        code, found = rehearsed(proxy, "--to", "third")
        assert (code, found["refused"], len(found["findings"])) == (1, True, 1)
        assert "no broker answers" in found["findings"][0]["detail"]
        (shown,) = proxy.get_json("/api/v1/clusters")["clusters"]
        assert (shown["upstream"], shown["epoch"]) == ("first", 0)


def test_a_cluster_without_the_topics(tmp_path: Path) -> None:
    """No automatic failover goes to one that lacks most of those that clients use: it is not the one they look for."""
    with Cluster(jars.KAFKA_4_3, (1,)) as one, Cluster(jars.KAFKA_4_3, (1,)) as other:
        here = Backend(one)
        here.topic(1, name="used")
        servers = {"first": one.bootstrap, "second": other.bootstrap}
        failover = {"automatic": True, "after": "500ms", "standby_interval": "300ms"}
        with Proxy(tmp_path, {"orders": servers}, each={"failover": failover}) as proxy:
            producer = Producer({"bootstrap.servers": proxy.bootstrap(), "log_level": 0})
            producer.produce("used", b"one")
            assert producer.flush(20) == 0
            until(lambda: warnings(proxy), "a warning that the topic is not there")
            one.brokers[1].kill()
            passed = until(
                lambda: proxy.logged(event="an upstream cluster is passed over"), "a search that ends in vain"
            )
            assert "topics that clients use are not there: used" in passed[0]["why"]
            Backend(other).topic(1, name="used")
            until(lambda: proxy.get_json("/api/v1/clusters")["clusters"][0]["upstream"] == "second", "the failover")
