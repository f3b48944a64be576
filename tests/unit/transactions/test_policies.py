"""What is noted of requests and responses that pass; that both pass unchanged is asserted for each."""

from __future__ import annotations

import pytest

from kproxy.transactions.policies import Unanswered
from kproxy.transactions.transactional_id import MAX_ID, Cause, Client, Producer, State, TransactionalId, kept
from kproxy.transactions.transactional_ids import TransactionalIds
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.primitives import frame
from tests.property.wire_contents import Content
from tests.support.batches import batch
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.transactions.seen import AT, CLIENT_ID, NAME, Connection, about, by_partition

INIT, ADD, OFFSETS, END, COMMIT, PRODUCE = 22, 24, 25, 26, 28, 0
REFUSED, FENCED, ABORTABLE, TOPIC_REFUSED = 53, 90, 120, 29


def init(connection: Connection, code: int = 0, epoch: int = 3, version: int = 4) -> None:
    """Begin as a producer."""
    content = {"TransactionalId": NAME, "TransactionTimeoutMs": 60_000}
    connection.exchange(INIT, version, content, {"ErrorCode": code, "ProducerId": 7, "ProducerEpoch": epoch})


def produce(connection: Connection, *codes: int, epoch: int = 3) -> None:
    """Send a batch, and get the codes."""
    connection.number += 1
    records = batch(7, epoch=epoch, transactional=True)
    connection.pass_on(frames.produce(9, connection.number, records=records, transactional_id=NAME))
    connection.get(frames.response(PRODUCE, 9, connection.number, by_partition(PRODUCE, *codes)))


def end(connection: Connection, code: int = 0, *, commits: bool = True, version: int = 3, epoch: int = 3) -> None:
    """End a transaction; from v5 on the answer has the next epoch."""
    following = {"ProducerId": 7, "ProducerEpoch": epoch + 1} if version >= 5 else {}
    content = about(END, epoch=epoch, Committed=commits)
    connection.exchange(END, version, content, {"ErrorCode": code, **following})


def noted(connection: Connection) -> TransactionalId:
    """What is known of the id."""
    found = connection.noted
    assert found is not None
    return found


def test_a_transaction_of_tv1() -> None:
    """AddPartitionsToTxn begins it and counts partitions, AddOffsetsToTxn names the group, EndTxn ends it."""
    connection = Connection()
    init(connection)
    found = noted(connection)
    assert (found.state, found.producer, found.timeout, found.since) == (State.EMPTY, Producer(7, 3), 60.0, AT)
    assert found.client == Client(CLIENT_ID, "client", None, None)
    connection.now += 5
    connection.exchange(ADD, 3, about(ADD), by_partition(ADD, 0, 0, 0))
    connection.exchange(OFFSETS, 3, about(OFFSETS), {})
    connection.exchange(COMMIT, 3, about(COMMIT), by_partition(COMMIT, 0))
    assert (found.state, found.open_since, found.partitions, found.groups) == (State.BEGUN, AT + 5, 3, ("a group",))
    end(connection, commits=False)
    assert (found.state, found.cause, found.producer) == (State.ABORTED, Cause.END_TXN, Producer(7, 3))


def test_a_transaction_of_tv2() -> None:
    """Produce begins it, and the answer to EndTxn has the next epoch (KIP-890)."""
    connection = Connection()
    init(connection)
    produce(connection, 0)
    found = noted(connection)
    assert (found.state, found.partitions, connection.ids.open) == (State.BEGUN, None, 1)
    end(connection, version=5)
    assert (found.state, found.producer, found.committed) == (State.COMMITTED, Producer(7, 4), 1)


def test_the_end_without_an_answer() -> None:
    """It is shown that EndTxn has asked for the end, until the answer comes."""
    connection = Connection()
    init(connection)
    produce(connection, 0)
    number = connection.ask(END, 3, about(END, Committed=True))
    assert noted(connection).ending is State.COMMITTED
    connection.get(frames.response(END, 3, number, {"ErrorCode": 51}))
    assert noted(connection).ending is None
    assert noted(connection).state is State.BEGUN


@pytest.mark.parametrize(
    ("key", "version", "answer"),
    [
        (INIT, 4, {"ErrorCode": REFUSED}),
        (ADD, 3, by_partition(ADD, REFUSED, REFUSED)),
        (ADD, 3, by_partition(ADD)),
        (OFFSETS, 3, {"ErrorCode": REFUSED}),
        (END, 3, {"ErrorCode": REFUSED}),
        (COMMIT, 3, by_partition(COMMIT, REFUSED)),
        (COMMIT, 3, by_partition(COMMIT)),
        (PRODUCE, 9, by_partition(PRODUCE, REFUSED)),
        (PRODUCE, 9, by_partition(PRODUCE)),
    ],
)
def test_a_stranger_makes_no_entry(key: int, version: int, answer: Content) -> None:
    """Neither where it is refused, nor where it asked for nothing."""
    connection = Connection()
    begins: dict[int, Content] = {INIT: {"TransactionalId": NAME}, PRODUCE: {"TransactionalId": NAME, "Acks": -1}}
    content = begins.get(key) or about(key)
    connection.exchange(key, version, content, answer)
    assert connection.noted is None


def test_a_stranger_changes_nothing_of_an_entry() -> None:
    """What it is refused is not the producer's error."""
    connection = Connection()
    init(connection)
    stranger = Connection(connection.ids, "stranger")
    init(stranger, REFUSED)
    end(stranger, REFUSED)
    found = noted(connection)
    assert (found.error, found.client.client_id, found.state) == (None, CLIENT_ID, State.EMPTY)
    init(connection, REFUSED)
    assert found.error is not None
    assert (found.error.code, found.error.api_key) == (REFUSED, ApiKey.INIT_PRODUCER_ID)


