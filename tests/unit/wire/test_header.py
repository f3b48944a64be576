"""kproxy.wire.header: request and response headers."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError, UnsupportedApiError
from kproxy.wire.header import (
    RequestHeader,
    client_id_in,
    decode_request_header,
    decode_response_header,
    encode_request_header,
    encode_response_header,
)

PLAIN = RequestHeader(3, 8, 7, "me")
PLAIN_HEAD = b"\x00\x03\x00\x08\x00\x00\x00\x07"
FLEXIBLE = RequestHeader(3, 9, 7, None, ((1, b"x"), (5, b"")))


@pytest.mark.parametrize(
    ("header", "raw"),
    [
        (PLAIN, b"\x00\x03\x00\x08\x00\x00\x00\x07\x00\x02me"),
        (FLEXIBLE, b"\x00\x03\x00\x09\x00\x00\x00\x07\xff\xff\x02\x01\x01x\x05\x00"),
        (FLEXIBLE._replace(tags=()), b"\x00\x03\x00\x09\x00\x00\x00\x07\xff\xff\x00"),
    ],
)
def test_request_header(header: RequestHeader, raw: bytes) -> None:
    """Both versions are decoded and encoded, at any position."""
    assert encode_request_header(header) == raw
    assert decode_request_header(b"." + raw + b"body", 1, len(raw) + 5) == (header, 1 + len(raw))


def test_request_header_of_an_unknown_key() -> None:
    """It can be decoded, so that the refusal can name the key, but not encoded."""
    header = RequestHeader(999, 1, 7, "me")
    raw = b"\x03\xe7\x00\x01\x00\x00\x00\x07\x00\x02me"
    assert decode_request_header(raw, 0, len(raw)) == (header, len(raw))
    with pytest.raises(UnsupportedApiError):
        encode_request_header(header)


def test_client_id_that_is_no_text() -> None:
    """Kafka replaces such bytes and serves the client."""
    raw = b"\x00\x03\x00\x08\x00\x00\x00\x07\x00\x01\xff"
    assert decode_request_header(raw, 0, len(raw))[0].client_id == "\ufffd"


@pytest.mark.parametrize(
    "raw",
    [
        b"\x00\x03\x00",
        b"\x00\x03\x00\x08\x00\x00\x00\x07\x00\x09me",
        b"\x00\x03\x00\x08\x00\x00\x00\x07\xff\xfe",
        b"\x00\x03\x00\x09\x00\x00\x00\x07\xff\xff",
        b"\x00\x03\x00\x09\x00\x00\x00\x07\xff\xff\x01\x01\x09",
    ],
    ids=["cut", "client id beyond the end", "client id below null", "no tags", "tag beyond the end"],
)
def test_malformed_request_header(raw: bytes) -> None:
    """A header that is cut short is malformed, even if the buffer has more bytes behind the frame."""
    with pytest.raises(MalformedMessageError):
        decode_request_header(raw + bytes(20), 0, len(raw))


_LIMIT = 1000


@pytest.mark.parametrize("client_id", [None, "", "me", "\u043a\u043b", "k" * 900])
def test_client_id_of_a_request_that_arrives(client_id: str | None) -> None:
    """The reported number of bytes is enough for the next step, and no id is returned too early."""
    header = encode_request_header(PLAIN._replace(client_id=client_id))
    frame = len(header + b"body").to_bytes(4, "big") + header + b"body"
    for size in range(len(frame) + 1):
        found, needed = client_id_in(frame[:size], _LIMIT)
        assert (needed <= size) == (size >= 4 + len(header))
        assert needed <= 4 + len(header)
        assert found == (client_id if size >= 4 + len(header) else None)
    assert client_id_in(memoryview(frame + frame), _LIMIT) == (client_id, 4 + len(header))


def test_client_id_in_a_request_that_arrives_is_no_text() -> None:
    """Invalid bytes are replaced, as in a whole header."""
    assert client_id_in(b"\0\0\0\x0b\x00\x03\x00\x08\x00\x00\x00\x07\x00\x01\xff", _LIMIT) == ("\ufffd", 15)


@pytest.mark.parametrize(
    ("frame", "needed"),
    [
        (b"\xff\xff\xff\xff", 4),
        (b"\0\0\0\x09", 4),
        (b"\0\0\x03\xe9", 4),
        (b"GET / HTTP/1.1", 4),
        (b"\0\0\0\x0c\x00\x03\x00\x08\x00\x00\x00\x07\x00\x03me", 14),
        (b"\0\0\0\x0c\x00\x03\x00\x08\x00\x00\x00\x07\xff\xfeme", 14),
    ],
    ids=["negative", "too small for one", "too large", "no Kafka", "beyond its request", "below null"],
)
def test_no_client_id_where_there_can_be_none(frame: bytes, needed: int) -> None:
    """Then the result asks for no more bytes."""
    assert client_id_in(frame, _LIMIT) == (None, needed)


def test_request_header_that_cannot_be_written() -> None:
    """Numbers that do not fit are refused, and tagged fields in version 1."""
    with pytest.raises(ValueError, match="request header"):
        encode_request_header(PLAIN._replace(correlation_id=2**31))
    with pytest.raises(ValueError, match="no tagged fields"):
        encode_request_header(PLAIN._replace(tags=((1, b""),)))


def test_a_client_id_that_became_too_long_is_cut() -> None:
    """Bytes that are no UTF-8 are three each once they are replaced; what kproxy asks in that name is written."""
    raw = PLAIN_HEAD + (0x7FFF).to_bytes(2, "big") + b"\xff" * 0x7FFF
    header, _ = decode_request_header(raw, 0, len(raw))
    again, _ = decode_request_header(encoded := encode_request_header(header), 0, len(encoded))
    assert again.client_id == "\ufffd" * 8191


@pytest.mark.parametrize(
    ("version", "raw"), [(8, b"\x00\x00\x00\x07"), (9, b"\x00\x00\x00\x07\x00")], ids=["plain", "flexible"]
)
def test_response_header(version: int, raw: bytes) -> None:
    """Both versions are decoded and encoded."""
    assert encode_response_header(7, 3, version) == raw
    assert decode_response_header(b"." + raw + b"body", 1, len(raw) + 5, 3, version) == (7, 1 + len(raw))


def test_response_header_with_tags() -> None:
    """Tagged fields are skipped."""
    assert decode_response_header(b"\x00\x00\x00\x07\x01\x05\x01xbody", 0, 12, 3, 9) == (7, 8)


@pytest.mark.parametrize(("raw", "version"), [(b"\x00\x00", 8), (b"\x00\x00\x00\x07", 9), (b"\x00\x00\x00\x07\x01", 9)])
def test_malformed_response_header(raw: bytes, version: int) -> None:
    """A header that is cut short is refused, with and without more bytes in the buffer."""
    for buf in (raw, raw + bytes(20)):
        with pytest.raises(MalformedMessageError):
            decode_response_header(buf, 0, len(raw), 3, version)
