"""Kafka's own command line tools through kproxy."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.client import java_3_9, java_4_4
from tests.support.side import Side
from tests.support.violation import check_read, check_written

TOOLS = "org.apache.kafka.tools"
GROUPS = f"{TOOLS}.consumer.group.ConsumerGroupCommand"
RECORDS = 20_000


def produce(
    side: Side, topic: str, *arguments: str, records: int = RECORDS, size: str = "1000", classpath: str | None = None
) -> str:
    """Run kafka-producer-perf-test at full speed, with records of 1 kB or with numbered ones; return its output."""
    payload = ("--record-size", size) if size else ("--payload-monotonic",)
    # the 3.9 tool does not know --bootstrap-server: the setting serves every version
    command = ("--topic", topic, "--num-records", str(records), *payload, "--throughput", "-1")
    settings = ("--producer-props", f"bootstrap.servers={side.bootstrap}", "acks=all")
    return side.java_bare(f"{TOOLS}.ProducerPerformance", *command, *arguments, *settings, classpath=classpath)


def consume(side: Side, topic: str, group: str, classpath: str | None = None) -> int:
    """Run kafka-consumer-perf-test; return how many of RECORDS it read."""
    arguments = ("--topic", topic, "--messages", str(RECORDS), "--group", group, "--timeout", "60000")
    output = side.java(f"{TOOLS}.ConsumerPerformance", *arguments, classpath=classpath)
    rows = [line.split(", ") for line in output.splitlines() if re.match(r"\d{4}-\d\d-\d\d ", line)]
    return sum(int(cells[4]) for cells in rows)


def objects(output: str) -> list[dict[str, str]]:
    """Return the JSON lines of a verifiable tool."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def test_topics_and_configs(side: Side) -> None:
    """kafka-topics creates, describes and deletes; kafka-configs alters and describes a topic, and asks each broker."""
    topic = side.fresh("topics")
    sizes = ("--partitions", "6", "--replication-factor", str(side.replicas))
    side.java(f"{TOOLS}.TopicCommand", "--create", "--topic", topic, *sizes)
    described = side.java(f"{TOOLS}.TopicCommand", "--describe", "--topic", topic)
    leaders = {int(node) for node in re.findall(r"Leader: (\d+)", described)}
    assert leaders == set(side.backend.cluster.brokers)

    entity = ("--entity-type", "topics", "--entity-name", topic)
    side.java("kafka.admin.ConfigCommand", "--alter", *entity, "--add-config", "retention.ms=7654321")
    assert "retention.ms=7654321" in side.java("kafka.admin.ConfigCommand", "--describe", *entity)
    for node_id in side.backend.cluster.brokers:
        entity = ("--entity-type", "brokers", "--entity-name", str(node_id))
        change = ("--alter", *entity, "--add-config", f"log.cleaner.io.buffer.load.factor=0.{node_id % 9 + 1}")
        side.java("kafka.admin.ConfigCommand", *change)
        assert f"load.factor=0.{node_id % 9 + 1}" in side.java("kafka.admin.ConfigCommand", "--describe", *entity)

    side.java(f"{TOOLS}.TopicCommand", "--delete", "--topic", topic)
    assert topic not in side.java(f"{TOOLS}.TopicCommand", "--list").split()


def test_perf_and_consumer_groups(side: Side) -> None:
    """kafka-producer-perf-test sends, kafka-consumer-perf-test reads all of it, kafka-consumer-groups shows no lag."""
    topic, group = side.backend.topic(), side.fresh("group")
    assert f"{RECORDS} records sent" in produce(side, topic)
    assert consume(side, topic, group) >= RECORDS
    assert group in side.java(GROUPS, "--list").split()
    rows = [line.split() for line in side.java(GROUPS, "--describe", "--group", group).splitlines()]
    lags = [row[5] for row in rows if row[:2] == [group, topic]]
    assert lags == ["0"] * 6


