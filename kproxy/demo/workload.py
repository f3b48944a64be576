"""The process of the clients: a producer and the members of a consumer group, each in a thread.

`Play` starts it when kproxy is ready; with --stay once more, after the summary.

It prints JSON lines: `addresses` (the nodes' addresses as the clients see them), `assigned`, `left`, `sample` (twice
a second), and at the end `verdict`. After an error it prints `failed` with a message, and ends.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, TopicMetadata
from confluent_kafka.cimpl import NewTopic

from kproxy.demo import record
from kproxy.demo.pace import Pace
from kproxy.demo.scrape import quantile
from kproxy.demo.tally import Tally, compare

TOPIC: Final = "demo"
GROUP: Final = "demo-group"
PARTITIONS: Final = 4
MEMBERS: Final = 2
GUEST: Final = "demo-guest"
EVERY: Final = 0.5
START_TIMEOUT: Final = 60.0
CATCH_UP_TIMEOUT: Final = 15.0
# A mock partition keeps about 5 MB: the producer waits for the group before it is full.
MOST_UNREAD: Final = 4_000
# A mock cluster answers an empty fetch only at the end of its wait, although records came meanwhile. When a member's
# SyncGroup comes after the leader's, the group hangs until the session would have timed out, then it tries again.
FOR_MOCK: Final[Mapping[str, str | int]] = {
    "fetch.wait.max.ms": 10,
    "session.timeout.ms": 6000,
    "heartbeat.interval.ms": 1000,
}
# The others notice at their next heartbeat that a member has joined or left.
FOR_GUEST: Final[Mapping[str, str | int]] = {"heartbeat.interval.ms": 500}


def say(kind: str, **fields: Any) -> None:
    """Print one line for the parent, in one write, because threads share the output."""
    sys.stdout.write(json.dumps({"kind": kind, **fields}) + "\n")
    sys.stdout.flush()


class Member:
    """A consumer of the group, and its received records."""

    def __init__(self, name: str, settings: Mapping[str, str | int]) -> None:
        self.name = name
        self.partitions: list[int] = []
        self.tally = Tally()
        self.fresh: deque[float] = deque()
        self.done = threading.Event()
        self._consumer = Consumer({**settings, "client.id": name, "group.id": GROUP, "auto.offset.reset": "earliest"})

    def consume(self) -> None:
        """Receive until `done` is set, then leave the group."""
        self._consumer.subscribe([TOPIC], on_assign=self._assigned, on_revoke=self._revoked)
        try:
            while not self.done.is_set():
                message = self._consumer.poll(0.1)
                if message is not None:
                    self._receive(message)
        finally:
            self._consumer.close()

    def _assigned(self, _consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        self.partitions = sorted(partition.partition for partition in partitions)
        say("assigned", member=self.name, partitions=self.partitions)

    def _revoked(self, _consumer: Consumer, _partitions: Sequence[TopicPartition]) -> None:
        self.partitions = []

    def _receive(self, message: Message) -> None:
        error = message.error()
        if error is not None:
            if error.fatal():  # librdkafka retries after others by itself
                raise KafkaException(error)
            return
        try:
            number, sent_ns = record.decode(message.value() or b"")
        except ValueError:  # a user's own record, as --stay suggests
            return
        self.tally.see(number)
        self.fresh.append((time.monotonic_ns() - sent_ns) / 1e6)


class Visit:
    """A member that is in the group during the middle third of the load."""

    def __init__(self, member: Member, seconds: float) -> None:
        self.member = member
        self._comes, self._goes = seconds / 3, seconds * 2 / 3
        self._thread: threading.Thread | None = None

    def look(self, at: float, start: Callable[[Callable[[], None], str], threading.Thread]) -> None:
        """Join or leave when it is time; `start` starts a thread."""
        if self._thread is None and at >= self._comes:
            self._thread = start(self._stay, self.member.name)
        if at >= self._goes:
            self.member.done.set()

    def _stay(self) -> None:
        self.member.consume()
        say("left", member=self.member.name)


class Source:
    """The producer: sends at a pace, and counts the records that the brokers acknowledge."""

    def __init__(self, settings: Mapping[str, str | int], members: Sequence[Member]) -> None:
        own = {"client.id": "demo-producer", "enable.idempotence": "true", "linger.ms": 5, "retry.backoff.ms": 50}
        self.producer = Producer({**settings, **own})
        self.acknowledged = Tally()
        self.sent = 0
        self._members = members

    def produce(self, pace: Pace) -> None:
        """Send all records of the pace, and wait for their acknowledgements."""
        began = time.monotonic()
        while (elapsed := time.monotonic() - began) < pace.seconds:
            received = sum(member.tally.total for member in self._members)
            for _ in range(min(pace.due(elapsed), received + MOST_UNREAD) - self.sent):
                self._send()
            self.producer.poll(0.002)
        self.producer.flush(CATCH_UP_TIMEOUT)

    def _send(self) -> None:
        value = record.encode(self.sent, time.monotonic_ns())
        self.producer.produce(TOPIC, value, partition=self.sent % PARTITIONS, on_delivery=self._delivered)
        self.sent += 1

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.acknowledged.see(record.decode(message.value() or b"")[0])


class Workload:
    """All clients together; prints the lines about them."""

    def __init__(self, bootstrap: str, own: Mapping[str, str | int], pace: Pace, *, guest: bool) -> None:
        """`own` are settings of the members; `guest` adds one that joins, and leaves, during the load."""
        self._settings = settings = {"bootstrap.servers": bootstrap, "broker.address.family": "v4"}
        own = {**settings, **own}
        self.members = [Member(f"demo-member-{n}", own) for n in range(1, MEMBERS + 1)]
        self.visit = Visit(Member(GUEST, own), pace.seconds) if guest else None
        self.everyone = [*self.members, *([self.visit.member] if self.visit else [])]
        self.source = Source(settings, self.everyone)
        self.pace = pace
        self._latencies = array("f")
        self._failed = threading.Event()

    def create_topic(self, replicas: int | None) -> None:
        """Create the topic through the proxy if `replicas` is given; wait for it. A mock cluster creates it itself."""
        if replicas:
            topic = NewTopic(TOPIC, PARTITIONS, replicas)
            admin = AdminClient({**self._settings, "client.id": "demo-admin"})
            try:
                admin.create_topics([topic])[TOPIC].result(START_TIMEOUT)
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise
        self._wait(self._topic_is_there, START_TIMEOUT, f"no topic {TOPIC} with {PARTITIONS} partitions", self._shown)

    def _topic_is_there(self) -> bool:
        return len(self._topic().partitions) == PARTITIONS

    def _topic(self) -> TopicMetadata:
        topic: TopicMetadata = self.source.producer.list_topics(TOPIC, START_TIMEOUT).topics[TOPIC]
        return topic

    def _shown(self) -> str:
        topic = self._topic()
        return f"; the last answer has {len(topic.partitions)} partitions, error: {topic.error}"

    def run(self) -> None:
        """Start the group, then the producer; end when the group has all acknowledged records, or after a timeout."""
        consumers = [self._thread(member.consume, member.name) for member in self.members]
        self._wait(self._all_assigned, START_TIMEOUT, f"{GROUP} has no assignment")
        self._say_addresses()
        source = self._thread(lambda: self.source.produce(self.pace), "demo-producer")
        began = time.monotonic()
        while source.is_alive():
            source.join(EVERY)
            at = time.monotonic() - began
            if self.visit is not None:
                self.visit.look(at, self._thread)
            self._sample(at)
        self._wait(self._caught_up, CATCH_UP_TIMEOUT, None)
        self._sample(time.monotonic() - began)
        for member in self.members:
            member.done.set()
        for consumer in consumers:
            consumer.join(CATCH_UP_TIMEOUT)
        self._say_verdict()

    def _thread(self, work: Any, name: str) -> threading.Thread:
        thread = threading.Thread(target=self._guard, args=(work, name), name=name, daemon=True)
        thread.start()
        return thread

    def _guard(self, work: Any, name: str) -> None:
        try:
            work()
        except Exception as error:  # an exception in a thread would only be printed
            say("failed", message=f"{name}: {error}")
            self._failed.set()

    def _wait(self, happened: Any, timeout: float, complaint: str | None, seen: Callable[[], str] = str) -> None:
        deadline = time.monotonic() + timeout
        while not happened() and time.monotonic() < deadline:
            if self._failed.wait(0.02):
                sys.exit(1)
        if complaint is not None and not happened():
            say("failed", message=f"{complaint} after {timeout:.0f} s{seen()}")
            sys.exit(1)

    def _all_assigned(self) -> bool:
        held = [partition for member in self.members for partition in member.partitions]
        return sorted(held) == list(range(PARTITIONS)) and all(member.partitions for member in self.members)

    def _caught_up(self) -> bool:
        return sum(member.tally.total for member in self.everyone) >= self.source.acknowledged.total

    def _say_addresses(self) -> None:
        brokers = self.source.producer.list_topics(timeout=START_TIMEOUT).brokers
        say("addresses", nodes={node: f"{broker.host}:{broker.port}" for node, broker in brokers.items()})

    def _sample(self, at: float) -> None:
        if self._failed.is_set():
            sys.exit(1)
        fresh = sorted(member.fresh.popleft() for member in self.everyone for _ in range(len(member.fresh)))
        self._latencies.extend(fresh)
        received = [member.tally.total for member in self.everyone]
        say(
            "sample",
            at=round(at, 3),
            acknowledged=self.source.acknowledged.total,
            received=received,
            p50_ms=quantile(fresh, 0.5),
            p99_ms=quantile(fresh, 0.99),
        )

    def _say_verdict(self) -> None:
        verdict = compare(self.source.acknowledged, [member.tally for member in self.everyone])
        ordered = sorted(self._latencies)
        p50, p99, most = (quantile(ordered, fraction) for fraction in (0.5, 0.99, 1.0))
        say(
            "verdict",
            sent=self.source.sent,
            acknowledged=verdict.acknowledged,
            received=verdict.received,
            lost=verdict.lost,
            duplicates=verdict.duplicates,
            p50_ms=p50,
            p99_ms=p99,
            max_ms=most,
        )


def main() -> None:
    """Parse the arguments and run the workload."""
    parser = argparse.ArgumentParser(prog="kproxy.demo.workload")
    parser.add_argument("bootstrap")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--rates", type=int, nargs="+", required=True)
    parser.add_argument("--mock", action="store_true", help="with settings that a mock cluster needs")
    parser.add_argument("--guest", action="store_true", help="with a member that joins the group and leaves it")
    parser.add_argument("--replicas", type=int, help="create the topic, with so many replicas")
    given = parser.parse_args()
    own = {**(FOR_MOCK if given.mock else {}), **(FOR_GUEST if given.guest else {})}
    workload = Workload(given.bootstrap, own, Pace(given.rates, given.seconds), guest=given.guest)
    try:
        workload.create_topic(given.replicas)
        workload.run()
    except (KafkaException, TimeoutError) as error:
        say("failed", message=str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
