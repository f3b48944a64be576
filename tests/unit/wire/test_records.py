"""kproxy.wire.records, compared with kafka-python's reader and with Java's own values of murmur2."""

from __future__ import annotations

import gzip

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as kafka_python_murmur2
from kafka.record.memory_records import MemoryRecords

from kproxy.wire.records import (
    GZIP,
    HEAD_BYTES,
    NO_COMPRESSION,
    ZSTD,
    Record,
    encode_batch,
    murmur2,
    partition_of,
    producer_of,
    with_producer,
)
from tests.support import batches

RECORDS = st.lists(
    st.builds(
        Record,
        st.none() | st.binary(max_size=200),
        st.none() | st.binary(max_size=200),
        st.integers(0, 2**42),
        st.lists(st.tuples(st.text(max_size=20), st.none() | st.binary(max_size=100)), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=20,
)


def read_back(data: bytes) -> list[Record]:
    """Return the records of one batch as kafka-python reads them; verify the checksum."""
    batches = MemoryRecords(data)
    batch = batches.next_batch()
    assert batch is not None
    assert batch.validate_crc()
    found = [Record(each.key, each.value, each.timestamp, tuple(each.headers)) for each in batch]
    assert [each for each in (batches.next_batch(),) if each is not None] == []
    return found


@given(RECORDS)
def test_read_back(records: list[Record]) -> None:
    """Keys, values, times and headers are read back, null or empty ones too."""
    assert read_back(encode_batch(records)) == records


def test_compressed() -> None:
    """Any reader inflates gzip; the batch names the codec, also zstd by its number."""
    records = [Record(b"k", b"value" * 100, 1000 + each, (("h", b"x"),)) for each in range(50)]
    packed = encode_batch(records, codec=GZIP, compress=gzip.compress)
    assert read_back(packed) == records
    assert len(packed) < len(encode_batch(records)) / 5
    plain = encode_batch(records)
    squeezed = encode_batch(records, codec=ZSTD, compress=lambda data: bytes(cramjam.zstd.compress(data)))
    assert squeezed[21:23] == b"\x00\x04"
    assert bytes(cramjam.zstd.decompress(squeezed[61:])) == plain[61:]
    assert plain[21:23] == NO_COMPRESSION.to_bytes(2, "big")


@pytest.mark.parametrize(
    ("data", "signed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2_of_java(data: bytes, signed: int) -> None:
    """The values are from the tests of Kafka's own implementation."""
    assert murmur2(data) == signed & 0xFFFFFFFF


@given(st.binary(max_size=100), st.integers(1, 1000))
def test_partitions(key: bytes, partitions: int) -> None:
    """Keys get the same partitions as in another client."""
    assert partition_of(key, partitions) == (kafka_python_murmur2(key) & 0x7FFFFFFF) % partitions


@pytest.mark.parametrize("size", [1, 1000, 1 << 20, 3 << 20])
def test_another_producer(size: int) -> None:
    """Only the id and the checksum differ, and a reader accepts the checksum."""
    before = batches.batch(7, [b"x" * size])
    head = with_producer(before, len(before), 1 << 62 | 9)
    assert len(head) == HEAD_BYTES
    assert batches.read(head + before[HEAD_BYTES:]) == batches.read(before)._replace(producer_id=1 << 62 | 9)


def test_the_producer_of_a_batch() -> None:
    """The id and the transactional flag are found; there is no id in bytes that are not one batch of that size."""
    sound = batches.batch(7)
    assert producer_of(sound, len(sound)) == (7, False)
    assert producer_of(memoryview(sound)[:HEAD_BYTES], len(sound)) == (7, False)
    transactional = batches.batch(7, transactional=True)
    assert producer_of(transactional, len(transactional)) == (7, True)
    nobodys = batches.batch(-1)
    assert producer_of(nobodys, len(nobodys)) == (-1, False)
    older = sound[:16] + b"\x01" + sound[17:]
    assert producer_of(sound, len(sound) + 1) == producer_of(older, len(older)) == (-1, False)
