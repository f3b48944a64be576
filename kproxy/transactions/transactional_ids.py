# This module is pure (no I/O, no clock).
"""The state of each transactional id of a virtual cluster, in bounded memory, by what brokers have answered.

This package's policies report each answer; the admin port shows the table, and a scrape of /metrics counts.

Only what a broker has accepted makes an entry, or a refusal that an authorized producer alone can get: so nobody who
may not use an id puts others out. Times are seconds since the Unix epoch. docs/transactions.md says what kproxy cannot
know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kproxy.transactions.transactional_id import (
    MAX_ID,
    UNKNOWN,
    Cause,
    Client,
    Failure,
    Producer,
    State,
    TransactionalId,
    kept,
)
from kproxy.wire.generated.error_codes import ErrorCode

CAPACITY: Final = 10_000
"""The most ids that are kept for a virtual cluster."""
MAX_GROUPS: Final = 3
"""Groups that are named of those whose offsets a transaction has."""
_DRAINS: Final = 10.0
"""Seconds after a failover in which answers of the cluster that was left may still come."""
FENCED_CODES: Final = frozenset((ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED))
"""What a producer gets whose epoch is over. Older versions of the APIs have the first code only (KIP-588)."""


class TransactionalIds:
    """The table. Its methods are called for each answer, in the order in which these come."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._open: dict[str, TransactionalId] = {}
        self._others: dict[str, TransactionalId] = {}
        """Without an open transaction, the one that changed the longest ago first."""
        self.results = {str(state): 0 for state in (State.COMMITTED, State.ABORTED, State.FENCED, State.TIMED_OUT)}
        """How many transactions have ended, by result."""
        self.left_out = 0
        """Ids that were forgotten, or not taken up, for lack of room. Those with an open transaction stay."""

    @property
    def open(self) -> int:
        """The number of open transactions."""
        return len(self._open)

    def __len__(self) -> int:
        return len(self._open) + len(self._others)

    def find(self, transactional_id: str) -> TransactionalId | None:
        """Return what is known of an id."""
        name = kept(transactional_id)
        return self._open.get(name) or self._others.get(name)

    def all(self) -> Iterable[TransactionalId]:
        """Return all, in any order; they are as they are when each is looked at."""
        return [*self._open.values(), *self._others.values()]

    def initialized(
        self, transactional_id: str, client: Client, now: float, producer: Producer, timeout: float | None
    ) -> None:
        """Note that a producer has begun: a transaction that is still open is over (InitProducerId)."""
        found = self._found(transactional_id, client, now)
        self._time_out(found, now)
        if found.state is State.BEGUN:
            self._end(found, now, State.ABORTED, Cause.INIT_PRODUCER_ID)
        found.client, found.producer, found.timeout = client, producer, timeout
        self._rest(found, State.EMPTY, now)

    def took_part(
        self,
        transactional_id: str,
        client: Client,
        now: float,
        producer: Producer,
        *,
        partitions: int | None = None,
        group: str | None = None,
    ) -> None:
        """Note that a transaction has got records, partitions or a group's offsets; it begins by that."""
        found = self._found(transactional_id, client, now)
        if found.is_late(producer) or (_is_over(found, now) and found.is_of(producer, client)):
            return
        if found.state is not State.BEGUN or found.is_followed_by(producer):
            found.open_since, found.partitions, found.groups, found.ending = now, None, (), None
            found.state, found.since = State.BEGUN, now
            self._keep(self._open, self._others, found)
        _take_over(found, producer)
        found.client = client
        if partitions is not None:
            found.partitions = (found.partitions or 0) + partitions
        if group is not None and len(found.groups) < MAX_GROUPS and group[:MAX_ID] not in found.groups:
            found.groups += (group[:MAX_ID],)

    def ending(self, transactional_id: str, producer: Producer, *, commits: bool) -> None:
        """Note that the present producer asks for the end of its transaction."""
        found = self._open.get(kept(transactional_id))
        if found is not None and found.producer == producer:
            found.ending = State.COMMITTED if commits else State.ABORTED

    def ended(
        self,
        transactional_id: str,
        client: Client,
        now: float,
        producer: Producer,
        *,
        commits: bool,
        following: Producer | None = None,
    ) -> None:
        """Note that a transaction was ended; `following` has the next transaction's id and epoch (KIP-890)."""
        found = self._found(transactional_id, client, now)
        if found.is_late(producer):
            return
        another = following is not None and following != found.producer  # each has an epoch of its own
        self._end(found, now, State.COMMITTED if commits else State.ABORTED, Cause.END_TXN, another=another)
        _take_over(found, producer if following is None else following)
        found.client = client

    def failed(
        self, transactional_id: str, client: Client, now: float, producer: Producer, api_key: int, code: int
    ) -> None:
        """Note an error that a producer got. What another client than the present producer's gets changes nothing.

        Unless its epoch is over: then it was fenced, or its transaction has timed out, which brokers answer alike.
        """
        failure = Failure(now, api_key, code, client, producer.epoch)
        if code in FENCED_CODES:
            self._fenced(self._found(transactional_id, client, now, producer), producer, failure)
            return
        found = self.find(transactional_id)
        if found is not None and found.client == client:
            found.error, found.ending = failure, None

    def _fenced(self, found: TransactionalId, producer: Producer, failure: Failure) -> None:
        if found.is_of(producer, failure.client):
            found.error = failure
            self._time_out(found, failure.at)
            if found.state is State.TIMED_OUT:
                return
            if found.state is State.BEGUN:
                self._end(found, failure.at, State.FENCED, Cause.FENCED)
            else:
                self._rest(found, State.FENCED, failure.at)
        known = found.fenced
        if known is None or (known.client, known.epoch) != (failure.client, failure.epoch):
            found.fencings += 1
        found.fenced = failure

    def moved(self, now: float) -> None:
        """Note that clients were sent to another cluster, which knows of no transaction that is open."""
        for found in list(self._open.values()):
            self._end(found, now, State.ABORTED, Cause.FAILOVER)

    def expire(self, now: float) -> Iterator[None]:
        """Note the transactions that have timed out, one a step."""
        for found in list(self._open.values()):
            self._time_out(found, now)
            yield

    def _time_out(self, found: TransactionalId, now: float) -> None:
        if found.overdue(now):
            self._end(found, found.deadline, State.TIMED_OUT, Cause.TIMEOUT)

    def _end(self, found: TransactionalId, now: float, state: State, cause: Cause, *, another: bool = False) -> None:
        """End the transaction, whether or not its beginning passed here. A client may ask twice for the same end.

        `another`: this is not the one that ended last.
        """
        if found.state is not state or another:
            self.results[state] += 1
            found.committed += state is State.COMMITTED
            found.aborted += state is not State.COMMITTED
            found.ended, found.ended_at, found.cause = state, now, cause
        self._rest(found, state, now)

    def _rest(self, found: TransactionalId, state: State, now: float) -> None:
        found.state, found.since, found.ending = state, now, None
        self._keep(self._others, self._open, found)

    def _found(
        self, transactional_id: str, client: Client, now: float, producer: Producer = UNKNOWN
    ) -> TransactionalId:
        """Return what is known of the id, or a new one that is not kept yet."""
        return self.find(transactional_id) or TransactionalId(kept(transactional_id), client, now, producer=producer)

    def _keep(
        self, there: dict[str, TransactionalId], before: dict[str, TransactionalId], found: TransactionalId
    ) -> None:
        """Keep it in one of the two, as the one that changed last."""
        name = found.transactional_id
        before.pop(name, None)
        there.pop(name, None)
        there[name] = found
        if len(self) > self._capacity:
            self.left_out += 1
            oldest = next(iter(self._others), name)
            del (self._others if self._others else self._open)[oldest]


def _is_over(found: TransactionalId, now: float) -> bool:
    """True when what its producer has been answered is of the transaction that kproxy saw end, not of a new one."""
    if found.state is State.TIMED_OUT:
        return True
    return found.state is State.ABORTED and found.cause is Cause.FAILOVER and now < found.since + _DRAINS


def _take_over(found: TransactionalId, producer: Producer) -> None:
    if producer.id >= 0 or producer.epoch > found.producer.epoch:
        found.producer = Producer(producer.id if producer.id >= 0 else found.producer.id, producer.epoch)