def test_fenced() -> None:
    """Of a producer that another one has followed, its next request shows that it was fenced."""
    connection = Connection()
    init(connection)
    produce(connection, 0)
    second = Connection(connection.ids, "second")
    init(second, epoch=4)
    found = noted(connection)
    assert (found.state, found.cause, found.fencings) == (State.EMPTY, Cause.INIT_PRODUCER_ID, 0)
    produce(connection, FENCED)
    end(connection, FENCED)
    assert (found.state, found.client.client_id, found.fencings) == (State.EMPTY, "second", 1)
    assert found.fenced is not None
    assert (found.fenced.client.client_id, found.fenced.epoch) == (CLIENT_ID, 3)


def test_partitions_that_are_refused() -> None:
    """Those that were accepted count, and the error is noted."""
    connection = Connection()
    init(connection)
    connection.exchange(ADD, 3, about(ADD), by_partition(ADD, 0, TOPIC_REFUSED))
    found = noted(connection)
    assert (found.state, found.partitions, found.error and found.error.code) == (State.BEGUN, 1, TOPIC_REFUSED)


def test_requests_in_flight() -> None:
    """Each response is that of its own request, also where kproxy has answered one before it itself."""
    connection = Connection()
    init(connection)
    first = connection.ask(OFFSETS, 3, about(OFFSETS, name="another"))
    second = connection.ask(OFFSETS, 3, about(OFFSETS))
    unanswered = connection.relay.context.state(Unanswered)
    assert [number for number, _ in unanswered.requests] == [first, second]
    found = unanswered.take(second)
    assert found is not None
    assert found.transactional_id == NAME
    assert unanswered.take(first) is None


def test_without_acks() -> None:
    """Produce with acks=0 has no response: what waits for one is bounded, and notes nothing."""
    connection = Connection()
    init(connection)
    for number in range(1500):
        connection.pass_on(frames.produce(9, number, acks=0, transactional_id=NAME))
    assert len(connection.relay.context.state(Unanswered).requests) == 1000
    assert noted(connection).state is State.EMPTY


def test_long_names_of_requests_that_wait() -> None:
    """What is kept of each is short; its transaction is found by it all the same."""
    connection, name = Connection(), "\U0001f600" * 8000
    init(connection)
    for number in range(20, 30):
        connection.pass_on(frames.produce(9, number, acks=0, transactional_id=name))
    waiting = connection.relay.context.state(Unanswered).requests
    assert len(waiting) == 10
    assert {found.transactional_id for _, found in waiting} == {kept(name)}
    assert max(len(found.transactional_id) for _, found in waiting) < MAX_ID + 20
    assert kept(kept(name)) == kept(name)


@every("version", frames.versions(PRODUCE))
def test_others_are_not_looked_at(version: int) -> None:
    """Nothing is kept of a connection whose requests have no transactional id."""
    connection = Connection()
    connection.pass_on(frames.produce(version, 1))
    connection.get(frames.produced(version, 1))
    connection.exchange(INIT, 4, {"TransactionalId": None}, {"ProducerId": 7})
    assert connection.relay.context.find(Unanswered) is None


def test_malformed_messages_pass() -> None:
    """What cannot be read is the broker's, or the client's, to refuse."""
    connection = Connection()
    init(connection)
    connection.pass_on(frames.raw_request(END, 0, 2, b"\0\1c\0\x70"))
    connection.get(frames.response(END, 0, 2))
    number = connection.ask(COMMIT, 3, about(COMMIT))
    connection.get(frames.raw_response(COMMIT, 3, number, b"\0\0\0\0\xff\xff"))
    assert noted(connection).state is State.EMPTY


def test_headers_that_no_client_sends_pass() -> None:
    """A Produce request is not looked at with an id behind so many tagged fields, nor one whose topics are none."""
    connection = Connection()
    tags = ((5, bytes(140_000)),)
    head = encode_request_header(RequestHeader(PRODUCE, 9, 1, CLIENT_ID, tags))
    connection.pass_on(frame(head, b"\7orders\xff\xff\0\0\0\0\1\0"))
    head = encode_request_header(RequestHeader(PRODUCE, 9, 2, CLIENT_ID))
    connection.pass_on(frame(head, b"\7orders\xff\xff\0\0\0\0\2\xff\xff\xff\xff\x7f\0\0"))
    assert connection.relay.context.find(Unanswered) is None


def test_a_large_response_passes() -> None:
    """It is not read."""
    connection = Connection()
    produce(connection, *[0] * 1500)
    assert connection.noted is None


def test_who_it_is() -> None:
    """One record of a client for all its ids, and another once its principal is known."""
    connection = Connection()
    init(connection)
    first = noted(connection).client
    init(connection)
    assert noted(connection).client is first
    connection.relay.context.principal = "User:alice"
    init(connection)
    assert noted(connection).client == first._replace(principal="User:alice")


def test_a_request_in_pieces() -> None:
    """It is held until it is whole, and passes then."""
    connection = Connection(TransactionalIds())
    request = frames.request(INIT, 4, 1, {"TransactionalId": NAME}, CLIENT_ID)
    for byte in request:
        connection.relay.feed("client", bytes([byte]))
    assert connection.relay.broker.data == request
    connection.get(frames.response(INIT, 4, 1, {"ProducerId": 7}))
    assert noted(connection).state is State.EMPTY
