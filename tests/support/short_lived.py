"""Producers around kproxy that write one record and are gone: each leaves its producer id in the log it wrote to.

Hundreds are wanted, so they are made byte by byte: a library's producer needs a second until it has its id.
"""

from __future__ import annotations

import itertools
import struct
import time
import warnings
from collections.abc import Iterable, Iterator

from tests.support.backend import Backend
from tests.support.raw import PRODUCE, RawClient, array, request, string
from tests.support.rounds import Result
from tests.support.wait import until

with warnings.catch_warnings():  # of kafka-python's own imports, which are none of ours
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.admin import KafkaAdminClient
    from kafka.record.default_records import DefaultRecordBatchBuilder
    from kafka.structs import TopicPartition

_INIT_PRODUCER_ID = 22
_LOADING = 14
_TIMEOUT_MS = 10_000


def write(backend: Backend, topic: str, number: int, values: Iterable[str]) -> Result:
    """Write each value to partition 0 of a cluster of one broker, by an idempotent producer of its own.

    `number` is that of the round after which it is.
    """
    begun, numbers = time.monotonic(), itertools.count(1)
    (broker,) = backend.cluster.brokers.values()
    with RawClient(broker.port) as client:
        done = {value: _write(client, numbers, topic, value) for value in values}
    acked = [value for value, error in done.items() if not error]
    failed = {value: f"code {error}" for value, error in done.items() if error}
    return Result(number, acked, failed, 0, time.monotonic() - begun)


def ids(backend: Backend, topic: str) -> set[int]:
    """The ids of the producers that partition 0 knows: those that have written there."""
    admin = KafkaAdminClient(bootstrap_servers=backend.cluster.bootstrap.split(","))
    try:
        partition = TopicPartition(topic, 0)
        return {one.producer_id for one in admin.describe_producers([partition])[partition].active_producers}
    finally:
        admin.close()


def _write(client: RawClient, numbers: Iterator[int], topic: str, value: str) -> int:
    """The error with which it was refused, or 0."""
    producer_id, epoch = until(lambda: _identity(client, next(numbers)), "a producer id", every=0.01)
    said = client.ask(request(PRODUCE, 7, next(numbers), _produce(topic, value, producer_id, epoch)))
    (error,) = struct.unpack_from(">h", said, 4 + 2 + len(topic.encode()) + 4 + 4)
    return int(error)


def _identity(client: RawClient, number: int) -> tuple[int, int] | None:
    """Id and epoch; None while the broker itself waits for the block of ids that it gives from."""
    said = client.ask(request(_INIT_PRODUCER_ID, 1, number, struct.pack(">hi", -1, _TIMEOUT_MS)))
    _, error, producer_id, epoch = struct.unpack(">ihqh", said)
    assert error in (0, _LOADING), f"InitProducerId: {error}"
    return None if error else (producer_id, epoch)


def _produce(topic: str, value: str, producer_id: int, epoch: int) -> bytes:
    batch = DefaultRecordBatchBuilder(2, 0, False, producer_id, epoch, 0, 1 << 20)
    batch.append(0, None, None, value.encode(), [])
    records = bytes(batch.build())
    written = struct.pack(">ii", 0, len(records)) + records
    return struct.pack(">hhi", -1, -1, _TIMEOUT_MS) + array([string(topic) + array([written])])