@pytest.mark.parametrize("release", [java_3_9, java_4_4], ids=["3.9", "4.4"])
def test_other_java_clients(side: Side, release: object) -> None:
    """The perf tools on the clients of 3.9 and of 4.4, which names cluster and node in ApiVersions v5 (KIP-1242)."""
    assert callable(release)
    topic = side.backend.topic()
    assert f"{RECORDS} records sent" in produce(side, topic, classpath=release())
    assert consume(side, topic, side.fresh("group"), classpath=release()) >= RECORDS


def test_verifiable_producer_and_consumer(side: Side) -> None:
    """Each value that the producer reports as acknowledged is in the log once, and arrives in both group protocols."""
    topic, count = side.backend.topic(), 2000
    sent = objects(side.java(f"{TOOLS}.VerifiableProducer", "--topic", topic, "--max-messages", str(count)))
    acknowledged = sorted(int(line["value"]) for line in sent if line["name"] == "producer_send_success")
    assert acknowledged == list(range(count))
    check_written(count, side.backend.end_offsets(topic))
    for protocol in ("classic", "consumer"):
        group = ("--group-id", side.fresh("group"), "--group-protocol", protocol)
        limits = ("--max-messages", str(count), "--verbose")
        seen = objects(side.java(f"{TOOLS}.VerifiableConsumer", "--topic", topic, *group, *limits))
        values = sorted(int(line["value"]) for line in seen if line["name"] == "record_data")
        check_read(acknowledged, values)
        assert set(values) == set(acknowledged)


def test_share_consumer(side: Side) -> None:
    """A share group (KIP-932) reads everything: kafka-console-share-consumer, set up by kafka-configs."""
    topic, group, count = side.backend.topic(), side.fresh("share"), 1000
    side.java(f"{TOOLS}.VerifiableProducer", "--topic", topic, "--max-messages", str(count))
    entity = ("--entity-type", "groups", "--entity-name", group)
    side.java("kafka.admin.ConfigCommand", "--alter", *entity, "--add-config", "share.auto.offset.reset=earliest")
    arguments = ("--topic", topic, "--group", group, "--max-messages", str(count), "--timeout-ms", "60000")
    output = side.java(f"{TOOLS}.consumer.ConsoleShareConsumer", *arguments)
    values = sorted(int(line) for line in output.splitlines() if line.isdigit())
    assert values == list(range(count))
    assert group in side.java(f"{TOOLS}.consumer.group.ShareGroupCommand", "--list").split()


def test_transactional_producer(side: Side) -> None:
    """kafka-producer-perf-test in transactions; a read_committed console consumer reads each record once."""
    topic, transactional_id, count = side.backend.topic(), side.fresh("tx"), 2000
    transactions = ("--transactional-id", transactional_id, "--transaction-duration-ms", "50")
    assert f"{count} records sent" in produce(side, topic, *transactions, records=count, size="")
    limits = ("--from-beginning", "--isolation-level", "read_committed", "--max-messages", str(count))
    output = side.java(f"{TOOLS}.consumer.ConsoleConsumer", "--topic", topic, *limits, "--timeout-ms", "60000")
    values = sorted(int(line) for line in output.splitlines() if line.isdigit())
    check_read(range(count), values)
    assert values == list(range(count))
    assert transactional_id in side.java(f"{TOOLS}.TransactionsCommand", "list")


def test_addresses_that_an_admin_asks_for(side: Side) -> None:
    """Wherever Kafka's tools show addresses of brokers, voters or log directories, they are the proxy's."""
    ports = side.proxy.node_ports(side.name)
    versions = side.java(f"{TOOLS}.BrokerApiVersionsCommand")
    shown = {int(node): int(port) for port, node in re.findall(r"127\.0\.0\.1:(\d+) \(id: (\d+)", versions)}
    assert shown == ports
    endpoints = side.java_bare(f"{TOOLS}.ClusterTool", "list-endpoints", "--bootstrap-server", side.bootstrap)
    assert all(f"{node_id} " in endpoints and str(port) in endpoints for node_id, port in ports.items())
    voters = side.java(f"{TOOLS}.MetadataQuorumCommand", "describe", "--status")
    assert all(str(node_id) in voters for node_id in ports)
    directories = side.java(f"{TOOLS}.LogDirsCommand", "--describe")
    assert all(f'"broker":{node_id},' in directories for node_id in ports)
