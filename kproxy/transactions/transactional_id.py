# This module is pure (no I/O, no clock).
"""One transactional id: its state, its producer, and what is known of its transactions. Times are in seconds.

`transactional_ids` makes and changes the records; the admin port's view reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple

MAX_ID: Final = 256
"""Characters that are kept of an id. A longer one is kept by its first ones and a digest, so that two stay two."""
LONGEST_TIMEOUT: Final = 900.0
"""Seconds after which a transaction counts as timed out if its timeout did not pass here: a broker's default limit
(`transaction.max.timeout.ms`)."""
_DIGEST: Final = 16


class State(StrEnum):
    """Where a transactional id is."""

    EMPTY = "empty"
    """Its producer has begun no transaction yet. Kafka: Empty."""
    BEGUN = "begun"
    """Kafka: Ongoing."""
    COMMITTED = "committed"
    """Kafka: PrepareCommit, then CompleteCommit."""
    ABORTED = "aborted"
    """Kafka: PrepareAbort, then CompleteAbort."""
    FENCED = "fenced"
    """Its producer's epoch is over, and who has the next one did not pass here. Kafka: PrepareEpochFence at times."""
    TIMED_OUT = "timed_out"
    """Open for longer than its timeout: a broker aborts it. Kafka: as aborted."""


class Cause(StrEnum):
    """What ended a transaction."""

    END_TXN = "end_txn"
    """Its producer."""
    INIT_PRODUCER_ID = "init_producer_id"
    """The id's next producer, or the same one that began anew."""
    FENCED = "fenced"
    TIMEOUT = "timeout"
    FAILOVER = "failover"
    """Its producer was sent to another cluster, where the transaction is unknown."""


class Client(NamedTuple):
    """A client, as far as one connection shows it."""

    client_id: str | None
    host: str
    software: tuple[str, str] | None
    principal: str | None


class Producer(NamedTuple):
    """A producer's id and epoch as brokers know them; -1 for one that is not known."""

    id: int = -1
    epoch: int = -1


UNKNOWN: Final = Producer()


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that a producer got."""

    at: float
    api_key: int
    code: int
    client: Client
    epoch: int
    """Of the producer; -1 where it is not known."""


@dataclass(slots=True)
class TransactionalId:
    """One transactional id. `partitions`, `groups` and `open_since` are of the open transaction, or of the last one."""

    transactional_id: str
    client: Client
    """Who used it last."""
    since: float
    """When it came to its state."""
    state: State = State.EMPTY
    producer: Producer = UNKNOWN
    timeout: float | None = None
    """Seconds, as the last InitProducerId said; None where none has passed."""
    open_since: float | None = None
    partitions: int | None = None
    """Those that AddPartitionsToTxn has added; None without such a request, as in TV2 (KIP-890)."""
    groups: tuple[str, ...] = ()
    ending: State | None = None
    """What EndTxn has asked for, without an answer so far."""
    ended: State | None = None
    """How the last transaction ended."""
    ended_at: float | None = None
    cause: Cause | None = None
    committed: int = 0
    aborted: int = 0
    error: Failure | None = None
    """The last one of its producer."""
    fencings: int = 0
    """How many producers were fenced."""
    fenced: Failure | None = None
    """The last one of these."""

    @property
    def deadline(self) -> float:
        """When its transaction times out, if that is still open then."""
        return self.since + (LONGEST_TIMEOUT if self.timeout is None else self.timeout)

    def overdue(self, now: float) -> bool:
        """True for a transaction that is open for longer than its timeout."""
        return self.state is State.BEGUN and now > self.deadline

    def is_late(self, producer: Producer) -> bool:
        """True for what an earlier epoch of the same producer has done."""
        known = self.producer
        if -1 in (producer.epoch, known.epoch) or (-1 not in (producer.id, known.id) and producer.id != known.id):
            return False
        return producer.epoch < known.epoch

    def is_followed_by(self, producer: Producer) -> bool:
        """True for what a later epoch of the same producer has done: its last transaction is over (KIP-890)."""
        known = self.producer
        if -1 in (producer.epoch, known.epoch) or (-1 not in (producer.id, known.id) and producer.id != known.id):
            return False
        return producer.epoch > known.epoch

    def is_of(self, producer: Producer, client: Client) -> bool:
        """True if this may be the id's present producer."""
        known = self.producer
        if -1 not in (producer.id, known.id) and producer.id != known.id:
            return False
        return client == self.client if -1 in (producer.epoch, known.epoch) else producer.epoch == known.epoch


def kept(transactional_id: str) -> str:
    """Return what is kept of an id; of what was kept all of it."""
    if len(transactional_id) <= MAX_ID + 1 + _DIGEST:
        return transactional_id
    digest = sha256(transactional_id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{transactional_id[:MAX_ID]}…{digest}"
