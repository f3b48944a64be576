"""What requests and responses say of a transaction, in every version, as Kafka's schemas write them."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.transactions.messages import FIRST_BETWEEN_BROKERS, FIRST_NAMING_THE_NEXT, Answered, Asked, answered, asked
from kproxy.transactions.messages import produced as read_produce
from kproxy.transactions.transactional_id import UNKNOWN, Producer
from kproxy.wire.error_walk import ErrorWalk, error_walk
from kproxy.wire.generated.api_keys import ApiKey
from tests.support.batches import batch
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.transactions.seen import NAME, about, by_partition

FENCED, ABORTABLE, NOT_COORDINATOR = 90, 120, 16
PRODUCER = Producer(7, 3)


def of_clients(key: int) -> list[tuple[int, int]]:
    """The versions that clients send."""
    return [
        (key, version)
        for version in frames.versions(key)
        if key != ApiKey.ADD_PARTITIONS_TO_TXN or version < FIRST_BETWEEN_BROKERS
    ]


BY_PARTITION = [
    one for key in (ApiKey.PRODUCE, ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.TXN_OFFSET_COMMIT) for one in of_clients(key)
]


def walk(key: int, version: int) -> ErrorWalk:
    """The walk that a route has."""
    found = error_walk(key, version)
    assert found is not None
    return found


def frame_of(request: bytes) -> memoryview:
    """A frame without its size."""
    return memoryview(request)[4:]


@every("version", frames.versions(ApiKey.INIT_PRODUCER_ID))
def test_init_producer_id(version: int) -> None:
    """The id and the timeout; from v3 on the producer that asks. Without a transactional id there is nothing."""
    content = {"TransactionalId": NAME, "TransactionTimeoutMs": 60_500, "ProducerId": 7, "ProducerEpoch": 3}
    request = frame_of(frames.request(ApiKey.INIT_PRODUCER_ID, version, 5, content))
    expected = Asked(ApiKey.INIT_PRODUCER_ID, NAME, PRODUCER if version >= 3 else UNKNOWN, 60.5)
    assert asked(request, ApiKey.INIT_PRODUCER_ID, version) == expected
    nobody = frame_of(frames.request(ApiKey.INIT_PRODUCER_ID, version, 5, {"TransactionalId": None}))
    assert asked(nobody, ApiKey.INIT_PRODUCER_ID, version) is None


@pytest.mark.parametrize(("key", "version"), of_clients(ApiKey.ADD_PARTITIONS_TO_TXN))
def test_add_partitions_to_txn(key: int, version: int) -> None:
    """The id and the producer."""
    assert asked(frame_of(frames.request(key, version, 5, about(key))), key, version) == Asked(key, NAME, PRODUCER)


def test_add_partitions_to_txn_between_brokers() -> None:
    """It is about many transactions, and no client's."""
    key = ApiKey.ADD_PARTITIONS_TO_TXN
    request = frame_of(frames.request(key, FIRST_BETWEEN_BROKERS, 5, {"Transactions": []}))
    assert asked(request, key, FIRST_BETWEEN_BROKERS) is None


@every(("key", "version"), [*of_clients(ApiKey.ADD_OFFSETS_TO_TXN), *of_clients(ApiKey.TXN_OFFSET_COMMIT)])
def test_offsets(key: int, version: int) -> None:
    """The group, too."""
    found = asked(frame_of(frames.request(key, version, 5, about(key))), key, version)
    assert found == Asked(key, NAME, PRODUCER, group="a group")


@every(("key", "version"), of_clients(ApiKey.END_TXN))
@pytest.mark.parametrize("commits", [True, False])
def test_end_txn(key: int, version: int, commits: bool) -> None:
    """Whether it commits."""
    request = frame_of(frames.request(key, version, 5, about(key, Committed=commits)))
    assert asked(request, key, version) == Asked(key, NAME, PRODUCER, commits=commits)


@pytest.mark.parametrize("key", [22, 24, 25, 26, 28])
def test_a_cut_request(key: int) -> None:
    """It is malformed, wherever it is cut in front of what is read."""
    whole = frame_of(frames.request(key, 0, 5, about(key) if key != 22 else {"TransactionalId": NAME}))
    with pytest.raises(MalformedMessageError):
        asked(whole[: 12 + len(NAME)], key, 0)


