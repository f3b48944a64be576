"""Producers around kproxy that write one batch and are gone: each leaves its producer id in the log it wrote to.

Hundreds are wanted, so they are made byte by byte: a library's producer needs a second until it has its id.
"""

from __future__ import annotations

import itertools
import struct
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence

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
_LATER = (14, 15, 16, 51)
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, CONCURRENT_TRANSACTIONS."""
_TIMEOUT_MS = 10_000


def write(backend: Backend, topic: str, number: int, batches: Iterable[Sequence[str]]) -> Result:
    """Write each batch of values to partition 0 of a cluster of one broker, by an idempotent producer of its own.

    `number` is that of the round after which it is.
    """
    begun, numbers = time.monotonic(), itertools.count(1)
    acked, failed = list[str](), dict[str, str]()
    with _client(backend) as client:
        for batch in batches:
            if error := _write(client, numbers, topic, batch):
                failed |= dict.fromkeys(batch, f"code {error}")
            else:
                acked += batch
    return Result(number, acked, failed, 0, time.monotonic() - begun)


def end_transactions(backend: Backend, transactional_ids: Iterable[str]) -> None:
    """Be the next producer of each: what the one before left open is aborted, and nothing after it has to wait."""
    numbers = itertools.count(1)
    with _client(backend) as client:
        for one in transactional_ids:
            until(lambda one=one: _identity(client, next(numbers), one), f"the end of {one}", every=0.01)  # type: ignore[misc]


def ids(backend: Backend, topic: str) -> set[int]:
    """The ids of the producers that partition 0 knows: those that have written there."""
    admin = KafkaAdminClient(bootstrap_servers=backend.cluster.bootstrap.split(","))
    try:
        partition = TopicPartition(topic, 0)
        return {one.producer_id for one in admin.describe_producers([partition])[partition].active_producers}
    finally:
        admin.close()


def _client(backend: Backend) -> RawClient:
    (broker,) = backend.cluster.brokers.values()
    return RawClient(broker.port)


def _write(client: RawClient, numbers: Iterator[int], topic: str, batch: Sequence[str]) -> int:
    """The error with which it was refused, or 0."""
    producer_id, epoch = until(lambda: _identity(client, next(numbers)), "a producer id", every=0.01)
    said = client.ask(request(PRODUCE, 7, next(numbers), _produce(topic, batch, producer_id, epoch)))
    (error,) = struct.unpack_from(">h", said, 4 + 2 + len(topic.encode()) + 4 + 4)
    return int(error)


def _identity(client: RawClient, number: int, transactional_id: str | None = None) -> tuple[int, int] | None:
    """Id and epoch; None while the broker waits for the ids that it gives, or ends what is open."""
    named = struct.pack(">h", -1) if transactional_id is None else string(transactional_id)
    said = client.ask(request(_INIT_PRODUCER_ID, 1, number, named + struct.pack(">i", _TIMEOUT_MS)))
    _, error, producer_id, epoch = struct.unpack(">ihqh", said)
    assert error in (0, *_LATER), f"InitProducerId: {error}"
    return None if error else (producer_id, epoch)


def _produce(topic: str, values: Iterable[str], producer_id: int, epoch: int) -> bytes:
    batch = DefaultRecordBatchBuilder(2, 0, False, producer_id, epoch, 0, 1 << 20)
    for offset, value in enumerate(values):
        batch.append(offset, None, None, value.encode(), [])
    records = bytes(batch.build())
    written = struct.pack(">ii", 0, len(records)) + records
    return struct.pack(">hhi", -1, -1, _TIMEOUT_MS) + array([string(topic) + array([written])])
