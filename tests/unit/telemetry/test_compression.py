"""Every codec, both framings of snappy, and the limit."""

from __future__ import annotations

from typing import Final

import cramjam
import pytest
import zstandard

from kproxy.telemetry.compression import ACCEPTED, CODECS, LZ4, SNAPPY, ZSTD, decompress
from kproxy.telemetry.errors import PayloadError
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.telemetry.clients import metrics
from tests.unit.telemetry.compressed import COMPRESS, XERIAL_HEADER, xerial

PAYLOADS = {
    "usual": metrics(30),
    "one byte": b"x",
    "shrinks a lot": bytes(900_000),
    "shrinks hardly": bytes(range(256)) * 64,
}
LIMIT = 1 << 20
ALL = pytest.mark.parametrize("codec", COMPRESS)


def refused(codec: int, data: bytes, limit: int = LIMIT) -> tuple[int, str]:
    with pytest.raises(PayloadError) as caught:
        decompress(codec, data, limit)
    return caught.value.code, caught.value.message


def test_statement_accepted_types_by_preference() -> None:
    """telemetry.md: accepted types by preference [zstd 4, lz4 3, gzip 1, snappy 2]; "None" is taken."""
    assert ACCEPTED == (4, 3, 1, 2)
    assert set(CODECS) == {0, *ACCEPTED}


@ALL
@pytest.mark.parametrize("payload", PAYLOADS)
def test_statement_snappy_both_ways_and_every_other_codec(codec: str, payload: str) -> None:
    """telemetry.md: snappy comes raw from librdkafka and xerial-framed from Java: take both."""
    number, compress = COMPRESS[codec]
    assert decompress(number, compress(PAYLOADS[payload]), LIMIT) == PAYLOADS[payload]


@ALL
def test_exactly_the_limit(codec: str) -> None:
    """A payload of the limit's size is accepted; one byte more is 118, whether it shrinks or not."""
    number, compress = COMPRESS[codec]
    for payload in PAYLOADS.values():
        compressed = compress(payload)
        assert decompress(number, compressed, len(payload)) == payload
        assert refused(number, compressed, len(payload) - 1)[0] == ErrorCode.TELEMETRY_TOO_LARGE


@pytest.mark.parametrize("codec", [5, 127, -1])
def test_statement_unsupported_codec(codec: int) -> None:
    """telemetry.md: unsupported codec → 76."""
    assert refused(codec, b"") == (
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
        f"compression type {codec} is not one of Kafka's",
    )


@pytest.mark.parametrize("codec", [name for name in COMPRESS if name != "none"])
@pytest.mark.parametrize("damage", ["cut", "noise", "nothing", "trailing"])
def test_statement_what_cannot_be_decompressed_is_87(codec: str, damage: str) -> None:
    """telemetry.md: cannot be decoded → 87; never 118, which clients take for another thing."""
    number, compress = COMPRESS[codec]
    good = compress(metrics(30))
    bad = {"cut": good[:-3], "noise": b"\xff\x06noise" * 9, "nothing": b"", "trailing": good + b"xyz"}[damage]
    code, message = refused(number, bad)
    assert code == ErrorCode.INVALID_RECORD
    assert message.startswith(f"not {CODECS[number]}: ")


