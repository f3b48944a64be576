"""Transactions of real clients, as `/api/v1/transactions` and `kproxy transactions` show them while they go on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.support import committed
from tests.support.backend import Backend
from tests.support.java_transactions import OK, JavaProducers, java_producers
from tests.support.proxy import KPROXY, Proxy
from tests.support.side import Side
from tests.support.wait import until

NEWEST = "newest"
SECONDS = 30


class Transactions(Side):
    """A virtual cluster, and what kproxy says of its transactional ids."""

    def of(self, transactional_id: str) -> dict[str, Any]:
        """Return what the API says of an id."""
        found = self.proxy.get_json(f"/api/v1/transactions?cluster={self.name}&limit=1000")["transactions"]
        (one,) = [one for one in found if one["transactional_id"] == transactional_id]
        return dict(one)

    def fields(self, transactional_id: str, *names: str) -> tuple[Any, ...]:
        """Return some of these fields."""
        found = self.of(transactional_id)
        return tuple(found[name] for name in names)

    def ended(self, result: str) -> int:
        """How many transactions have ended so, since kproxy started."""
        return int(self.proxy.metric("kproxy_transactions_total", cluster=self.name, result=result))

    @property
    def open(self) -> int:
        """How many are open."""
        return int(self.proxy.metric("kproxy_transactions_open", cluster=self.name))

    def producer(self, transactional_id: str, **settings: Any) -> Producer:
        """Return a librdkafka producer that has begun; `a_b="x"` sets its config `a.b`."""
        dotted = {name.replace("_", "."): value for name, value in settings.items()}
        common = {"bootstrap.servers": self.bootstrap, "linger.ms": 0, "log_level": 0}
        producer = Producer({**common, "transactional.id": transactional_id, **dotted})
        producer.init_transactions(SECONDS)
        return producer


@pytest.fixture(scope="module")
def running(newest_kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A kproxy in front of one node of 4.4.0, where transactions are of TV2 for clients that know it (KIP-890)."""
    servers = {NEWEST: newest_kafka.cluster.bootstrap}
    with Proxy(tmp_path_factory.mktemp("kproxy"), servers) as proxy:
        yield proxy


@pytest.fixture
def side(running: Proxy, newest_kafka: Backend, tmp_path: Path) -> Transactions:
    """That kproxy."""
    return Transactions(running, NEWEST, newest_kafka, tmp_path)


@pytest.fixture(scope="module")
def java(running: Proxy, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaProducers]:
    """Producers of the newest Java client at that kproxy."""
    with java_producers(running.bootstrap(NEWEST), tmp_path_factory.mktemp("java")) as producers:
        yield producers


