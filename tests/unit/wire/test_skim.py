"""kproxy.wire.skim: what skims find and what they refuse."""

from __future__ import annotations

import struct

import pytest

from kproxy.errors import MalformedMessageError, UnsupportedApiError
from kproxy.wire.generated.find_coordinator_response import Coordinator, FindCoordinatorResponse
from kproxy.wire.generated.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.skim import (
    ACKS_BITS,
    BROKER,
    COMPACT_INT32,
    CONTROLLER,
    IN_TRANSACTION,
    MOST_ACKS,
    STRING_INT32,
    Address,
    Skimmed,
    acks,
    begins_with_throttle_time,
    error_offset,
    is_transactional,
    response_glance,
    response_skim,
)
from tests.support.every import every


def skimmed(key: int, version: int, body: bytes) -> Skimmed:
    """Return what the skim of a response finds."""
    skim = response_skim(key, version)
    assert skim is not None
    return skim(body, 0, len(body))


@pytest.mark.parametrize(("version", "layout", "at"), [(0, STRING_INT32, 8), (9, COMPACT_INT32, 9)])
def test_metadata(version: int, layout: int, at: int) -> None:
    """The skim finds host, port and position of a broker in both forms."""
    body = MetadataResponse(brokers=[MetadataResponseBroker(node_id=7, host="b7", port=9092)]).encode(version)
    length = len(b"..b7....") if layout == STRING_INT32 else len(b".b7....")
    assert skimmed(3, version, body).addresses == [Address(7, "b7", 9092, at, at + length, layout, None, BROKER)]


def test_metadata_looks_at_nothing_behind_the_brokers() -> None:
    """Thousands of topics cost nothing: their bytes may even be malformed."""
    topics = [MetadataResponseTopic(name="t")]
    body = MetadataResponse(brokers=[MetadataResponseBroker(node_id=7, host="b7", port=9092)], topics=topics).encode(12)
    assert len(skimmed(3, 12, body[:-4] + b"\xff\xff\xff\xff").addresses) == 1


def test_find_coordinator_that_found_none() -> None:
    """Kafka's placeholders and the error code are returned unchanged."""
    body = FindCoordinatorResponse(coordinators=[Coordinator(node_id=-1, port=-1, error_code=15)]).encode(4)
    found = skimmed(10, 4, body)
    assert (found.addresses[0][:3], found.errors) == ((-1, "", -1), [15])


def test_produce_with_endpoints() -> None:
    """KIP-951: the skim finds the endpoint's position, and that of the size around it."""
    partition = (
        struct.pack(">ihqqq", 0, 6, -1, -1, -1) + b"\x01\x00" + b"\x01\x00\x09\x00\x00\x00\x02\x00\x00\x00\x05\x00"
    )
    endpoint = b"\x02" + b"\x00\x00\x00\x02" + b"\x03b2" + b"\x00\x00\x23\x84" + b"\x00\x00"
    head = b"\x02" + bytes(16) + b"\x02" + partition + b"\x00" + bytes(4)
    body = head + b"\x01\x00" + bytes([len(endpoint)]) + endpoint
    found = skimmed(0, 13, body)
    size = len(head) + 2
    start = size + 1 + 5
    assert found.errors == [6]
    assert found.addresses == [Address(2, "b2", 9092, start, start + 7, COMPACT_INT32, (size, size + 1), BROKER)]


def test_describe_quorum_marks_controllers() -> None:
    """Its listeners belong to controllers, with the node id of the struct around them."""
    listener = b"\x04CTL" + b"\x03c1" + b"\x23\x85" + b"\x00"
    body = b"\x00\x00" + b"\x00" + b"\x01" + b"\x02" + b"\x00\x00\x00\x09" + b"\x02" + listener + b"\x00" + b"\x00"
    (address,) = skimmed(55, 2, body).addresses
    assert (address[:3], address.kind) == ((9, "c1", 9093), CONTROLLER)


@pytest.mark.parametrize(("key", "version"), [(2, 5), (0, 9), (1, 15), (999, 0)])
def test_no_skim_for_responses_without_addresses(key: int, version: int) -> None:
    """Other APIs, older versions and unknown keys have none."""
    assert response_skim(key, version) is None


@pytest.mark.parametrize(("key", "version"), [(3, 14), (78, 0), (1, -1)])
def test_unknown_version_of_a_response_with_addresses(key: int, version: int) -> None:
    """It is refused, because it might leak addresses."""
    with pytest.raises(UnsupportedApiError, match="addresses cannot be found"):
        response_skim(key, version)