@every("version", frames.versions(ApiKey.PRODUCE, 3))
@pytest.mark.parametrize(("name", "client_id"), [(NAME, "c1"), (NAME * 1000, "c1"), (NAME, "c" * 3000), ("", None)])
def test_produce(version: int, name: str, client_id: str | None) -> None:
    """The id, and the epoch of the first batch, behind names of any length."""
    records = batch(7, epoch=3, transactional=True)
    request = b"." + frames.produce(version, 5, records=records, transactional_id=name, client_id=client_id)[4:]
    for buf in (request, memoryview(request)):
        assert read_produce(buf, 1, len(request)) == Asked(ApiKey.PRODUCE, name, Producer(epoch=3))


@pytest.mark.parametrize("records", [b"", b"r" * 52])
def test_produce_without_a_batch(records: bytes) -> None:
    """The epoch is unknown where there is no batch, or it is shorter than one, or has not come."""
    request = frames.produce(9, 5, records=records, transactional_id=NAME)[4:]
    assert read_produce(request, 0, len(request)) == Asked(ApiKey.PRODUCE, NAME, UNKNOWN)
    request = frames.produce(9, 5, records=batch(7, epoch=3), transactional_id=NAME)[4:]
    assert read_produce(request, 0, len(request) - 60) == Asked(ApiKey.PRODUCE, NAME, UNKNOWN)


@every(("key", "version"), BY_PARTITION)
def test_responses_by_partition(key: int, version: int) -> None:
    """How many partitions were accepted, and the first error; that the producer was fenced comes first."""
    for codes, expected in {
        (0, 0, 0): Answered(0, 3),
        (): Answered(0, 0),
        (ABORTABLE, 0, NOT_COORDINATOR): Answered(ABORTABLE, 1),
        (ABORTABLE, FENCED): Answered(FENCED, 0),
    }.items():
        response = frame_of(frames.response(key, version, 5, by_partition(key, *codes)))
        assert answered(response, key, version, walk(key, version)) == expected


@pytest.mark.parametrize("code", [0, ABORTABLE])
@every(
    ("key", "version"),
    [one for key in (ApiKey.INIT_PRODUCER_ID, ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.END_TXN) for one in of_clients(key)],
)
def test_responses_with_one_code(key: int, version: int, code: int) -> None:
    """The code; InitProducerId and EndTxn from v5 on name a producer."""
    names = key == ApiKey.INIT_PRODUCER_ID or (key == ApiKey.END_TXN and version >= FIRST_NAMING_THE_NEXT)
    producer = {"ProducerId": 7, "ProducerEpoch": 3} if names else {}
    response = frame_of(frames.response(key, version, 5, {"ErrorCode": code, **producer}))
    expected = Answered(code, int(not code), PRODUCER if names else UNKNOWN)
    assert answered(response, key, version, walk(key, version)) == expected


def test_a_cut_response() -> None:
    """It is malformed."""
    response = frame_of(frames.response(ApiKey.PRODUCE, 9, 5, by_partition(ApiKey.PRODUCE, 0)))
    with pytest.raises(MalformedMessageError):
        answered(response[:20], ApiKey.PRODUCE, 9, walk(ApiKey.PRODUCE, 9))


@pytest.mark.parametrize(("key", "version"), [(ApiKey.PRODUCE, 3), (ApiKey.ADD_PARTITIONS_TO_TXN, 0)])
def test_a_count_without_its_partitions(key: int, version: int) -> None:
    """Two billion partitions are refused by their number, not looked for."""
    throttle = b"" if key == ApiKey.PRODUCE else bytes(4)
    response = frame_of(frames.raw_response(key, version, 5, throttle + b"\0\0\0\1\0\1t\x7f\xff\xff\xff" + bytes(60)))
    with pytest.raises(MalformedMessageError, match="more partitions than bytes"):
        answered(response, key, version, walk(key, version))


def test_a_large_response_is_not_looked_at() -> None:
    """It would take long, and it is rare."""
    response = frame_of(frames.response(ApiKey.PRODUCE, 9, 5, by_partition(ApiKey.PRODUCE, *[0] * 1500)))
    assert answered(response, ApiKey.PRODUCE, 9, walk(ApiKey.PRODUCE, 9)) is None