def send(producer: Producer, topic: str, value: str) -> None:
    """Send one record, which must be acknowledged."""
    errors: list[KafkaError | None] = []
    producer.produce(topic, value, partition=0, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(SECONDS) == 0
    assert errors == [None]


def error_of(caught: pytest.ExceptionInfo[KafkaException]) -> str:
    """Return the name of the error that an application got."""
    error: KafkaError = caught.value.args[0]
    return error.name()


def test_librdkafka_commits_and_aborts(side: Transactions) -> None:
    """The id is empty, then begun with its partitions, then committed; the next transaction is aborted."""
    topic, name = side.backend.topic(2, 1), side.fresh("orders")
    committed_before, aborted_before = side.ended("committed"), side.ended("aborted")
    producer = side.producer(name, client_id="orders-1", transaction_timeout_ms=45_000)
    empty = side.of(name)
    assert (empty["state"], empty["begun"], empty["transaction_timeout"]) == ("empty", None, 45.0)
    assert (empty["client_id"], empty["host"], empty["software_name"]) == (
        "orders-1",
        "127.0.0.1",
        "confluent-kafka-python",
    )
    assert empty["producer_id"] >= 0
    producer.begin_transaction()
    send(producer, topic, "kept")
    until(lambda: side.of(name)["state"] == "begun", "begun")
    assert side.fields(name, "partitions", "ending", "last_result") == (1, None, None)
    assert side.open == 1
    producer.commit_transaction(SECONDS)
    assert side.fields(name, "state", "last_result", "last_cause", "committed", "aborted") == (
        "committed",
        "committed",
        "end_txn",
        1,
        0,
    )
    producer.begin_transaction()
    send(producer, topic, "dropped")
    producer.abort_transaction(SECONDS)
    assert side.fields(name, "state", "last_result", "committed", "aborted") == ("aborted", "aborted", 1, 1)
    assert side.open == 0
    assert (side.ended("committed") - committed_before, side.ended("aborted") - aborted_before) == (1, 1)
    assert committed.values(side.backend, topic) == ["kept"]


def test_java_begins_by_its_first_record(side: Transactions, java: JavaProducers) -> None:
    """Java 4.4 adds no partitions itself (TV2): Produce begins the transaction, and each end brings another epoch."""
    topic, name = side.backend.topic(1, 1), side.fresh("payments")
    java.start("payments-1", transactional_id=name)
    empty = side.of(name)
    assert (empty["state"], empty["client_id"], empty["software_name"]) == ("empty", "payments-1", "apache-kafka-java")
    assert java.do("payments-1", "begin") == OK
    assert side.of(name)["state"] == "empty"
    assert java.do("payments-1", "send", topic=topic, value="kept") == OK
    begun = side.of(name)
    assert (begun["state"], begun["partitions"], begun["begun"]) == ("begun", None, begun["since"])
    assert java.do("payments-1", "commit") == OK
    ended = side.of(name)
    assert (ended["state"], ended["producer_epoch"]) == ("committed", empty["producer_epoch"] + 1)
    java.do("payments-1", "begin")
    assert java.do("payments-1", "send", topic=topic, value="dropped") == OK
    assert java.do("payments-1", "abort") == OK
    assert side.fields(name, "state", "committed", "aborted") == ("aborted", 1, 1)
    assert committed.values(side.backend, topic) == ["kept"]


def test_librdkafka_is_fenced(side: Transactions) -> None:
    """A second producer's start aborts the first one's transaction; the first is shown as fenced once it is told."""
    topic, name = side.backend.topic(1, 1), side.fresh("twice")
    first = side.producer(name, client_id="first")
    first.begin_transaction()
    send(first, topic, "lost")
    second = side.producer(name, client_id="second")
    assert side.fields(name, "state", "client_id", "last_result", "last_cause", "fencings") == (
        "empty",
        "second",
        "aborted",
        "init_producer_id",
        0,
    )
    with pytest.raises(KafkaException) as caught:
        first.commit_transaction(SECONDS)
    assert error_of(caught) == "_FENCED"
    found = side.of(name)
    assert (found["state"], found["client_id"], found["fencings"]) == ("empty", "second", 1)
    fenced = found["last_fenced"]
    assert (fenced["client_id"], fenced["error"]) == ("first", "INVALID_PRODUCER_EPOCH")
    assert fenced["producer_epoch"] < found["producer_epoch"]
    second.begin_transaction()
    send(second, topic, "kept")
    second.commit_transaction(SECONDS)
    assert side.fields(name, "state", "committed", "aborted") == ("committed", 1, 1)
    assert committed.values(side.backend, topic) == ["kept"]


def test_java_is_fenced_around_kproxy(side: Transactions, java: JavaProducers) -> None:
    """Where the second producer is not at this kproxy, the id itself is fenced, and its transaction with it."""
    topic, name, before = side.backend.topic(1, 1), side.fresh("elsewhere"), side.ended("fenced")
    java.start("here", transactional_id=name)
    java.do("here", "begin")
    assert java.do("here", "send", topic=topic, value="lost") == OK
    there = Producer({"bootstrap.servers": side.backend.cluster.bootstrap, "transactional.id": name, "log_level": 0})
    there.init_transactions(SECONDS)
    assert java.do("here", "commit") == "ProducerFencedException"
    found = side.of(name)
    assert (found["state"], found["last_result"], found["last_cause"]) == ("fenced", "fenced", "fenced")
    assert (found["last_fenced"]["client_id"], found["fencings"], side.ended("fenced") - before) == ("here", 1, 1)
    listed = side.proxy.get_json(f"/api/v1/transactions?cluster={NEWEST}&state=fenced")["transactions"]
    assert name in [one["transactional_id"] for one in listed]


def test_timed_out(side: Transactions) -> None:
    """A transaction that is open for longer than its timeout is shown so, before and after its producer notices."""
    topic, name, before = side.backend.topic(1, 1), side.fresh("slow"), side.ended("timed_out")
    producer = side.producer(name, client_id="slow", transaction_timeout_ms=1000)
    producer.begin_transaction()
    send(producer, topic, "lost")
    assert side.of(name)["state"] == "begun"
    until(lambda: side.of(name)["state"] == "timed_out", "timed out", 10)
    assert side.open == 0
    assert side.ended("timed_out") - before == 1
    until(lambda: committed.values(side.backend, topic) == [], "the broker has aborted it", 60)
    with pytest.raises(KafkaException):
        producer.commit_transaction(SECONDS)
    found = side.of(name)
    assert (found["state"], found["last_cause"], found["fencings"]) == ("timed_out", "timeout", 0)
    assert found["last_error"]["error"] in ("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")


def copied(side: Transactions, source: str, target: str, group: str, producer: Producer) -> None:
    """Read a record in the group, send it on, and its offset with it."""
    settings = {"bootstrap.servers": side.bootstrap, "group.id": group, "auto.offset.reset": "earliest", "log_level": 0}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    try:
        consumer.subscribe([source])
        (message,) = consumer.consume(1, SECONDS)
        producer.begin_transaction()
        send(producer, target, (message.value() or b"").decode())
        positions = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), SECONDS)
    finally:
        consumer.close()


