"""kproxy.wire.stream: walking a response as it arrives."""

from __future__ import annotations

import struct

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.wire.primitives import uvarint
from kproxy.wire.skim import ResponseStream, request_stream, response_stream

RECORDS = b"r" * 1000


def partition(index: int, records: bytes | None, *, aborted: int = 0, error: int = 0) -> bytes:
    """Return a partition of Fetch version 17."""
    head = struct.pack(">ihqqq", index, error, 5, 5, 0)
    transactions = uvarint(aborted + 1) + (bytes(16) + b"\x00") * aborted
    size = uvarint(0 if records is None else len(records) + 1)
    return head + transactions + struct.pack(">i", -1) + size + (records or b"") + b"\x00"


def topic(*partitions: bytes) -> bytes:
    """Return a topic of Fetch version 17."""
    return bytes(16) + uvarint(len(partitions) + 1) + b"".join(partitions) + b"\x00"


def response(*topics: bytes, error: int = 0) -> bytes:
    """Return a Fetch response of version 17 up to its tail."""
    return struct.pack(">ihi", 0, error, 0) + uvarint(len(topics) + 1) + b"".join(topics)


def opened(key: int = 1, version: int = 17) -> ResponseStream:
    """Return a stream at its first byte."""
    stream = response_stream(key, version)
    assert stream is not None
    return stream


@pytest.mark.parametrize(("key", "version"), [(1, 15), (0, 13), (59, 1), (999, 0)])
def test_only_fetch_and_share_fetch_with_endpoints(key: int, version: int) -> None:
    """All others are small enough to be held, or have nothing to find."""
    assert response_stream(key, version) is None


@pytest.mark.parametrize(("key", "version"), [(0, -1), (0, 14), (1, 12), (22, 4)])
def test_only_produce_among_requests(key: int, version: int) -> None:
    """Produce is walked in all versions that there are."""
    assert request_stream(key, version) is None


def test_a_request_without_records() -> None:
    """The walk over Produce v9 with an empty topic and a partition with null comes to its end."""
    empty, null = b"\x02a\x01\x00", b"\x02b\x02" + bytes(4) + b"\x00\x00\x00"
    body = b"\x00" + struct.pack(">hi", -1, 1000) + uvarint(3) + empty + null
    walk = request_stream(0, 9)
    assert walk is not None
    assert (walk.to_blob(body, 0), walk.blob, walk.at_end) == (len(body), 0, True)


def test_whole_body_at_once() -> None:
    """Tail and errors are found behind null, empty and other records, aborted transactions and several topics."""
    body = response(
        topic(partition(0, None, error=3), partition(1, b"")),
        topic(),
        topic(partition(2, RECORDS, aborted=3, error=-1)),
        error=71,
    )
    stream = opened()
    assert stream.feed(body + b"\x00", 0, len(body) + 1) == len(body)
    assert (stream.at_tail, stream.skip, stream.errors) == (True, 0, [71, 3, -1])


def test_response_without_topics() -> None:
    """The tail comes at once."""
    stream = opened()
    assert stream.feed(response() + b"\x00", 0, 12) == 11
    assert stream.at_tail


def test_records_beyond_the_buffer_are_skipped_without_a_look() -> None:
    """The stream only counts the rest of the records; the walk goes on behind them."""
    body = response(topic(partition(0, RECORDS)))
    records_at = body.index(RECORDS)
    stream = opened()
    assert stream.feed(body, 0, records_at + 100) == records_at + 100
    assert stream.skip == 900
    assert stream.feed(body, records_at + 1000, len(body)) == len(body)
    assert stream.at_tail


def test_incomplete_element_is_asked_for_again() -> None:
    """Its errors count once, when it is whole."""
    body = response(topic(partition(0, b"", error=6)))
    stream = opened()
    reached = stream.feed(body, 0, len(body) - 3)
    assert reached < len(body) - 3
    assert stream.errors == []
    assert stream.feed(body, reached, len(body)) == len(body)
    assert stream.errors == [6]


def test_bytes_behind_the_end_are_not_looked_at() -> None:
    """The buffer is shared: bytes behind `end` are not part of the message."""
    body = response(topic(partition(0, b"", error=6)))
    stream = opened()
    for end in range(len(body)):
        opened().feed(body[:end] + b"\xff" * 200, 0, end)
    assert stream.feed(body + b"\xff" * 9, 0, len(body)) == len(body)


def test_malformed() -> None:
    """An impossible length is refused before the frame is complete."""
    with pytest.raises(MalformedMessageError):
        opened().feed(struct.pack(">ihi", 0, 0, 0) + b"\xff\xff\xff\xff\xff", 0, 15)
