"""KIP-848, share and Streams groups where kproxy hosts every id: they are the brokers', as without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from kproxy.wire.generated.error_codes import ErrorCode
from tests.clients.test_java_tools import GROUPS, TOOLS, objects
from tests.groups.test_admin import KIP_848, TIMEOUT, committed
from tests.groups.test_streams import Counts
from tests.support.backend import Backend
from tests.support.client import java_4_4
from tests.support.members import member
from tests.support.proxy import Proxy
from tests.support.side import Side
from tests.support.streams import Application
from tests.support.violation import check_read
from tests.support.wait import until

pytestmark = pytest.mark.timeout(300)
ALL_GROUPS: Final = [{"match": ".*", "initial_rebalance_delay": "100ms"}]
RECORDS: Final = 1000
CLASSIC: Final = {"group.protocol": "classic"}


@pytest.fixture(scope="module")
def hosting(newest_kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A kproxy that hosts every group."""
    servers = {"newest": newest_kafka.cluster.bootstrap}
    with Proxy(tmp_path_factory.mktemp("hosting"), servers, each={"groups": ALL_GROUPS}) as proxy:
        yield proxy


@pytest.fixture
def side(hosting: Proxy, newest_kafka: Backend, tmp_path: Path) -> Side:
    """Its virtual cluster."""
    return Side(hosting, "newest", newest_kafka, tmp_path)


def produced(side: Side) -> str:
    """Return a topic with records whose values are numbers."""
    topic = side.backend.topic(replicas=1)
    side.java(f"{TOOLS}.VerifiableProducer", "--topic", topic, "--max-messages", str(RECORDS))
    return topic


def hosted(side: Side) -> set[str]:
    """Return the groups that kproxy coordinates."""
    return {one["group"] for one in side.proxy.get_json(f"/api/v1/clusters/{side.name}/groups")["groups"]}


def test_javas_consumer(side: Side) -> None:
    """It reads each record and commits it."""
    topic, group = produced(side), side.fresh("newer-java")
    arguments = ("--topic", topic, "--group-id", group, "--max-messages", str(RECORDS), "--verbose")
    seen = objects(
        side.java(f"{TOOLS}.VerifiableConsumer", *arguments, "--group-protocol", "consumer", classpath=java_4_4())
    )
    check_read(range(RECORDS), sorted(int(line["value"]) for line in seen if line["name"] == "record_data"))
    assert not [line for line in seen if line["name"] == "offsets_committed" and not line["success"]]
    rows = [line.split() for line in side.java(GROUPS, "--describe", "--group", group).splitlines()]
    assert sum(int(row[3]) for row in rows if row[:2] == [group, topic] and row[3] != "-") == RECORDS
    assert group not in hosted(side)


def test_librdkafkas_consumer(side: Side) -> None:
    """It commits by itself and in a transaction."""
    topic, group = side.backend.topic(replicas=1), side.fresh("newer-librdkafka")
    producer = Producer({"bootstrap.servers": side.bootstrap, "transactional.id": group, "log_level": 0})
    producer.init_transactions(TIMEOUT)
    with member(side.bootstrap, group, topic, KIP_848) as consumer:
        consumer.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
        assert committed(side.backend, group, topic) == 5
        producer.begin_transaction()
        positions = [TopicPartition(topic, 0, 7)]
        producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), TIMEOUT)
        producer.commit_transaction(TIMEOUT)
        assert until(lambda: committed(side.backend, group, topic) == 7, "the transaction's offsets")
        assert group not in hosted(side)


def test_a_share_group(side: Side) -> None:
    """Its consumer gets each record, and acknowledges it."""
    topic, group = produced(side), side.fresh("newer-share")
    earliest = ("--entity-type", "groups", "--entity-name", group, "--alter")
    side.java("kafka.admin.ConfigCommand", *earliest, "--add-config", "share.auto.offset.reset=earliest")
    arguments = ("--topic", topic, "--group-id", group, "--max-messages", str(RECORDS), "--verbose")
    seen = objects(side.java(f"{TOOLS}.VerifiableShareConsumer", *arguments, classpath=java_4_4()))
    values = {int(line["value"]) for line in seen if line["name"] == "record_data"}
    assert values == set(range(RECORDS))
    assert group not in hosted(side)


def test_a_streams_group(side: Side) -> None:
    """An application with KIP-1071's protocol counts each record exactly once: its commits are in transactions."""
    source, sink = side.backend.topic(4, 1), side.backend.topic(1, 1)
    application = Application(side.bootstrap, side.fresh("newer-streams"), source, sink, side.directory, "streams")
    with application.instance("one") as one:
        Counts(side.backend, source, sink).check("with KIP-1071")
        one.check()
        assert application.name not in hosted(side)


def refusal(side: Side, group: str, topic: str, settings: dict[str, str]) -> KafkaError:
    """Return the error that ends a consumer which wants to be a member."""
    seen: list[KafkaError] = []
    common = {"bootstrap.servers": side.bootstrap, "group.id": group, "log_level": 0}
    consumer = Consumer({**common, **settings, "error_cb": seen.append})

    def error() -> KafkaError | None:
        try:
            message = consumer.poll(0.1)
        except KafkaException as raised:
            seen.append(raised.args[0])
        else:
            if message is not None and message.error():
                return message.error()
        return next((one for one in seen if one.code() > 0 or one.fatal()), None)

    try:
        consumer.subscribe([topic])
        return until(error, f"{group} refuses a member with {settings}")
    finally:
        consumer.close()


def test_one_kind_of_members_at_a_time(side: Side) -> None:
    """While one kind lives the other is refused, and reads why; when it has left, the other may come."""
    topic, group = side.backend.topic(replicas=1), side.fresh("both")
    with member(side.bootstrap, group, topic, CLASSIC) as classic:
        assert "Inconsistent group protocol" in refusal(side, group, topic, KIP_848).str()
        arguments = ("--topic", topic, "--group-id", group, "--group-protocol", "consumer")
        output = side.java(f"{TOOLS}.VerifiableConsumer", *arguments, classpath=java_4_4())
        assert "live members of the classic protocol" in output
        classic.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
        assert group in hosted(side)
    with member(side.bootstrap, group, topic, KIP_848) as newer:
        assert refusal(side, group, topic, CLASSIC).code() == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        newer.commit(offsets=[TopicPartition(topic, 0, 6)], asynchronous=False)
        assert group not in hosted(side)
    with member(side.bootstrap, group, topic, CLASSIC) as classic:
        classic.commit(offsets=[TopicPartition(topic, 0, 7)], asynchronous=False)
    assert committed(side.backend, group, topic) == 7
    told = {line["refused"] for line in side.proxy.logged(group=group)}
    assert told == {"a member of a KIP-848, share or Streams group", "a member of the classic protocol"}