@pytest.mark.parametrize(
    ("key", "version", "body"),
    [
        (3, 12, b""),
        (3, 12, b"\x00\x00\x00\x00\x02\x00\x00\x00\x01\x03\xff\xfe\x00\x00\x00\x01\x00\x00"),
        (3, 12, b"\x00\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x00\x01\x00\x00"),
        (3, 12, b"\x00\x00\x00\x00\xff\xff\xff\xff\x07"),
        (3, 0, b"\xff\xff\xff\xfe"),
        (3, 0, b"\x00\x00\x00\x01\x00\x00\x00\x01\x00\x02b"),
        (0, 13, b"\x02" + bytes(16) + b"\x02" + bytes(12)),
    ],
    ids=["nothing", "no UTF-8", "null host", "too many", "negative count", "cut", "cut behind a number"],
)
def test_malformed(key: int, version: int, body: bytes) -> None:
    """All raise the same exception, whatever the buffer has behind the message."""
    skim = response_skim(key, version)
    assert skim is not None
    for buf in (body, body + bytes(50)):
        with pytest.raises(MalformedMessageError):
            skim(buf, 0, len(body))


def test_bytes_behind_the_last_field() -> None:
    """They are ignored, as by Kafka's own clients; librdkafka's mock cluster sends one."""
    assert skimmed(0, 13, b"\x01\x00\x00\x00\x00\x00.").addresses == []


def test_error_offset() -> None:
    """The offset is by version; None when there is no code, or none at a fixed place."""
    assert error_offset(10, 0) == 0
    assert error_offset(10, 3) == 4
    assert error_offset(10, 4) is None
    assert error_offset(3, 13) is None
    assert error_offset(999, 0) is None


def test_begins_with_throttle_time() -> None:
    """From the version on that has the field; APIs whose response has it elsewhere, or not at all, never do."""
    assert [begins_with_throttle_time(1, version) for version in (0, 1, 18)] == [False, True, True]
    assert not begins_with_throttle_time(0, 13)
    assert not begins_with_throttle_time(999, 0)


@pytest.mark.parametrize("version", [0, 2, 3, 8, 9, 13])
@every("wanted", [0, 1, -1])
@every("transactional_id", [None, "", "tx"])
@every("client_id", [None, "me", "c" * 300])
@every("tagged", [False, True])
def test_acks(version: int, wanted: int, transactional_id: str | None, client_id: str | None, tagged: bool) -> None:
    """`acks` is found in every version and shape; with any byte missing, the result asks for more."""
    tags = ((4, b"xy"),) if version >= 9 and tagged else ()
    header = encode_request_header(RequestHeader(0, version, 7, client_id, tags))
    if version < 3:
        transactional_id = None
    raw = (transactional_id or "").encode()
    length = 0 if transactional_id is None else len(raw) + 1
    text = (bytes([length]) if version >= 9 else struct.pack(">h", length - 1)) + raw
    request = header + (text if version >= 3 else b"") + struct.pack(">hi", wanted, 30_000)
    for buf in (b"." + request + b".", memoryview(b"." + request + b".")):
        found = acks(buf, 1, 1 + len(request))
        assert found == wanted + (0 if transactional_id is None else IN_TRANSACTION)
        assert (found > MOST_ACKS) is (transactional_id is not None)
        assert bool(found & ACKS_BITS) is (wanted != 0)
        assert is_transactional(buf, 1, 1 + len(request)) is (transactional_id is not None)
        for end in range(len(request) - 4):
            assert acks(buf, 1, 1 + end) is None


def test_acks_of_a_malformed_request() -> None:
    """An impossible length is refused at once, without waiting for more."""
    with pytest.raises(MalformedMessageError):
        acks(b"\x00\x00\x00\x08\x00\x00\x00\x07\xff\xfe\x00\x00", 0, 12)
    with pytest.raises(MalformedMessageError):
        acks(b"\x00\x00\x00\x0c\x00\x00\x00\x07\xff\xff\x00\xff\xff\xff\x01", 0, 15)


@pytest.mark.parametrize(("version", "header"), [(8, bytes(4)), (9, bytes(5))])
@pytest.mark.parametrize("brokers", [[], [MetadataResponseBroker(node_id=7, host="b7", port=9092)]])
def test_a_glance(version: int, header: bytes, brokers: list[MetadataResponseBroker]) -> None:
    """A glance sees whether a response has an address, behind a header with and without tagged fields."""
    body = MetadataResponse(brokers=brokers).encode(version)
    glance = response_glance(3, version)
    assert glance is not None
    assert glance.nothing(header + body, 0, len(header) + len(body)) is not bool(brokers)


def test_a_response_without_addresses_has_no_glance() -> None:
    """Nor has an unknown version: its skim raises the error."""
    assert response_glance(12, 4) is None
    assert response_glance(0, 99) is None
    assert response_glance(0, 13) is not None
