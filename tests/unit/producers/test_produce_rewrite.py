"""Produce requests with batches under other producer ids: cut anywhere, beside other requests, and broken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kproxy.observe.reasons import Reason
from kproxy.producers.producer_ids import ProducerIds
from kproxy.wire.generated.produce_request import ProduceRequest
from kproxy.wire.header import decode_request_header
from tests.support.batches import GZIP, Numbered, batch, message_set, read
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import KIB, Relay, Script, play

IDS = ProducerIds("west", failovers=2, returned=True)
MOVED = ProducerIds("west").issued(7, "west")
PRESENT = IDS.issued(9, "west")
KNOWN = IDS.renumbered(MOVED)
VERSIONS = frames.versions(0, 3)
"""Those in which brokers take batches with ids."""
ONE, TWO = (frames.heartbeat(number)[0] for number in (1, 2))


def relay(ids: ProducerIds = IDS) -> Relay:
    """Return a connection with these ids, by default of a cluster that clients have come back to."""
    return Relay(ids=ids)


def produce(version: int, *topics: Sequence[bytes | None], number: int = 5, **fields: Any) -> bytes:
    """Return a request with these batches, by topic and partition."""
    data = [
        {
            "Name": f"topic-{index}",
            "TopicId": bytes((index,)) * 16,
            "PartitionData": [{"Index": place, "Records": one} for place, one in enumerate(batches)],
        }
        for index, batches in enumerate(topics)
    ]
    return frames.request(0, version, number, {"Acks": -1, "TopicData": data, **fields})


def batches(version: int, frame: bytes) -> list[bytes | None]:
    """Return all that a broker finds in a request."""
    _, body = decode_request_header(frame, 4, len(frame))
    request = ProduceRequest.decode(frame[body:], version)
    return [one.records for topic in request.topic_data for one in topic.partition_data]


def rewritten(version: int, *topics: Sequence[bytes | None], **fields: Any) -> list[bytes | None]:
    """Return the batches that the broker gets; everything else must be as the client sent it."""
    sent = produce(version, *topics, **fields)
    played = play([("client", sent)], relay)
    assert played.reason is None
    forwarded = bytes(played.broker.data)
    found = iter(batches(version, forwarded))
    again = produce(version, *[[next(found) for _ in topic] for topic in topics], **fields)
    assert forwarded == again
    return batches(version, forwarded)


@every("version", VERSIONS)
def test_a_batch_of_a_moved_producer(version: int) -> None:
    """The id is another one; epoch, sequence and records are the same, and the checksum is right."""
    (found,) = rewritten(version, [batch(MOVED, [b"one", b"two"])])
    assert found is not None
    assert read(found) == Numbered(KNOWN, 3, 8, transactional=False, values=(b"one", b"two"))


@pytest.mark.parametrize("version", [3, 9, 13])
def test_many_batches(version: int) -> None:
    """They are of several topics and partitions, compressed and large, with empty and null ones between them."""
    large = batch(MOVED, [b"x" * KIB] * 20)
    packed = batch(MOVED, [b"y" * KIB], compression=GZIP)
    topics: list[list[bytes | None]] = [[batch(MOVED), None, large], [], [packed, b"", batch(MOVED, sequence=0)]]
    found = [one for one in rewritten(version, *topics) if one]
    assert [read(one).producer_id for one in found] == [KNOWN] * 4
    assert read(found[1]).values == (b"x" * KIB,) * 20


@pytest.mark.parametrize(
    "kept",
    [
        batch(-1),
        batch(PRESENT),
        b"r" * 90,
        b"r" * 10,
        batch(MOVED)[:-1],
        batch(MOVED) + batch(MOVED),
    ],
    ids=["no id", "present", "no batch", "short", "cut", "two"],
)
def test_what_stays_as_it_is(kept: bytes) -> None:
    """A batch without an id, or with one of this stay, and what is no batch, which is for the broker to refuse."""
    assert rewritten(9, [kept]) == [kept]


@pytest.mark.parametrize("version", range(4))
@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("compression", [0, GZIP])
def test_message_sets_of_the_first_formats(version: int, magic: int, compression: int) -> None:
    """They have no producer ids: several messages, or one that has the others in it, stay as they are."""
    sets = [message_set(magic, [b"v" * 60] * count, compression) for count in (1, 3)]
    assert rewritten(version, sets, [b"", sets[1]]) == [*sets, b"", sets[1]]


def test_a_request_that_is_cut_while_it_is_walked() -> None:
    """The client has ended in its middle: nothing of it is waited for."""
    sent = produce(9, [batch(-1), batch(MOVED), batch(MOVED)])
    for size in range(len(sent)):
        played = relay()
        played.feed("client", ONE)
        played.feed("client", sent[:size])
        played.requests.cut()
        assert not played.requests.under_way
        assert [expected.correlation_id for expected in played.in_flight] == [1]


def test_behind_batches_without_an_id() -> None:
    """A Java producer that takes a new id sends its remaining batches without one, maybe in the same request."""
    found = rewritten(9, [batch(-1), batch(MOVED)], [batch(MOVED)])
    assert [read(one).producer_id for one in found if one] == [-1, KNOWN, KNOWN]


@every("version", VERSIONS)
@pytest.mark.parametrize("stay", [0, 2])
def test_a_transaction(version: int, stay: int) -> None:
    """From the start, the cluster that issued the id gets its own; another one gets the client's, and refuses it."""
    ids = ProducerIds("west", stay, returned=bool(stay))
    sent = {cluster: batch(ids.issued(7, cluster), transactional=True) for cluster in ("west-1", "east-1")}
    for cluster, expected in (("west-1", 7), ("east-1", ids.issued(7, "east-1"))):
        request = produce(version, [sent[cluster]], TransactionalId="t")

        def at_west() -> Relay:
            made = relay(ids)
            made.context.cluster_id = "west-1"
            return made

        played = play([("client", request)], at_west)
        (found,) = batches(version, bytes(played.broker.data))
        assert found is not None
        assert read(found).producer_id == expected
        assert read(found).transactional


