"""Real clients that get injected faults: they go on as at a broker that fails, and the broker never saw the request."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from tests.support import committed
from tests.support.backend import Backend
from tests.support.client import idempotent, java_4_4, java_tool, script
from tests.support.proxy import KPROXY, Proxy
from tests.support.side import Side
from tests.support.violation import check_once, check_read, check_whole
from tests.support.wait import until
from tests.support.wire_oracle import WireOracles, wire_oracles
from tests.unit.faults.exchanges import exchanges
from tests.unit.faults.test_answers import response_to

TOOLS = "org.apache.kafka.tools"
NEWEST = "newest"
RETRIABLE = {
    "Metadata": "LEADER_NOT_AVAILABLE",
    "ListOffsets": "NOT_LEADER_OR_FOLLOWER",
    "Fetch": "NOT_LEADER_OR_FOLLOWER",
    "FindCoordinator": "COORDINATOR_NOT_AVAILABLE",
    "JoinGroup": "NOT_COORDINATOR",
    "SyncGroup": "REBALANCE_IN_PROGRESS",
    "Heartbeat": "REBALANCE_IN_PROGRESS",
    "OffsetFetch": "COORDINATOR_LOAD_IN_PROGRESS",
    "OffsetCommit": "COORDINATOR_LOAD_IN_PROGRESS",
    "InitProducerId": "COORDINATOR_LOAD_IN_PROGRESS",
}
"""An error of each API that clients get over by themselves."""


class Faulty(Side):
    """A virtual cluster with faults enabled; its commands are those of a user."""

    def faults(self, *arguments: str) -> str:
        """Run `kproxy faults …`."""
        admin = ("--admin", f"http://127.0.0.1:{self.proxy.admin_port}")
        command = [KPROXY, "faults", *arguments, *admin]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout

    def add(self, api: str, *fault: str) -> None:
        """Add a rule."""
        self.faults("add", "--api", api, *fault)

    def injected(self, api: str, fault: str) -> int:
        """How often a fault was injected, since kproxy started."""
        return int(self.proxy.metric("kproxy_faults_injected_total", cluster=NEWEST, api=api, fault=fault))


@pytest.fixture(scope="module")
def running(newest_kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A kproxy in front of one node of 4.4.0."""
    servers, enabled = {NEWEST: newest_kafka.cluster.bootstrap}, {"faults": {"enabled": True, "seed": 23}}
    with Proxy(tmp_path_factory.mktemp("kproxy"), servers, each=enabled) as proxy:
        yield proxy


@pytest.fixture
def faulty(running: Proxy, newest_kafka: Backend, tmp_path: Path) -> Iterator[Faulty]:
    """Without any rule, before and after."""
    side = Faulty(running, NEWEST, newest_kafka, tmp_path)
    yield side
    side.faults("remove", "--all")


FAULTS: Sequence[tuple[str, Sequence[str]]] = (
    ("NOT_LEADER_OR_FOLLOWER", ("--error", "NOT_LEADER_OR_FOLLOWER", "--rate", "0.2")),
    ("close", ("--close", "--rate", "0.2")),
    ("half", ("--half", "NOT_LEADER_OR_FOLLOWER", "--rate", "0.1")),
    ("delay", ("--delay", "50ms", "--rate", "0.2")),
)


def produced(producer: Producer, topic: str, values: Sequence[str]) -> dict[str, str | None]:
    """Send each value to partition 0; return the errors' names by value.

    A `KafkaError` is compared with None by nobody: `==` leaves a TypeError behind, which the next call raises.
    """
    reports: dict[str, str | None] = {}

    def delivered(error: KafkaError | None, message: Message) -> None:
        reports[(message.value() or b"").decode()] = None if error is None else error.name()

    for value in values:
        try:
            producer.produce(topic, value, partition=0, on_delivery=delivered)
        except KafkaException as error:  # of an error before this one, until librdkafka asks for the topic again
            reports[value] = error.args[0].name()
        producer.poll(0)
    assert producer.flush(60) == 0
    return reports