def test_offsets_of_a_group(side: Transactions, java: JavaProducers) -> None:
    """consume-transform-produce names the group, with librdkafka's AddOffsetsToTxn and without it in Java's TV2."""
    source, target, name, group = (
        side.backend.topic(1, 1),
        side.backend.topic(1, 1),
        side.fresh("copy"),
        side.fresh("g"),
    )
    plain = Producer({"bootstrap.servers": side.bootstrap, "log_level": 0})
    send(plain, source, "value")
    producer = side.producer(name)
    copied(side, source, target, group, producer)
    assert side.fields(name, "state", "groups", "partitions") == ("begun", [group], 1)
    producer.commit_transaction(SECONDS)
    assert side.fields(name, "state", "groups") == ("committed", [group])
    assert committed.values(side.backend, target) == ["value"]
    other = side.fresh("copy")
    java.start("copier", transactional_id=other)
    java.do("copier", "begin")
    assert java.do("copier", "offsets", topic=source, group=group) == OK
    assert side.fields(other, "state", "groups", "partitions") == ("begun", [group], None)
    assert java.do("copier", "commit") == OK
    assert side.fields(other, "state", "committed") == ("committed", 1)


def test_the_command(side: Transactions) -> None:
    """`kproxy transactions` shows the open ones by --state begun, as a table and as JSON."""
    topic, name, other = side.backend.topic(1, 1), side.fresh("shown"), side.fresh("resting")
    producer = side.producer(name, client_id="shown-1")
    side.producer(other)
    producer.begin_transaction()
    send(producer, topic, "value")
    command = [KPROXY, "transactions", "--cluster", NEWEST, "--state", "begun"]
    admin = ["--admin", f"http://127.0.0.1:{side.proxy.admin_port}"]
    table = subprocess.run([*command, *admin], capture_output=True, text=True, check=True, timeout=60).stdout
    assert name in table
    assert other not in table
    shown = subprocess.run([*command, *admin, "--json"], capture_output=True, text=True, check=True, timeout=60).stdout
    assert [one["transactional_id"] for one in json.loads(shown)["transactions"]] == [name]
    producer.abort_transaction(SECONDS)


def test_others_leave_no_trace(side: Transactions) -> None:
    """An idempotent producer without a transactional id is no entry."""
    before = len(side.proxy.get_json("/api/v1/transactions?limit=1000")["transactions"])
    producer = Producer({"bootstrap.servers": side.bootstrap, "enable.idempotence": True, "log_level": 0})
    send(producer, side.backend.topic(1, 1), "value")
    assert len(side.proxy.get_json("/api/v1/transactions?limit=1000")["transactions"]) == before


def test_java_at_a_cluster_of_before_tv2(tmp_path: Path) -> None:
    """At transaction.version 1 Java 4.4 adds its partitions and groups itself, and keeps its epoch."""
    with Cluster(jars.KAFKA_4_4, (0,)) as cluster:
        features = ("--bootstrap-server", cluster.bootstrap, "downgrade", "--feature", "transaction.version=1")
        cluster.run("org.apache.kafka.tools.FeatureCommand", *features)
        with (
            Proxy(tmp_path, {NEWEST: cluster.bootstrap}) as proxy,
            java_producers(proxy.bootstrap(NEWEST), tmp_path) as java,
        ):
            side = Transactions(proxy, NEWEST, Backend(cluster), tmp_path)
            topic, name = side.backend.topic(1, 1), side.fresh("before")
            java.start("before", transactional_id=name)
            epoch = side.of(name)["producer_epoch"]
            java.do("before", "begin")
            assert java.do("before", "send", topic=topic, value="kept") == OK
            assert java.do("before", "offsets", topic=topic, group="g") == OK
            assert side.fields(name, "state", "partitions", "groups") == ("begun", 1, ["g"])
            assert java.do("before", "commit") == OK
            assert side.fields(name, "state", "committed", "producer_epoch") == ("committed", 1, epoch)
            assert committed.values(side.backend, topic) == ["kept"]