@every("version", VERSIONS)
def test_a_transaction_on_a_connection_that_has_not_named_its_cluster(version: int) -> None:
    """Its broker is asked once, before the request goes on; earlier and later requests keep their places."""
    ids = ProducerIds("west")
    one, two = (
        produce(version, [batch(ids.issued(7, "west-1"), transactional=True)], TransactionalId="t", number=number)
        for number in (5, 6)
    )
    ping, pong = frames.heartbeat(1)
    script: Script = [
        ("client", ping + one + two),
        ("broker", pong + frames.response(3, 4, 0, {"ClusterId": "west-1"})),
    ]
    played = play([*script, ("broker", frames.produced(version, 5) + frames.produced(version, 6))], lambda: relay(ids))
    assert played.reason is None
    sent = frames.split(bytes(played.broker.data))
    assert [frame[:2] for frame in sent] == [b"\0\x0c", b"\0\x03", b"\0\0", b"\0\0"]
    for frame in sent[2:]:
        (found,) = batches(version, bytes(4) + frame)
        assert found is not None
        assert read(found).producer_id == 7
    assert bytes(played.client.data) == pong + frames.produced(version, 5) + frames.produced(version, 6)
    counted = played.cluster.counters.apis
    assert {key: (api.requests, api.responses) for key, api in counted.items()} == {
        (12, 3): (1, 1),
        (0, version): (2, 2),
    }


@pytest.mark.parametrize("answer", [{"ClusterId": None}, {"ClusterId": ""}, None])
def test_a_transaction_at_a_broker_that_names_no_cluster(answer: dict[str, Any] | None) -> None:
    """The upstream's name is used instead; the broker is asked once."""
    ids = ProducerIds("west")
    request = produce(9, [batch(ids.issued(7, ""), transactional=True)], TransactionalId="t")
    response = frames.raw_response(3, 4, 0, b"?") if answer is None else frames.response(3, 4, 0, answer)
    played = play([("client", request), ("broker", response)], lambda: relay(ids))
    (found,) = batches(9, bytes(4) + frames.split(bytes(played.broker.data))[1])
    assert found is not None
    assert (read(found).producer_id, played.context.cluster_id) == (7, "")


def test_without_a_transaction_nothing_is_looked_at_before_a_failover() -> None:
    """Its batches need not even be batches."""
    broken = produce(8, [batch(MOVED)])[:-80]
    sent = len(broken[4:]).to_bytes(4, "big") + broken[4:]
    played = play([("client", sent)], lambda: relay(ProducerIds("west")))
    assert (played.reason, bytes(played.broker.data)) == (None, sent)


