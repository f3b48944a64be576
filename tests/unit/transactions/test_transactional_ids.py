"""The table of transactional ids: states, time, and what leaves it when it is full."""

from __future__ import annotations

from kproxy.transactions.transactional_id import (
    LONGEST_TIMEOUT,
    MAX_ID,
    UNKNOWN,
    Cause,
    Client,
    Producer,
    State,
    TransactionalId,
    kept,
)
from kproxy.transactions.transactional_ids import TransactionalIds
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode

NAME = "orders"
CLIENT, OTHER = Client("a", "192.0.2.1", None, None), Client("b", "192.0.2.2", None, None)
FIRST, SECOND = Producer(7, 3), Producer(7, 4)
TIMEOUT = 60.0


def begun(now: float = 0.0, timeout: float | None = TIMEOUT) -> tuple[TransactionalIds, TransactionalId]:
    """An id whose transaction is open since then."""
    ids = TransactionalIds()
    ids.initialized(NAME, CLIENT, now, FIRST, timeout)
    ids.took_part(NAME, CLIENT, now, FIRST)
    found = ids.find(NAME)
    assert found is not None
    return ids, found


def expire(ids: TransactionalIds, now: float) -> None:
    """Take all steps."""
    for _ in ids.expire(now):
        pass


def fail(ids: TransactionalIds, code: int, now: float, producer: Producer = FIRST, client: Client = CLIENT) -> None:
    """A producer gets an error."""
    ids.failed(NAME, client, now, producer, ApiKey.PRODUCE, code)


def test_timed_out() -> None:
    """A moment behind its timeout it has ended, when it timed out; what its producer is told then is no fencing."""
    ids, found = begun()
    expire(ids, TIMEOUT)
    assert found.state is State.BEGUN
    expire(ids, TIMEOUT + 9)
    assert (found.state, found.since, found.cause, found.ended_at) == (
        State.TIMED_OUT,
        TIMEOUT,
        Cause.TIMEOUT,
        TIMEOUT,
    )
    assert (ids.open, ids.results["timed_out"], found.aborted) == (0, 1, 1)
    fail(ids, ErrorCode.INVALID_PRODUCER_EPOCH, TIMEOUT + 10)
    assert (found.state, found.fencings, found.fenced) == (State.TIMED_OUT, 0, None)
    assert found.error is not None
    assert found.error.code == ErrorCode.INVALID_PRODUCER_EPOCH


def test_timed_out_where_nobody_looked() -> None:
    """The broker's error behind the timeout, and the next producer, end it as timed out, too."""
    ids, found = begun()
    fail(ids, ErrorCode.PRODUCER_FENCED, TIMEOUT + 1)
    assert (found.state, found.fencings) == (State.TIMED_OUT, 0)
    ids, found = begun()
    ids.initialized(NAME, OTHER, TIMEOUT + 1, SECOND, TIMEOUT)
    assert (found.state, found.ended, found.cause) == (State.EMPTY, State.TIMED_OUT, Cause.TIMEOUT)


def test_a_timeout_that_did_not_pass_here() -> None:
    """The longest that a broker allows by default counts."""
    ids = TransactionalIds()
    ids.took_part(NAME, CLIENT, 0.0, FIRST)
    expire(ids, LONGEST_TIMEOUT)
    assert ids.open == 1
    expire(ids, LONGEST_TIMEOUT + 1)
    assert ids.open == 0


def test_the_broker_is_later() -> None:
    """Behind its timeout, while the broker has not looked, records do not reopen a transaction, and a commit is one."""
    ids, found = begun()
    expire(ids, TIMEOUT + 1)
    ids.took_part(NAME, CLIENT, TIMEOUT + 2, FIRST)
    assert found.state is State.TIMED_OUT
    ids.ended(NAME, CLIENT, TIMEOUT + 3, FIRST, commits=True)
    assert (found.state, found.committed, ids.results) == (
        State.COMMITTED,
        1,
        {"committed": 1, "aborted": 0, "fenced": 0, "timed_out": 1},
    )


def test_fenced_by_nobody_seen() -> None:
    """The present producer's epoch is over: another one is elsewhere, and the open transaction ended by that."""
    ids, found = begun()
    fail(ids, ErrorCode.PRODUCER_FENCED, 5.0)
    fail(ids, ErrorCode.PRODUCER_FENCED, 6.0)
    assert (found.state, found.since, found.cause, found.fencings) == (State.FENCED, 6.0, Cause.FENCED, 1)
    assert (ids.open, ids.results["fenced"]) == (0, 1)


