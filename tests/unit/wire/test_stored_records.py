"""Record batches of a Fetch response: what was encoded is read, and what is no batch is refused."""

from __future__ import annotations

import gzip
import struct

import google_crc32c
import pytest
import zstandard

from kproxy.errors import MalformedMessageError
from kproxy.wire.records import GZIP, ZSTD, Record, encode_batch
from kproxy.wire.stored_records import MOST_BYTES, StoredRecord, stored_records

RECORDS = (Record(b"k", b"v" * 100, 1_000), Record(None, None, 900, (("h", b"x"),)), Record(b"", b"", 1 << 40))
READ = [StoredRecord(0, b"k", b"v" * 100), StoredRecord(1, None, None), StoredRecord(2, b"", b"")]


def at(offset: int, batch: bytes) -> bytes:
    """The batch as a broker stores it: its base offset is not part of the checksum."""
    return struct.pack(">q", offset) + batch[8:]


def changed(batch: bytes, place: int, byte: int) -> bytes:
    """The batch with one byte changed behind its checksum, and a checksum that fits."""
    body = batch[:place] + bytes([byte]) + batch[place + 1 :]
    return body[:17] + struct.pack(">I", google_crc32c.value(body[21:])) + body[21:]


@pytest.mark.parametrize(
    ("codec", "compress"), [(0, None), (GZIP, gzip.compress), (ZSTD, zstandard.ZstdCompressor().compress)]
)
def test_what_was_encoded(codec: int, compress: object) -> None:
    """Keys, values, nulls and offsets, in every compression that kproxy reads."""
    batch = encode_batch(RECORDS, codec=codec, compress=compress)  # type: ignore[arg-type]
    assert stored_records(batch) == (READ, 3)


def test_several_batches() -> None:
    """Each at its offset; the last one was cut by the broker, and is left for the next Fetch."""
    batch = encode_batch(RECORDS)
    found, behind = stored_records(at(5, batch) + at(9, batch) + at(12, batch)[:-1])
    assert [record.offset for record in found] == [5, 6, 7, 9, 10, 11]
    assert behind == 12
    assert stored_records(batch[:60]) == ([], None)
    assert stored_records(b"") == ([], None)


def test_the_end_of_a_transaction() -> None:
    """A control batch is no record, and its offset is passed."""
    batch = encode_batch(RECORDS[:1])
    assert stored_records(changed(batch, 22, 0x20)) == ([], 1)


@pytest.mark.parametrize(
    ("batch", "why"),
    [
        (changed(encode_batch(RECORDS), 22, 3), "compressed with lz4, which kproxy does not read"),
        (changed(encode_batch(RECORDS), 22, 2), "compressed with snappy"),
        (changed(encode_batch(RECORDS), 22, 7), "compressed with 7"),
        (changed(encode_batch(RECORDS), 22, GZIP), "offset 0: Error -3"),
        (changed(encode_batch(RECORDS), 22, ZSTD), "offset 0: "),
        (encode_batch(RECORDS)[:-1] + b"?", "at offset 0 does not fit its checksum"),
        (encode_batch(RECORDS)[:16] + b"\1" + encode_batch(RECORDS)[17:], "magic 1"),
        (encode_batch(RECORDS)[:8] + struct.pack(">i", 40) + encode_batch(RECORDS)[12:], "magic 2 and 40 bytes"),
        (changed(encode_batch(RECORDS), 61, 0xFE), "a record of"),
        (changed(encode_batch(RECORDS[:1]), 66, 0x7E), "bytes, where"),
        (changed(encode_batch(RECORDS[:1]), 60, 100), "offset 0: "),
    ],
)
def test_what_is_no_batch(batch: bytes, why: str) -> None:
    """The reason says where."""
    with pytest.raises(MalformedMessageError, match=why):
        stored_records(batch)


def test_a_length_without_end() -> None:
    """A varint ends after ten bytes at most."""
    batch = encode_batch([Record(b"k" * 40, b"v", 0)])
    endless = batch[:61] + b"\xff" * 11 + batch[72:]
    with pytest.raises(MalformedMessageError, match="a varint of more than 10 bytes"):
        stored_records(endless[:17] + struct.pack(">I", google_crc32c.value(endless[21:])) + endless[21:])


@pytest.mark.parametrize(
    ("codec", "packed"),
    [(GZIP, gzip.compress(bytes(MOST_BYTES + 1))), (ZSTD, zstandard.ZstdCompressor().compress(bytes(MOST_BYTES + 1)))],
)
def test_a_bomb(codec: int, packed: bytes) -> None:
    """What would take more memory than allowed is refused."""
    batch = encode_batch([Record(None, b"", 0)], codec=codec, compress=lambda _: packed)
    with pytest.raises(MalformedMessageError, match="offset 0"):
        stored_records(batch)
