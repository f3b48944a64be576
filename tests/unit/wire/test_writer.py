"""kproxy.wire.writer: writing values."""

from __future__ import annotations

from uuid import UUID

import pytest

from kproxy.wire.generated.consumer_group_heartbeat_response import TopicPartitions
from kproxy.wire.writer import Writer, not_null


def test_numbers() -> None:
    """Every width is written, signed and unsigned, big-endian."""
    writer = Writer()
    writer.boolean(True)
    writer.int8(-1)
    writer.int16(-2)
    writer.uint16(65534)
    writer.int32(-3)
    writer.uint32(4294967293)
    writer.int64(-4)
    writer.float64(1.5)
    writer.uuid(UUID(int=5))
    writer.uvarint(300)
    expected = "01 ff fffe fffe fffffffd fffffffd fffffffffffffffc 3ff8000000000000" + "00" * 15 + "05 ac02"
    assert writer.value() == bytes.fromhex(expected)


@pytest.mark.parametrize(
    ("flexible", "expected"),
    [
        (False, b"\x00\x01a\xff\xff\x00\x00\x00\x01b\xff\xff\xff\xff\x00\x00\x00\x01\x07\xff\xff\xff\xff"),
        (True, b"\x02a\x00\x02b\x00\x02\x07\x00"),
    ],
)
def test_lengths(flexible: bool, expected: bytes) -> None:
    """Strings, bytes and arrays are written in both forms, null or not."""
    writer = Writer()
    writer.nullable_string("a", flexible)
    writer.nullable_string(None, flexible)
    writer.nullable_blob(b"b", flexible)
    writer.nullable_blob(None, flexible)
    writer.nullable_array([7], writer.int8, flexible)
    writer.nullable_array(None, writer.int8, flexible)
    assert writer.value() == expected


def test_nullable_struct() -> None:
    """A byte is written in front: 1, or -1 for null."""
    writer = Writer()
    writer.nullable_struct(TopicPartitions(UUID(int=1), [7]), 0)
    writer.nullable_struct(None, 0)
    assert writer.value() == b"\1" + bytes(15) + b"\1" + b"\2\0\0\0\7" + b"\0" + b"\xff"


def test_string_above_the_limit() -> None:
    """Kafka accepts none above 32767 bytes, not even in the compact form."""
    with pytest.raises(ValueError, match="32768 bytes"):
        Writer().string("x" * 32768, True)


def test_tagged_fields() -> None:
    """Fields are written by ascending tag; a duplicate is refused."""
    writer = Writer()
    writer.tagged_fields([(7, b"b"), (3, b"a")])
    assert writer.value() == b"\x02\x03\x01a\x07\x01b"
    with pytest.raises(ValueError, match="twice"):
        writer.tagged_fields([(7, b"b"), (7, b"a")])


def test_not_null() -> None:
    """A value is returned; null is refused, with the field's name and the version."""
    assert not_null("x", "Request.name", 3) == "x"
    with pytest.raises(ValueError, match=r"Request\.name may not be null in version 3"):
        not_null(None, "Request.name", 3)