@pytest.mark.parametrize(("fault", "flags"), FAULTS, ids=[name for name, _ in FAULTS])
def test_librdkafka(faulty: Faulty, fault: str, flags: Sequence[str]) -> None:
    """Each record of an idempotent producer is acknowledged, and in the log once, in order; others get no fault."""
    topic, before = faulty.backend.topic(1, 1), faulty.injected("Produce", fault)
    values = [str(number) for number in range(200)]
    each_alone = {"linger.ms": 0, "batch.num.messages": 1, "enable.idempotence": True, "log_level": 0}
    quick = {"retry.backoff.ms": 5, "reconnect.backoff.ms": 5, "reconnect.backoff.max.ms": 50}
    settings = {"bootstrap.servers": faulty.bootstrap, **each_alone, **quick}
    faulty.add("Produce", "--client-id", "orders-.*", *flags)
    reports = produced(Producer({**settings, "client.id": "orders-1"}), topic, values)
    assert reports == dict.fromkeys(values)
    written = faulty.backend.values(topic)
    check_once(values, written)
    assert written == values
    hits = faulty.injected("Produce", fault) - before
    assert hits >= 10
    others = Producer({**settings, "client.id": "payments"})
    assert produced(others, topic, values[:50]) == dict.fromkeys(values[:50])
    assert faulty.injected("Produce", fault) - before == hits


@pytest.mark.parametrize(("fault", "flags"), FAULTS[:3], ids=[name for name, _ in FAULTS[:3]])
def test_java(faulty: Faulty, fault: str, flags: Sequence[str]) -> None:
    """The same for the newest Java producer: each value is acknowledged and in the log once."""
    topic, count, before = faulty.backend.topic(1, 1), 300, faulty.injected("Produce", fault)
    server = ("--bootstrap-server", faulty.bootstrap, "--topic", topic, "--max-messages", str(count))
    pace = ("--throughput", "100", *idempotent(faulty.directory, batch_bytes=0))
    with faulty.running(java_tool(f"{TOOLS}.VerifiableProducer", *server, *pace, classpath=java_4_4())) as producer:
        # A partition takes the first sequence that it sees of a producer, whichever it is. Were the first batch refused
        # and the second, on its way already, taken, then the first would be out of order for ever.
        until(lambda: "producer_send_success" in producer.output, "the broker knows the producer")
        faulty.add("Produce", "--software", "apache-kafka-java .*", *flags)
        producer.wait()
    sent = [int(line["value"]) for line in producer.lines() if line["name"] == "producer_send_success"]
    assert sorted(sent) == list(range(count))
    written = sorted(map(int, faulty.backend.values(topic)))
    check_once(sent, written)
    assert written == list(range(count))
    assert faulty.injected("Produce", fault) - before >= 5


def test_the_broker_never_sees_the_request(faulty: Faulty) -> None:
    """An error that is not retriable reaches the application, and nothing the log; without the rule all does."""
    topic = faulty.backend.topic(1, 1)
    faulty.add("Produce", "--error", "TOPIC_AUTHORIZATION_FAILED", "--for", "5m")
    producer = Producer({"bootstrap.servers": faulty.bootstrap, "linger.ms": 0, "log_level": 0})
    errors = produced(producer, topic, ["a", "b"])
    assert errors == dict.fromkeys(["a", "b"], "TOPIC_AUTHORIZATION_FAILED")
    assert faulty.backend.end_offsets(topic) == {0: 0}
    faulty.faults("remove", "--all")
    until(lambda: produced(producer, topic, ["c"]) == {"c": None}, "librdkafka asks for the topic again", 30)
    assert faulty.backend.values(topic) == ["c"]


def test_without_acks(faulty: Faulty) -> None:
    """With acks=0 the request is dropped: the producer believes that it was sent, and the log has nothing of it."""
    topic, before = faulty.backend.topic(1, 1), faulty.injected("Produce", "NOT_LEADER_OR_FOLLOWER")
    settings = {"bootstrap.servers": faulty.bootstrap, "linger.ms": 0, "acks": 0, "log_level": 0}
    faulty.add("Produce", "--error", "NOT_LEADER_OR_FOLLOWER", "--count", "1")
    producer = Producer(settings)
    assert produced(producer, topic, ["a"]) == {"a": None}
    assert produced(producer, topic, ["b"]) == {"b": None}
    assert produced(Producer({**settings, "acks": 1}), topic, ["c"]) == {"c": None}
    assert faulty.injected("Produce", "NOT_LEADER_OR_FOLLOWER") - before == 1
    assert "a" not in faulty.backend.values(topic)


def transaction(producer: Producer, topic: str, values: Sequence[str]) -> None:
    """Commit one."""
    producer.begin_transaction()
    assert produced(producer, topic, values) == dict.fromkeys(values)
    producer.commit_transaction(30)