@pytest.mark.parametrize("tail", [b"\0\0", b"\0\0\0\x09abc", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xffabc", b"\0\0\0\0"])
def test_xerial_blocks_that_are_not_there(tail: bytes) -> None:
    """A size that is cut off, too large, negative, or of an empty block."""
    assert refused(SNAPPY, XERIAL_HEADER + tail)[0] == ErrorCode.INVALID_RECORD


def test_a_xerial_stream_of_crumbs() -> None:
    """No encoder makes blocks of a byte; a megabyte of them would keep the proxy busy."""
    assert (
        refused(SNAPPY, xerial(bytes(2000), block=1))[1]
        == "not snappy: more than 1025 blocks for 1048576 bytes at most"
    )
    assert decompress(SNAPPY, xerial(bytes(900_000), block=1024), LIMIT) == bytes(900_000)


def test_a_xerial_stream_without_blocks_is_empty() -> None:
    """As in Java's reader."""
    assert decompress(SNAPPY, XERIAL_HEADER, LIMIT) == b""


def test_a_gzip_stream_of_crumbs() -> None:
    """Several members are one stream, as in Java; thousands of them are work without a payload."""
    number, compress = COMPRESS["gzip"]
    assert decompress(number, compress(b"x") * 64, LIMIT) == b"x" * 64
    assert refused(number, compress(b"") * 65) == (ErrorCode.INVALID_RECORD, "not gzip: more than 64 frames")


FRAMES: Final[dict[str, tuple[int, bytes]]] = {
    "zstd": (ZSTD, COMPRESS["zstd"][1](b"")),
    "zstd, skippable": (ZSTD, b"\x50\x2a\x4d\x18\0\0\0\0"),
    "lz4": (LZ4, COMPRESS["lz4"][1](b"")),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_are_bounded(kind: str) -> None:
    """A megabyte of empty frames is 5 ms of work without a payload. Before, all were read."""
    codec, frame = FRAMES[kind]
    data = COMPRESS[CODECS[codec]][1](b"x")
    assert decompress(codec, data + frame * 63, LIMIT) == b"x"
    assert refused(codec, data + frame * 65) == (
        ErrorCode.INVALID_RECORD,
        f"not {CODECS[codec]}: more than 64 frames",
    )


def streamed(data: bytes) -> bytes:
    """zstd as Java's clients write it: they do not know the final size, so the frame does not state it."""
    compressor = cramjam.zstd.Compressor(level=3)
    compressor.compress(data)
    return bytes(compressor.finish())


@pytest.mark.parametrize("payload", PAYLOADS)
def test_zstd_that_does_not_state_its_size(payload: str) -> None:
    """It is accepted like any other, up to the limit."""
    data = PAYLOADS[payload]
    assert decompress(ZSTD, streamed(data), len(data)) == data
    assert refused(ZSTD, streamed(data), len(data) - 1)[0] == ErrorCode.TELEMETRY_TOO_LARGE


def test_zstd_in_several_frames() -> None:
    """Frames one after the other are one payload, whether they state their size or not."""
    first, second = metrics(3), metrics(5)
    for parts in ((streamed(first), streamed(second)), (bytes(cramjam.zstd.compress(first)), streamed(second))):
        assert decompress(ZSTD, b"".join(parts), LIMIT) == first + second


def test_zstd_that_does_not_state_its_size_with_more_behind_it() -> None:
    """Bytes behind the frame are not ignored."""
    assert refused(ZSTD, streamed(metrics(3)) + b"xyz")[0] == ErrorCode.INVALID_RECORD
    assert refused(ZSTD, streamed(metrics(3))[:-1])[0] == ErrorCode.INVALID_RECORD


def test_zstd_of_many_blocks() -> None:
    """More blocks than any client makes, of few bytes each, are accepted too."""
    compressor = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    crumbs = [compressor.compress(b"x" * 10) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for _ in range(200)]
    assert decompress(ZSTD, b"".join(crumbs) + compressor.flush(), LIMIT) == b"x" * 2000


def test_zstd_with_a_checksum() -> None:
    """The checksum is verified."""
    compressed = zstandard.ZstdCompressor(write_checksum=True).compress(metrics(30))
    assert decompress(ZSTD, compressed, LIMIT) == metrics(30)
    assert refused(ZSTD, compressed[:-1] + bytes([compressed[-1] ^ 1]))[0] == ErrorCode.INVALID_RECORD


def test_zstd_of_a_wide_window() -> None:
    """A wider window than Kafka's clients use by default is accepted too."""
    data = metrics(30) + bytes(9 << 20) + metrics(30)
    compressor = zstandard.ZstdCompressor(
        compression_params=zstandard.ZstdCompressionParameters(window_log=24, write_content_size=False)
    ).compressobj()
    wide = compressor.compress(data) + compressor.flush()
    assert zstandard.get_frame_parameters(wide).window_size == 1 << 24
    assert decompress(ZSTD, wide, len(data)) == data
