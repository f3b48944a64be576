"""Producers around kproxy that write one batch and end: each leaves its producer id in the log it wrote to.

Tests need hundreds of them, so they are made byte by byte: a library's producer needs a second to get its id.
"""

from __future__ import annotations

import itertools
import struct
import time
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import Self

from tests.support.backend import Backend
from tests.support.batches import batch
from tests.support.raw import PRODUCE, RawClient, array, request, string
from tests.support.rounds import Result
from tests.support.wait import until

with warnings.catch_warnings():  # kafka-python's own imports warn
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.admin import KafkaAdminClient
    from kafka.structs import TopicPartition

_FIND_COORDINATOR, _INIT_PRODUCER_ID = 10, 22
_LATER = (14, 15, 16, 51)
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, CONCURRENT_TRANSACTIONS."""
_TIMEOUT_MS = 10_000


def write(backend: Backend, topic: str, number: int, batches: Iterable[Sequence[str]]) -> Result:
    """Write each batch of values to partition 0 of a cluster of one broker, by an idempotent producer of its own.

    `number` is that of the round before.
    """
    begun, acked, failed = time.monotonic(), list[str](), dict[str, str]()
    with Identities(backend) as identities:
        for values in batches:
            if error := _write(identities, topic, values):
                failed |= dict.fromkeys(values, f"code {error}")
            else:
                acked += values
    return Result(number, acked, failed, 0, time.monotonic() - begun)


def end_transactions(backend: Backend, transactional_ids: Iterable[str]) -> None:
    """Start the next producer of each id: it aborts what the one before left open, and nothing later has to wait."""
    with Identities(backend) as identities:
        for one in transactional_ids:
            identities.new(one)


class Identities:
    """A client of a cluster of one broker that asks for producer ids."""

    def __init__(self, backend: Backend) -> None:
        (broker,) = backend.cluster.brokers.values()
        self.client = RawClient(broker.port)
        self.numbers = itertools.count(1)

    def new(self, transactional_id: str | None = None) -> tuple[int, int]:
        """Return id and epoch; ask again while the broker waits for its next ids, or ends an open transaction."""
        return until(lambda: self._asked(transactional_id), f"a producer id of {transactional_id}", every=0.01)

    def find(self, transactional_id: str) -> None:
        """Make the broker create its topic of transactions, which it does when it is first asked for a coordinator."""
        body = string(transactional_id) + b"\x01"
        asked = partial(request, _FIND_COORDINATOR, 1, body=body)
        until(lambda: self.client.ask(asked(next(self.numbers)))[4:6] == b"\0\0", f"{transactional_id}'s coordinator")

    def _asked(self, transactional_id: str | None) -> tuple[int, int] | None:
        named = struct.pack(">h", -1) if transactional_id is None else string(transactional_id)
        body = named + struct.pack(">i", _TIMEOUT_MS)
        said = self.client.ask(request(_INIT_PRODUCER_ID, 1, next(self.numbers), body))
        _, error, producer_id, epoch = struct.unpack(">ihqh", said)
        assert error in (0, *_LATER), f"InitProducerId of {transactional_id}: {error}"
        return None if error else (producer_id, epoch)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()


def ids(backend: Backend, topic: str) -> set[int]:
    """Return the ids of the producers that partition 0 knows: those that have written there."""
    admin = KafkaAdminClient(bootstrap_servers=backend.cluster.bootstrap.split(","))
    try:
        partition = TopicPartition(topic, 0)
        return {one.producer_id for one in admin.describe_producers([partition])[partition].active_producers}
    finally:
        admin.close()


def _write(identities: Identities, topic: str, values: Sequence[str]) -> int:
    """Write one batch; return the error with which it was refused, or 0."""
    producer_id, epoch = identities.new()
    body = _produce(topic, values, producer_id, epoch)
    said = identities.client.ask(request(PRODUCE, 7, next(identities.numbers), body))
    (error,) = struct.unpack_from(">h", said, 4 + 2 + len(topic.encode()) + 4 + 4)
    return int(error)


def _produce(topic: str, values: Iterable[str], producer_id: int, epoch: int) -> bytes:
    records = batch(producer_id, [value.encode() for value in values], epoch=epoch, sequence=0, timestamp=None)
    written = struct.pack(">ii", 0, len(records)) + records
    return struct.pack(">hhi", -1, -1, _TIMEOUT_MS) + array([string(topic) + array([written])])