def test_an_abortable_error(faulty: Faulty) -> None:
    """A transactional producer whose commit gets TRANSACTION_ABORTABLE aborts, and goes on with the next."""
    topic = faulty.backend.topic(1, 1)
    producer = Producer({"bootstrap.servers": faulty.bootstrap, "transactional.id": faulty.fresh("t"), "log_level": 0})
    producer.init_transactions(30)
    transaction(producer, topic, ["first"])
    faulty.add("EndTxn", "--error", "TRANSACTION_ABORTABLE", "--count", "1")
    with pytest.raises(KafkaException) as caught:
        transaction(producer, topic, ["aborted"])
    error: KafkaError = caught.value.args[0]
    assert (error.name(), error.txn_requires_abort(), error.fatal()) == ("TRANSACTION_ABORTABLE", True, False)
    producer.abort_transaction(30)
    transaction(producer, topic, ["last"])
    assert committed.values(faulty.backend, topic) == ["first", "last"]


def _all_retriable(faulty: Faulty) -> Callable[[], dict[str, int]]:
    """Have each API fail once for each client, and afterwards say how often each did."""
    before = {api: faulty.injected(api, error) for api, error in RETRIABLE.items()}
    for api, error in RETRIABLE.items():
        faulty.add(api, "--error", error, "--count", "2")
    return lambda: {api: faulty.injected(api, error) - before[api] for api, error in RETRIABLE.items()}


def test_librdkafka_gets_over_errors_of_every_api(faulty: Faulty) -> None:
    """Producers with every kind of acks and members of groups go on; what they do is complete in the end."""
    hits = _all_retriable(faulty)
    names = {"topic": faulty.fresh("topic"), "group": faulty.fresh("group")}
    output: dict[str, Any]
    with faulty.running(
        script("confluent_kafka", "everything", bootstrap=faulty.bootstrap, count=100, replicas=1, **names)
    ) as client:
        output = client.result()
    for kind, result in output["acks"].items():
        if kind != "0":  # without acks a client cannot know
            check_whole(result, f"records with acks {kind}")
        assert {key: result[key] for key in ("missing", "wrong")} == {"missing": 0, "wrong": 0}, kind
    assert {api for api, count in hits().items() if count} >= set(RETRIABLE) - {"Heartbeat"}


def test_java_gets_over_errors_of_every_api(faulty: Faulty) -> None:
    """The same for Java's producer and a member of a classic group."""
    topic, count, hits = faulty.backend.topic(1, 1), 500, _all_retriable(faulty)
    server = ("--bootstrap-server", faulty.bootstrap, "--topic", topic, "--max-messages", str(count))
    faulty.java_bare(f"{TOOLS}.VerifiableProducer", *server, *idempotent(faulty.directory), classpath=java_4_4())
    group = ("--group-id", faulty.fresh("group"), "--group-protocol", "classic", "--verbose")
    with faulty.running(java_tool(f"{TOOLS}.VerifiableConsumer", *server, *group, classpath=java_4_4())) as consumer:
        consumer.wait()
    seen = [int(line["value"]) for line in consumer.lines() if line["name"] == "record_data"]
    check_read(range(count), seen)
    assert set(seen) == set(range(count))
    assert {api for api, hit in hits().items() if hit} >= set(RETRIABLE) - {"Heartbeat"}


def test_marked(faulty: Faulty) -> None:
    """/readyz warns, the listing counts, and the log has a line for the fault and for each command."""
    topic = faulty.backend.topic(1, 1)
    faulty.add("Produce", "--client-id", "marked", "--error", "NOT_LEADER_OR_FOLLOWER", "--count", "3")
    producer = Producer({"bootstrap.servers": faulty.bootstrap, "client.id": "marked", "linger.ms": 0, "log_level": 0})
    (warning,) = faulty.proxy.get_json("/readyz")["warnings"]
    assert warning["reason"] == "faults are injected: 1 rule (kproxy faults list)"
    assert "0 of 3" in faulty.faults("list")
    assert produced(producer, topic, ["a"]) == {"a": None}
    (warning,) = faulty.proxy.get_json("/readyz")["warnings"]
    assert warning["reason"].startswith("faults can be injected")
    path = f"POST /api/v1/clusters/{NEWEST}/faults"
    assert faulty.proxy.logged(event="operator command", command=path)
    assert faulty.proxy.logged(event="fault injected", api="Produce", fault="NOT_LEADER_OR_FOLLOWER")


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WireOracles]:
    """Yield the same Java processes for all tests."""
    with wire_oracles(tmp_path_factory.mktemp("wire-oracle")) as processes:
        yield processes


def test_kafka_clients_reads_every_answer(oracle: WireOracles) -> None:
    """kafka-clients itself reads each answer of each API in each version, and would have written the same bytes."""
    for one in exchanges():
        name, body = response_to(one)
        assert oracle.check(name, one.version, body).encoded == body, (name, one.version)
