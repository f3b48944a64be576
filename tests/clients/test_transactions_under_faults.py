"""Transactions under injected errors of each class and API: with KIP-1050's advice, what is committed is exact.

TEST_RUNS says how often each error comes: 3 by default.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from kproxy.errors import ErrorClass, classify
from kproxy.local_kafka import jars
from tests.conformance.cases import CASES, Case
from tests.support import committed
from tests.support.backend import Backend
from tests.support.client import java_4_4
from tests.support.proxy import Proxy
from tests.support.rounds import Programs
from tests.support.senders import Sender, java_sender
from tests.support.violation import check_once

RUNS = int(os.environ.get("TEST_RUNS", "3"))
CLUSTER = "newest"
CLIENT = "under-faults"
TIMEOUT = 30.0
FAULTS = [case for case in CASES if case.work == "transaction"]
OFFSETS = ("AddOffsetsToTxn", "TxnOffsetCommit")
MOST_ATTEMPTS = 4
"""For one transaction: an error is injected once, and what it breaks may need another abort or another producer."""


class Faulty:
    """A kproxy with faults in front of one node of 4.4.0."""

    def __init__(self, proxy: Proxy) -> None:
        self.proxy = proxy

    def inject(self, case: Case, client_id: str) -> None:
        """Have one request fail."""
        rule = {"api": case.api, "error": case.error, "client_id": client_id, "count": 1}
        status, said = self.proxy.post(f"/api/v1/clusters/{CLUSTER}/faults", rule)
        assert status in (200, 201), said

    def injected(self, case: Case) -> float:
        """How often a request failed with it."""
        labels = {"cluster": CLUSTER, "api": case.api, "fault": case.error}
        return self.proxy.metric("kproxy_faults_injected_total", **labels)


@pytest.fixture
def faulty(newest_kafka: Backend, tmp_path: Path) -> Iterator[Faulty]:
    """A kproxy of the test's own, so that no other rule counts."""
    servers = {CLUSTER: newest_kafka.cluster.bootstrap}
    with Proxy(tmp_path, servers, each={"faults": {"enabled": True}}) as proxy:
        yield Faulty(proxy)


@dataclass
class Application:
    """One that writes each batch in a transaction with offsets, and does about errors what KIP-1050 says."""

    bootstrap: str
    topic: str
    seen: set[ErrorClass] = field(default_factory=set)
    """The classes of the errors that it had to deal with."""
    _producer: Producer | None = None

    def write(self, values: Sequence[str], *, offsets: bool) -> None:
        """Commit a batch, in as many attempts as that takes; AssertionError after too many."""
        for _ in range(MOST_ATTEMPTS):
            try:
                self._attempt(values, offsets=offsets)
            except KafkaException as error:
                if self._dealt_with(error):
                    return
            else:
                return
        raise AssertionError(f"{values} not committed in {MOST_ATTEMPTS} attempts; errors were {self.seen}")

    def renew(self) -> None:
        """Go on with a new producer, which asks for its id and coordinator again; its first act ends what was open."""
        self._producer = None

    def _attempt(self, values: Sequence[str], *, offsets: bool) -> None:
        producer = self._ready()
        producer.begin_transaction()
        for value in values:
            producer.produce(self.topic, value, partition=0)
        if offsets:
            self._commit_offsets(producer, len(values))
        producer.commit_transaction(TIMEOUT)

    def _commit_offsets(self, producer: Producer, offset: int) -> None:
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": f"{self.topic}-group", "log_level": 0})
        of_group = consumer.consumer_group_metadata()
        producer.send_offsets_to_transaction([TopicPartition(self.topic, 0, offset)], of_group, TIMEOUT)
        consumer.close()

    def _dealt_with(self, error: KafkaException) -> bool:
        """Do what the error's class asks for; return whether the transaction is committed now."""
        found = classify(error)
        assert found is not None
        self.seen.add(found)
        if self._producer is None:  # it could not even be made ready
            return False
        match found:
            case ErrorClass.RETRIABLE | ErrorClass.REFRESH_RETRIABLE:
                self._producer.commit_transaction(TIMEOUT)
                return True
            case ErrorClass.ABORTABLE:
                self._abort()
            case _:  # for an invalid configuration somebody has changed something: the error comes once
                self.renew()
        return False

    def _abort(self) -> None:
        assert self._producer is not None
        try:
            self._producer.abort_transaction(TIMEOUT)
        except KafkaException:
            self.renew()

    def _ready(self) -> Producer:
        if self._producer is None:
            settings = {"bootstrap.servers": self.bootstrap, "client.id": CLIENT, "log_level": 0}
            producer = Producer({**settings, "transactional.id": f"{self.topic}-id"})
            producer.init_transactions(TIMEOUT)
            self._producer = producer
        return self._producer


@pytest.mark.timeout(120 + 120 * RUNS)
def test_librdkafka(faulty: Faulty, newest_kafka: Backend) -> None:
    """With the advice of `classify` each batch is committed once, whatever error came; nothing aborted is read."""
    topic = newest_kafka.topic(1, 1)
    application = Application(faulty.proxy.bootstrap(), topic)
    batches = [(run, case) for run in range(RUNS) for case in FAULTS]
    for run, case in batches:
        if case.api in ("InitProducerId", "FindCoordinator", "Metadata"):
            application.renew()
        faulty.inject(case, CLIENT)
        application.write(_values(run, case), offsets=case.api in OFFSETS)
    sent = [value for run, case in batches for value in _values(run, case)]
    written = committed.values(newest_kafka, topic)
    check_once(sent, written)
    assert written == sent
    assert {case for case in FAULTS if faulty.injected(case) != RUNS} == set()
    assert application.seen >= {ErrorClass.ABORTABLE, ErrorClass.APPLICATION_RECOVERABLE}


def _values(run: int, case: Case) -> list[str]:
    return [f"{run}-{case.name}-{number}" for number in range(3)]


@pytest.mark.timeout(120 + 120 * RUNS)
def test_java(faulty: Faulty, newest_kafka: Backend, tmp_path: Path) -> None:
    """Java's producer aborts, or is replaced after a fatal exception: what it calls committed is read, and no more."""
    topic, sender = newest_kafka.topic(1, 1), java_sender(jars.KAFKA_4_4.version, java_4_4)
    acked, unsent = _in_rounds(faulty, sender, topic, tmp_path)
    written = committed.values(newest_kafka, topic)
    check_once(acked, written)
    assert written == acked
    assert len(acked) >= 2 * RUNS * len(unsent)
    assert {case for case in unsent if faulty.injected(case) != RUNS} == set()


def _in_rounds(faulty: Faulty, sender: Sender, topic: str, directory: Path) -> tuple[list[str], list[Case]]:
    """Do two transactions for each error; return the values that were acknowledged, and the errors that came.

    The first of the two fails, or not; a producer that is replaced by the second meets the errors of its start.
    """
    cases = [case for case in FAULTS if case.api in ("Produce", "EndTxn")]
    acked: list[str] = []
    with Programs([sender], faulty.proxy.bootstrap(), 1, directory, mode="transactional") as programs:
        acked += programs.round(topic)[sender].acked
        for _ in range(RUNS):
            for case in cases:
                faulty.inject(case, f"{sender.label}.*")
                for _ in range(2):
                    acked += programs.round(topic, 3)[sender].acked
        programs.end()
    return acked, cases