def test_fenced_at_rest() -> None:
    """Without an open transaction none has ended."""
    ids = TransactionalIds()
    ids.initialized(NAME, CLIENT, 0.0, FIRST, TIMEOUT)
    fail(ids, ErrorCode.INVALID_PRODUCER_EPOCH, 1.0)
    found = ids.find(NAME)
    assert found is not None
    assert (found.state, found.ended, ids.results["fenced"]) == (State.FENCED, None, 0)


def test_fenced_as_the_first_thing_seen() -> None:
    """Only an authorized producer gets these errors, so they make an entry."""
    ids = TransactionalIds()
    fail(ids, ErrorCode.PRODUCER_FENCED, 1.0)
    found = ids.find(NAME)
    assert found is not None
    assert (found.state, found.producer, found.client) == (State.FENCED, FIRST, CLIENT)
    assert len(ids) == 1


def test_an_earlier_producer_is_fenced() -> None:
    """The present one's transaction stays; each fenced one counts once, whatever it gets how often."""
    ids, found = begun()
    ids.initialized(NAME, OTHER, 1.0, SECOND, TIMEOUT)
    ids.took_part(NAME, OTHER, 1.0, SECOND)
    for producer in (FIRST, FIRST, Producer(epoch=3), Producer(7, 2)):
        fail(ids, ErrorCode.PRODUCER_FENCED, 2.0, producer)
    assert (found.state, found.client, found.fencings, found.error) == (State.BEGUN, OTHER, 2, None)
    fail(ids, ErrorCode.PRODUCER_FENCED, 3.0, UNKNOWN)
    assert (found.state, found.fencings) == (State.BEGUN, 3)


def test_of_an_unknown_epoch() -> None:
    """Where the batch was not near enough, the client says whether it is the present producer."""
    ids, found = begun()
    fail(ids, ErrorCode.PRODUCER_FENCED, 1.0, UNKNOWN, CLIENT)
    assert found.state is State.FENCED


def test_what_is_late_changes_nothing() -> None:
    """An earlier epoch's records and ends, such as a repeated EndTxn whose answer had the next epoch (KIP-890)."""
    ids, found = begun()
    ids.ended(NAME, CLIENT, 1.0, FIRST, commits=True, following=SECOND)
    ids.ended(NAME, CLIENT, 2.0, FIRST, commits=True, following=SECOND)
    ids.took_part(NAME, CLIENT, 2.0, FIRST)
    assert (found.state, found.since, found.producer, found.committed) == (State.COMMITTED, 1.0, SECOND, 1)


def test_the_same_end_twice() -> None:
    """Counts once, also where the epoch stays."""
    ids, found = begun()
    for _ in range(2):
        ids.ended(NAME, CLIENT, 1.0, FIRST, commits=False)
    assert (found.aborted, ids.results["aborted"]) == (1, 1)


def test_another_producer_id() -> None:
    """An id whose epochs are used up gets another producer id, with which epochs begin anew."""
    ids, found = begun()
    rotated = Producer(8, 0)
    ids.took_part(NAME, CLIENT, 1.0, rotated)
    assert found.producer == rotated
    fail(ids, ErrorCode.PRODUCER_FENCED, 2.0, FIRST)
    assert (found.state, found.fencings) == (State.BEGUN, 1)
    ids.took_part(NAME, CLIENT, 3.0, Producer(epoch=1))
    assert found.producer == Producer(8, 1)


def test_begun_without_a_beginning() -> None:
    """Where kproxy was started behind it, records and ends make an entry as well."""
    ids = TransactionalIds()
    ids.ended(NAME, CLIENT, 1.0, FIRST, commits=True)
    found = ids.find(NAME)
    assert found is not None
    assert (found.state, found.open_since, found.timeout, found.committed) == (State.COMMITTED, None, None, 1)


def test_ending() -> None:
    """Only the present producer's EndTxn is shown, and only of an open transaction."""
    ids, found = begun()
    ids.ending(NAME, SECOND, commits=True)
    ids.ending("another", FIRST, commits=True)
    seen = [found.ending]
    ids.ending(NAME, FIRST, commits=False)
    seen.append(found.ending)
    ids.ended(NAME, CLIENT, 1.0, FIRST, commits=False)
    ids.ending(NAME, FIRST, commits=True)
    assert [*seen, found.ending] == [None, State.ABORTED, None]


def test_another_cluster() -> None:
    """A failover ends open transactions; an answer of the old cluster that comes later still counts."""
    ids, found = begun()
    ids.moved(5.0)
    assert (found.state, found.cause, ids.open) == (State.ABORTED, Cause.FAILOVER, 0)
    fail(ids, ErrorCode.INVALID_PRODUCER_ID_MAPPING, 6.0)
    assert (found.state, found.error and found.error.code) == (State.ABORTED, 49)
    ids.ended(NAME, CLIENT, 7.0, FIRST, commits=True)
    assert (found.state, found.committed, found.aborted) == (State.COMMITTED, 1, 1)


