"""kafka-python in the cells of the error conformance table: see conformance.py."""

from __future__ import annotations

from typing import Any

from conformance import Cell, Library, described, run
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.structs import OffsetAndMetadata


class Transactional:
    """A producer. Its calls end before the driver's deadline."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self._limit = cell.deadline * 0.8
        settings = {"bootstrap_servers": cell.bootstrap, "client_id": cell.name}
        own = {"transactional_id": cell.transactional_id, "max_block_ms": int(1000 * self._limit)}
        self._producer: Any = KafkaProducer(**settings, **own)

    def init(self) -> None:
        self._producer.init_transactions()

    def transact(self, value: str) -> None:
        self._producer.begin_transaction()
        self._producer.send(self._cell.topic, value.encode(), partition=0).get(self._limit)
        if self._cell.offsets:
            offsets = {TopicPartition(self._cell.topic, 0): OffsetAndMetadata(1, "", -1)}
            self._producer.send_offsets_to_transaction(offsets, self._cell.group)
        self._producer.commit_transaction()

    def abort(self) -> None:
        self._producer.abort_transaction()

    def close(self) -> None:
        self._producer.close(timeout=1)


class Reading:
    """A consumer."""

    def __init__(self, cell: Cell) -> None:
        settings = {"bootstrap_servers": cell.bootstrap, "client_id": cell.name, "group_id": cell.group}
        own = {"auto_offset_reset": "earliest", "enable_auto_commit": False, "session_timeout_ms": 6000}
        self._consumer: Any = KafkaConsumer(cell.topic, **settings, **own)
        self._next: dict[Any, Any] = {}

    def read(self, seconds: float) -> bool:
        for partition, records in self._consumer.poll(timeout_ms=int(1000 * seconds)).items():
            self._next[partition] = OffsetAndMetadata(records[-1].offset + 1, "", -1)
            return True
        return False

    def commit(self) -> None:
        self._consumer.commit(self._next)

    def close(self) -> None:
        self._consumer.close()


if __name__ == "__main__":
    run(Library(Transactional, Reading, described))