def test_a_damaged_batch_stays_damaged() -> None:
    """The broker must see it."""
    damaged = bytearray(batch(MOVED, [b"value"]))
    damaged[-3] ^= 1
    (found,) = rewritten(9, [bytes(damaged)])
    assert found is not None
    with pytest.raises(AssertionError):
        read(found)


def test_requests_around_it() -> None:
    """Each keeps its place, and acks=0 is not waited for."""
    several = [ONE, produce(9, [batch(MOVED)], Acks=0), produce(7, [batch(PRESENT)], number=6), TWO]
    played = play([("client", b"".join(several))], relay)
    assert played.reason is None
    sent = frames.split(bytes(played.broker.data))
    assert [len(one) for one in sent] == [len(one) - 4 for one in several]
    assert [one.correlation_id for one in played.in_flight] == [1, 6, 2]
    found = batches(9, several[1][:4] + sent[1])
    assert [read(one).producer_id for one in found if one] == [KNOWN]


def test_a_request_that_no_one_finishes() -> None:
    """It is in flight at every byte, so its connection ends as one that was cut."""
    sent = produce(9, [batch(MOVED), batch(MOVED)])
    for end in range(1, len(sent)):
        begun = relay()
        begun.feed("client", ONE)  # the client is known
        begun.feed("client", sent[:end])
        assert (begun.reason, begun.requests.under_way) == (None, True), end


@every("version", VERSIONS)
def test_the_last_byte_ends_it(version: int) -> None:
    """Also where nothing follows the last batch: a client that disconnects then has cut nothing off."""
    for one in (batch(MOVED), batch(PRESENT), batch(-1), b"r" * 10):
        played = play([("client", produce(version, [one]))], relay)
        assert not played.requests.under_way


def test_spliced() -> None:
    """The part after a batch's head may pass unread; the next batch is found after it."""
    first, second = batch(MOVED, [b"x" * 5000]), batch(MOVED, [b"second"])
    sent = produce(9, [first, second])
    begun = relay()
    begun.feed("client", ONE)
    cut = sent.index(b"x" * 100)
    begun.feed("client", sent[:cut])
    rest = begun.requests.passing
    begun.broker.data += sent[cut : cut + rest]
    begun.requests.moved(rest)
    assert begun.requests.under_way
    begun.feed("client", sent[cut + rest :])
    found = batches(9, bytes(begun.broker.data[len(ONE) :]))
    assert [read(one).producer_id for one in found if one] == [KNOWN, KNOWN]
    assert begun.cluster.counters.batches_renumbered == 2
    assert not begun.requests.under_way


def test_records_beyond_the_request() -> None:
    """Only a broken broker would read such a request into the next one."""
    sent = bytearray(produce(8, [batch(MOVED)]))
    place = sent.index(batch(MOVED)[:12]) - 4
    sent[place : place + 4] = (1 << 20).to_bytes(4, "big")
    played = play([("client", bytes(sent))], relay)
    assert played.reason is Reason.MALFORMED_REQUEST


@pytest.mark.parametrize("missing", [1, 10])
def test_fields_that_do_not_end(missing: int) -> None:
    """The frame is shorter than its fields."""
    sent = produce(8, [batch(MOVED)])
    cut = bytearray(sent[: sent.index(batch(MOVED)[:12]) - missing])
    cut[:4] = (len(cut) - 4).to_bytes(4, "big")
    played = play([("client", bytes(cut))], relay)
    assert played.reason is Reason.MALFORMED_REQUEST


@pytest.mark.parametrize("at", ["first", "second"])
@pytest.mark.parametrize("cut", [0, 20, 60, 150])
def test_what_came_before_a_request_at_fault(at: str, cut: int) -> None:
    """It is with the broker and waited for, however the bytes came; the request at fault is not."""
    sent = bytearray(produce(8, [batch(MOVED), batch(MOVED, sequence=9)]))
    place = (sent.index if at == "first" else sent.rindex)(batch(MOVED)[:12]) - 4
    sent[place : place + 4] = (1 << 20).to_bytes(4, "big")
    played = relay()
    for piece in (ONE + sent[:cut], sent[cut:]):
        played.feed("client", bytes(piece))
    assert played.reason is Reason.MALFORMED_REQUEST
    played.requests.cut()
    played.requests.settle(1.0)
    assert [expected.correlation_id for expected in played.in_flight] == [1]
    assert played.broker.data.startswith(ONE)
