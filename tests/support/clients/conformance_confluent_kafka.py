"""confluent-kafka (librdkafka) in the cells of the error conformance table: see conformance.py."""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from conformance import Cell, Library, run

SHORT = 1.0
"""Seconds to close a producer that may be dead."""


class Transactional:
    """A producer. Its calls are told to end before the driver's deadline."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self._limit = cell.deadline * 0.8
        settings = {"bootstrap.servers": cell.bootstrap, "client.id": cell.name, "log_level": 0}
        self._producer = Producer({**settings, "transactional.id": cell.transactional_id})

    def init(self) -> None:
        self._producer.init_transactions(self._limit)

    def transact(self, value: str) -> None:
        """Commit a record, and look at no report of it: a record that failed makes the commit fail, as documented."""
        self._producer.begin_transaction()
        self._producer.produce(self._cell.topic, value.encode(), partition=0)
        if self._cell.offsets:
            self._commit_offsets()
        self._producer.commit_transaction(self._limit)

    def _commit_offsets(self) -> None:
        settings = {"bootstrap.servers": self._cell.bootstrap, "group.id": self._cell.group, "client.id": "other"}
        consumer = Consumer(settings)
        of_group = consumer.consumer_group_metadata()
        self._producer.send_offsets_to_transaction([TopicPartition(self._cell.topic, 0, 1)], of_group, self._limit)
        consumer.close()

    def abort(self) -> None:
        self._producer.abort_transaction(self._limit)

    def close(self) -> None:
        try:
            self._producer.flush(SHORT)
        except (KafkaException, SystemError):  # of a fatal error, again
            return


class Reading:
    """A consumer."""

    def __init__(self, cell: Cell) -> None:
        settings = {"bootstrap.servers": cell.bootstrap, "client.id": cell.name, "group.id": cell.group}
        own = {"auto.offset.reset": "earliest", "enable.auto.commit": False, "session.timeout.ms": 6000, "log_level": 0}
        self._consumer = Consumer({**settings, **own})
        self._consumer.subscribe([cell.topic])
        self._next: list[TopicPartition] = []

    def read(self, seconds: float) -> bool:
        message = self._consumer.poll(seconds)
        if message is None:
            return False
        error = message.error()
        if error is not None:
            raise KafkaException(error)
        self._next = [TopicPartition(message.topic() or "", message.partition() or 0, (message.offset() or 0) + 1)]
        return True

    def commit(self) -> None:
        for partition in self._consumer.commit(offsets=self._next, asynchronous=False):
            if partition.error is not None:
                raise KafkaException(partition.error)

    def close(self) -> None:
        self._consumer.close()


def described(error: BaseException) -> tuple[str, str]:
    """Return the code's name, and what librdkafka calls the error."""
    told = error if isinstance(error, Exception) else Exception(error)
    if isinstance(told, SystemError) and told.__cause__ is not None:
        told = told.__cause__ if isinstance(told.__cause__, Exception) else told
    known = told.args[0] if told.args else None
    if not isinstance(known, KafkaError):
        return type(told).__name__, str(told)[:200]
    kinds = {"retriable": known.retriable(), "abortable": known.txn_requires_abort(), "fatal": known.fatal()}
    return known.name(), ", ".join(kind for kind, said in kinds.items() if said)


if __name__ == "__main__":
    run(Library(Transactional, Reading, described))