def test_answers_in_flight_at_a_failover() -> None:
    """They begin no transaction anew: it has ended once, by the failover. A later one of the same producer counts."""
    ids, found = begun()
    ids.moved(5.0)
    ids.took_part(NAME, CLIENT, 5.2, FIRST)
    assert (found.state, ids.open) == (State.ABORTED, 0)
    ids.initialized(NAME, CLIENT, 6.0, SECOND, TIMEOUT)
    assert (found.aborted, found.cause, ids.results["aborted"]) == (1, Cause.FAILOVER, 1)
    ids, found = begun()
    ids.moved(5.0)
    ids.took_part(NAME, CLIENT, 60.0, FIRST)
    assert (found.state, ids.open) == (State.BEGUN, 1)


def test_whose_ends_pass_elsewhere() -> None:
    """Each epoch is another transaction (KIP-890): none that goes on has timed out, whoever sees its ends."""
    ids = TransactionalIds()
    ids.initialized(NAME, CLIENT, 0.0, Producer(7, 0), TIMEOUT)
    for epoch in range(2000):
        ids.took_part(NAME, CLIENT, epoch / 10, Producer(7, epoch))
        expire(ids, epoch / 10)
    assert (ids.results["timed_out"], ids.open) == (0, 1)
    expire(ids, 2000 / 10 + TIMEOUT)
    assert ids.results["timed_out"] == 1


def test_ends_whose_beginnings_pass_elsewhere() -> None:
    """Each end counts that gives the producer another epoch; a repeated answer gives the same one."""
    ids = TransactionalIds()
    for epoch in range(50):
        for _ in range(2):
            ids.ended(NAME, CLIENT, float(epoch), Producer(7, epoch), commits=True, following=Producer(7, epoch + 1))
    found = ids.find(NAME)
    assert found is not None
    assert (found.committed, ids.results["committed"]) == (50, 50)


def test_contents() -> None:
    """Partitions add up, some groups are named once each; the next transaction begins without."""
    ids, found = begun()
    ids.took_part(NAME, CLIENT, 1.0, FIRST, partitions=2)
    ids.took_part(NAME, CLIENT, 1.0, FIRST, partitions=3)
    for group in ("a", "a", "g" * 300, "b", "c"):
        ids.took_part(NAME, CLIENT, 1.0, FIRST, group=group)
    assert (found.partitions, found.groups) == (5, ("a", "g" * MAX_ID, "b"))
    ids.ended(NAME, CLIENT, 2.0, FIRST, commits=True)
    ids.took_part(NAME, CLIENT, 3.0, FIRST)
    following = ids.find(NAME)
    assert following is not None
    assert (following.partitions, following.groups, following.open_since) == (None, (), 3.0)


def test_long_ids() -> None:
    """Two that differ behind what is kept are two."""
    ids = TransactionalIds()
    for end in "ab":
        ids.initialized("x" * 30_000 + end, CLIENT, 0.0, FIRST, TIMEOUT)
    names = [one.transactional_id for one in ids.all()]
    assert len(set(names)) == 2
    assert {name[:MAX_ID] for name in names} == {"x" * MAX_ID}
    assert max(map(len, names)) < MAX_ID + 20
    assert kept("x" * MAX_ID) == "x" * MAX_ID
    assert ids.find("x" * 30_000 + "a") is not None


def test_the_ended_one_of_longest_ago_leaves_first() -> None:
    """An open transaction stays, however old."""
    ids = TransactionalIds(capacity=3)
    ids.took_part("open", CLIENT, 0.0, FIRST)
    for name in ("a", "b", "a", "c"):
        ids.ended(name, CLIENT, 1.0, FIRST, commits=True)
    assert sorted(one.transactional_id for one in ids.all()) == ["a", "c", "open"]
    assert (len(ids), ids.left_out) == (3, 1)


def test_full_of_open_transactions() -> None:
    """A new id is not taken up, and counted; once a transaction has ended, it leaves for the next id."""
    ids = TransactionalIds(capacity=2)
    for name in "ab":
        ids.took_part(name, CLIENT, 0.0, FIRST)
    ids.took_part("c", CLIENT, 1.0, FIRST)
    ids.initialized("d", CLIENT, 1.0, FIRST, TIMEOUT)
    assert sorted(one.transactional_id for one in ids.all()) == ["a", "b"]
    assert (ids.open, ids.left_out) == (2, 2)
    ids.ended("a", CLIENT, 2.0, FIRST, commits=True)
    ids.took_part("c", CLIENT, 3.0, FIRST)
    assert sorted(one.transactional_id for one in ids.all()) == ["b", "c"]
