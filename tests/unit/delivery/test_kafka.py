"""kproxy.delivery.kafka: on librdkafka's mock cluster, read back by its consumer; on brokers that refuse."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import trio
import trio.testing
from confluent_kafka import Consumer, Producer
from kafka.record.memory_records import MemoryRecords

from kproxy.delivery.batches import Compression
from kproxy.delivery.kafka import Kafka
from kproxy.upstream.client import UpstreamClient
from kproxy.wire.records import partition_of
from tests.unit.delivery.items import AT_MS, Number, record
from tests.unit.delivery.leader import Leader

Address = tuple[str, int]
Numbers = Kafka[Number]
Start = Callable[..., Awaitable[Numbers]]


@pytest.fixture(scope="module")
def mock_cluster() -> Iterator[list[Address]]:
    """Yield the addresses of a mock cluster of three brokers, which lives as long as its librdkafka producer."""
    producer = Producer({"test.mock.num.brokers": 3, "bootstrap.servers": "replaced by the mock's"})
    yield [(broker.host, broker.port) for broker in producer.list_topics(timeout=10).brokers.values()]
    producer.flush(0)


@pytest.fixture
async def leader(nursery: trio.Nursery) -> Leader:
    """Return a broker that leads both partitions of topic t and by default accepts everything."""
    leader = Leader()
    await nursery.start(leader.run)
    leader.name_nodes({1: leader.address})
    return leader


@pytest.fixture
def start(nursery: trio.Nursery) -> Start:
    """Return a function that starts a destination for topic t: no linger, shortest backoff, gzip for kafka-python."""

    async def start(
        *addresses: Address, topic: str = "t", request_timeout: float = 10.0, **settings: Any
    ) -> Kafka[Number]:
        def connect() -> UpstreamClient:
            return UpstreamClient(addresses, request_timeout=request_timeout, rand=lambda: 0.0)

        chosen: dict[str, Any] = {"linger": 0.0, "rand": lambda: 0.0, "compression": Compression.GZIP} | settings
        destination = Kafka("kafka", connect, topic, record, **chosen)
        await nursery.start(destination.run)
        return destination

    return start


async def delivered(destination: Kafka[Number], *items: Number) -> None:
    """Offer items and wait until all are settled."""
    for each in items:
        assert destination.offer(each)
    with trio.fail_after(80):
        await destination.flush()


def consumed(addresses: list[Address], topic: str, count: int) -> list[Any]:
    """Return `count` messages, and no more, as librdkafka's consumer reads them; it checks checksums."""
    servers = ",".join(f"{host}:{port}" for host, port in addresses)
    settings = {"bootstrap.servers": servers, "group.id": topic, "check.crcs": True, "auto.offset.reset": "earliest"}
    consumer = Consumer(settings)
    try:
        consumer.subscribe([topic])
        found: list[Any] = []
        while len(found) < count:
            batch = consumer.consume(count - len(found), timeout=20)
            assert batch, f"{len(found)} of {count} messages"
            for message in batch:
                assert message.error() is None, message.error()
            found += batch
        return found + consumer.consume(1, timeout=0.2)
    finally:
        consumer.close()


def values(leader: Leader) -> list[int]:
    """Return the numbers in the batches that the leader accepted, in the order of the partition's log."""
    found = []
    for _, data in leader.batches:
        batch = MemoryRecords(data).next_batch()
        assert batch is not None
        assert batch.validate_crc()
        found += [int(each.key) for each in batch]
    return found


@pytest.mark.parametrize("compression", Compression)
async def test_read_back_by_librdkafka(mock_cluster: list[Address], start: Start, compression: Compression) -> None:
    """Each item is read once, with key, value, time, headers and partition, through leaders on several brokers."""
    topic = f"numbers-{compression}"
    destination = await start(*mock_cluster, topic=topic, compression=compression, linger=0.02, rand=lambda: 0.5)
    await delivered(destination, *map(Number, range(50)))
    assert (destination.counters.delivered, destination.counters.dropped) == (50, {})
    messages = await trio.to_thread.run_sync(consumed, mock_cluster, topic, 50)
    assert len({message.partition() for message in messages}) > 1
    assert {message.timestamp()[1] for message in messages} == {AT_MS}
    assert {tuple(message.headers()[0]) for message in messages} == {("unit", b"one")}
    found = {int(message.key()): message.value() for message in messages}
    assert found == {each: Number(each).payload for each in range(50)}


async def test_partitions_are_java_s(leader: Leader, start: Start) -> None:
    """An item is in the partition where a Java producer would put its key."""
    await delivered(await start(leader.address), *map(Number, range(20)))
    for partition, data in leader.batches:
        batch = MemoryRecords(data).next_batch()
        assert batch is not None
        assert {partition_of(record.key, 2) for record in batch} == {partition}


@pytest.mark.parametrize(("code", "look_ups"), [(3, 3), (6, 3), (7, 1), (19, 1), (20, 1)])
async def test_errors_that_pass(leader: Leader, start: Start, code: int, look_ups: int) -> None:
    """The records are sent again, in order, without the accepted ones; metadata is asked for where the class says."""
    errors = [code, code]
    leader.verdict = lambda partition, _batch: errors.pop() if errors and partition == 0 else 0
    destination = await start(leader.address, linger=0.05)
    await delivered(destination, *map(Number, range(20)))
    assert sorted(values(leader)) == list(range(20))
    assert (destination.counters.retries, destination.counters.dropped) == (2, {})
    assert leader.requests(3) == look_ups


