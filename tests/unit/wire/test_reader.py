"""kproxy.wire.reader: reading values, and refusing impossible lengths."""

from __future__ import annotations

import tracemalloc
from uuid import UUID

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.wire.generated.consumer_group_heartbeat_response import TopicPartitions
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.primitives import MAX_TAGS, uvarint
from kproxy.wire.reader import Reader


def test_numbers() -> None:
    """Every width is read, signed and unsigned, big-endian, one after the other."""
    reader = Reader(bytes.fromhex("01 ff fffe fffe fffffffd fffffffd fffffffffffffffc 3ff8000000000000"))
    read = [reader.boolean(), reader.int8(), reader.int16(), reader.uint16(), reader.int32(), reader.uint32()]
    assert read == [True, -1, -2, 65534, -3, 4294967293]
    assert (reader.int64(), reader.float64()) == (-4, 1.5)
    reader.finish()


def test_uuid() -> None:
    """A UUID has sixteen bytes."""
    assert Reader(bytes(range(16))).uuid() == UUID(bytes=bytes(range(16)))


@pytest.mark.parametrize(("flexible", "raw"), [(False, b"\x00\x02\xc3\xa9"), (True, b"\x03\xc3\xa9")])
def test_string(flexible: bool, raw: bytes) -> None:
    """Both forms are read, from any buffer type."""
    assert Reader(bytearray(raw)).string(flexible) == "é"
    assert Reader(memoryview(raw)).nullable_string(flexible) == "é"


@pytest.mark.parametrize(("flexible", "raw"), [(False, b"\xff\xff"), (True, b"\x00")])
def test_null_string(flexible: bool, raw: bytes) -> None:
    """Null is returned where it is allowed, and refused where it is not."""
    assert Reader(raw).nullable_string(flexible) is None
    with pytest.raises(MalformedMessageError, match="null"):
        Reader(raw).string(flexible)


@pytest.mark.parametrize(("flexible", "raw"), [(False, b"\0\0\0\2hi"), (True, b"\3hi")])
def test_blob(flexible: bool, raw: bytes) -> None:
    """Bytes are read in both forms."""
    assert Reader(raw).blob(flexible) == b"hi"


def test_null_blob() -> None:
    """Null bytes are read as None."""
    assert Reader(b"\0").nullable_blob(True) is None


def test_arrays() -> None:
    """Arrays of primitives are read, also empty and null ones."""
    reader = Reader(b"\0\0\0\2\1\2\0\0\0\0\xff\xff\xff\xff")
    assert reader.array(reader.int8, False) == [1, 2]
    assert reader.array(reader.int8, False) == []
    assert reader.nullable_array(reader.int8, False) is None


def test_nullable_struct() -> None:
    """A byte in front says whether there is one; any negative byte means null, as in Kafka's own clients."""
    reader = Reader(b"\1" + bytes(15) + b"\1" + b"\2\0\0\0\7" + b"\0" + b"\xff\x80")
    assert reader.nullable_struct(TopicPartitions, 0) == TopicPartitions(UUID(int=1), [7])
    assert reader.nullable_struct(TopicPartitions, 0) is reader.nullable_struct(TopicPartitions, 0) is None


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (b"\xff\xfe", lambda reader: reader.string(False)),
        (b"\x81\x80\x02", lambda reader: reader.string(True)),
        (b"\x05ab", lambda reader: reader.string(True)),
        (b"\x7f\xff\xff\xff", lambda reader: reader.blob(False)),
        (b"\x7f\xff\xff\xff", lambda reader: reader.array(reader.int8, False)),
        (b"\x05\x01", lambda reader: reader.tagged_fields()),
        (b"\x02\x01\x00\x01\x00", lambda reader: reader.tagged_fields()),
    ],
    ids=["below null", "above 32767", "cut string", "cut bytes", "cut array", "cut tags", "a tag twice"],
)
def test_refused(raw: bytes, read: object) -> None:
    """Impossible lengths, and lengths beyond the bytes, are refused."""
    assert callable(read)
    with pytest.raises(MalformedMessageError):
        read(Reader(raw))


def test_a_section_with_thousands_of_tagged_fields() -> None:
    """Kafka has ten at most. Half a million, which fit into SaslAuthenticate, took 0.3 s before anybody was known."""
    fields = b"".join(uvarint(tag) + b"\x00" for tag in range(MAX_TAGS + 1))
    assert len(Reader(uvarint(MAX_TAGS) + fields).tagged_fields()) == MAX_TAGS
    with pytest.raises(MalformedMessageError, match=f"{MAX_TAGS + 1} tagged fields .*; the limit is {MAX_TAGS}"):
        Reader(uvarint(MAX_TAGS + 1) + fields).tagged_fields()


def test_tagged_fields_are_sorted() -> None:
    """Kafka reads them in any order; they are written in ascending order."""
    assert Reader(b"\x02\x07\x01b\x03\x01a").tagged_fields() == ((3, b"a"), (7, b"b"))
    assert Reader(b"\x00").tagged_fields() == ()


def test_bytes_behind_the_last_field() -> None:
    """The error has the number of bytes left over."""
    with pytest.raises(MalformedMessageError, match="2 bytes"):
        Reader(b"ab").finish()


def test_a_claimed_length_takes_no_memory() -> None:
    """A response that claims two billion brokers is refused before anything is allocated for them."""
    body = b"\x00\x00\x00\x00\xff\xff\xff\xff\x07" + bytes(100)
    tracemalloc.start()
    try:
        with pytest.raises(MalformedMessageError):
            MetadataResponse.decode(body, 12)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