async def test_errors_that_do_not_pass(leader: Leader, start: Start) -> None:
    """The items are dropped at once, with Kafka's name of the error; other partitions are not affected."""
    leader.verdict = lambda partition, _batch: 29 if partition == 0 else 0
    destination = await start(leader.address, linger=0.05)
    await delivered(destination, *map(Number, range(20)))
    assert destination.counters.dropped == {"refused": 20 - len(values(leader))}
    assert "t-0 at node 1: TOPIC_AUTHORIZATION_FAILED" in str(destination.counters.last_error)


async def test_too_large(leader: Leader, start: Start) -> None:
    """Batches are halved until they are accepted, in order; a record that is too large alone is dropped."""
    leader.lead([1])
    limit = 700
    leader.verdict = lambda _partition, batch: 10 if len(batch) > limit else 0
    destination = await start(leader.address, linger=0.05, compression=Compression.NONE)
    large = Number(99, times=300)
    await delivered(destination, *map(Number, range(5)), large, *map(Number, range(5, 10)))
    assert values(leader) == list(range(10))
    assert destination.counters.dropped == {"refused": 1}


async def test_the_leader_moves(nursery: trio.Nursery, leader: Leader, start: Start) -> None:
    """Records that the old leader refuses go to the new one."""
    other = Leader()
    await nursery.start(other.run)
    nodes = {1: leader.address, 2: other.address}
    for each in (leader, other):
        each.name_nodes(nodes)
        each.lead([1, 1])
    destination = await start(leader.address)
    await delivered(destination, Number(1))

    def moved(_partition: int, _batch: bytes) -> int:
        for each in (leader, other):
            each.lead([2, 2])
        return 6

    leader.verdict = moved
    await delivered(destination, Number(2))
    assert values(other) == [2]


async def test_no_leader_for_a_while(leader: Leader, start: Start) -> None:
    """Items of a partition without a leader wait until it has one."""
    leader.lead([-1, -1])
    destination = await start(leader.address, rand=lambda: 0.01)
    destination.offer(Number(1))
    while destination.counters.retries < 2:
        await trio.testing.wait_all_tasks_blocked(0.01)
    assert "no leader for partitions" in str(destination.counters.last_error)
    leader.lead([1, 1])
    with trio.fail_after(40):
        await destination.flush()
    assert values(leader) == [1]


async def test_a_topic_that_is_not_there(leader: Leader, start: Start) -> None:
    """Items are dropped as late; the error says what to do."""
    leader.lead([], error_code=3)
    destination = await start(leader.address, retry_for=0.05, rand=lambda: 0.5)
    await delivered(destination, Number(1))
    assert destination.counters.dropped == {"late": 1}
    assert "topic t: UNKNOWN_TOPIC_OR_PARTITION; create it" in str(destination.counters.last_error)


async def test_a_broker_that_does_not_answer(leader: Leader, start: Start) -> None:
    """The records are sent again on another connection: at least once."""
    silent = [True]
    leader.verdict = lambda _partition, _batch: None if silent and silent.pop() else 0
    destination = await start(leader.address, request_timeout=0.3)
    await delivered(destination, Number(1))
    assert values(leader) == [1]
    assert destination.counters.retries >= 1


async def test_cancelled_and_run_again(leader: Leader) -> None:
    """As after a failover: items that were under way go to the cluster of the new `connect`."""
    leader.verdict = lambda _partition, _batch: 7
    destination = Kafka(
        "kafka",
        lambda: UpstreamClient([leader.address]),
        "t",
        record,
        linger=0.0,
        rand=lambda: 0.5,
        compression=Compression.GZIP,
    )
    for each in range(5):
        destination.offer(Number(each))
    async with trio.open_nursery() as nursery:
        await nursery.start(destination.run)
        while not destination.counters.retries:
            await trio.testing.wait_all_tasks_blocked(0.01)
        nursery.cancel_scope.cancel()
    assert destination.counters.queued == 5
    leader.verdict = lambda _partition, _batch: 0
    async with trio.open_nursery() as nursery:
        await nursery.start(destination.run)
        with trio.fail_after(40):
            await destination.flush()
        nursery.cancel_scope.cancel()
    assert sorted(values(leader)) == [0, 1, 2, 3, 4]


async def test_new_partitions_are_found(leader: Leader, start: Start, autojump_clock: trio.testing.MockClock) -> None:
    """The leaders are looked up again after a while, even without an error."""
    from kproxy.delivery.kafka import MAX_AGE, Topic

    client = UpstreamClient([leader.address])
    async with trio.open_nursery() as nursery:
        await nursery.start(client.run)
        topic = Topic(client, "t")
        assert await topic.leaders() == [1, 1]
        leader.lead([1, 1, 1])
        assert await topic.leaders() == [1, 1]
        await trio.sleep(MAX_AGE)
        assert await topic.leaders() == [1, 1, 1]
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("topic", ["", ".", "..", "a b", "ä", "x" * 250])
def test_no_topics(topic: str) -> None:
    """A name that Kafka would refuse is refused at the start."""
    with pytest.raises(ValueError, match="is no topic"):
        Kafka("kafka", lambda: UpstreamClient([("127.0.0.1", 1)]), topic, record)
