# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Request and response headers, which lie between a frame's size and its body.

They are decoded and encoded for messages that kproxy reads, answers or sends itself. `client_id_in` is called for the
first request of each connection.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from kproxy.errors import MalformedMessageError
from kproxy.wire.apis import APIS, request_header_version, response_header_version
from kproxy.wire.primitives import INT32, MAX_STRING, Buffer, Tags, int16_at, int32_at
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer

_FIXED: Final = struct.Struct(">hhih")
"""api key, api version, correlation id, length of the client id."""
_SIZE_BYTES: Final = 4
_LENGTH_BYTES: Final = 2
_NO_TAGS: Final = b"\0"
_MAX_CLIENT_ID: Final = MAX_STRING // 4
"""Characters that always fit into a STRING: none has more than four bytes in UTF-8."""


class RequestHeader(NamedTuple):
    """The header of a request. `tags` are the tagged fields of header version 2; Kafka defines none so far."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    tags: Tags = ()


def decode_request_header(buf: Buffer, pos: int, end: int) -> tuple[RequestHeader, int]:
    """Return the header that begins at `pos` (behind the frame's size), and the body's position; `end` ends the frame.

    Bytes of the client id that are not UTF-8 are replaced, not refused, as in Kafka: the text is for people. An unknown
    api key is read as header version 1, so that the refusal can name it.
    """
    try:
        key, version, correlation_id, length = _FIXED.unpack_from(buf, pos)
        pos, start = pos + _FIXED.size + max(length, 0), pos + _FIXED.size
        if length < -1 or pos > end:
            raise MalformedMessageError(f"request header: client id of {length} bytes")
        client_id = None if length < 0 else str(buf[start:pos], "utf-8", "replace")
        tags: Tags = ()
        if key in APIS and request_header_version(key, version) == 2:
            tags, pos = _tags(buf, pos, end)
    except (IndexError, struct.error) as error:
        raise MalformedMessageError(f"request header: {error}") from error
    return RequestHeader(key, version, correlation_id, client_id, tags), pos


def client_id_in(frame: Buffer, limit: int) -> tuple[str | None, int]:
    """Return the client id in a request's frame (from its size on), and how many bytes of the frame that takes.

    The id is None as long as `frame` has fewer bytes. It is also None for a request without a client id, one larger
    than `limit`, and a malformed one, which the decoder refuses later.
    """
    if len(frame) < _SIZE_BYTES:
        return None, _SIZE_BYTES
    (size,) = int32_at(frame, 0)
    if not _FIXED.size <= size <= limit:
        return None, _SIZE_BYTES
    start = _SIZE_BYTES + _FIXED.size
    if len(frame) < start:
        return None, start
    (length,) = int16_at(frame, start - _LENGTH_BYTES)
    if not 0 <= length <= size - _FIXED.size:
        return None, start
    end = start + length
    return (str(frame[start:end], "utf-8", "replace") if end <= len(frame) else None), end


def request_body(buf: Buffer, pos: int, key: int, version: int) -> int:
    """Return the position of a request's body; its complete header begins at `pos`, behind the frame's size."""
    (length,) = int16_at(buf, pos + _FIXED.size - _LENGTH_BYTES)
    pos += _FIXED.size + max(length, 0)
    return _tags(buf, pos, len(buf))[1] if request_header_version(key, version) == 2 else pos


def encode_request_header(header: RequestHeader) -> bytes:
    """Return the header's bytes. ValueError for a number that does not fit, UnsupportedApiError for an unknown key.

    A client id that does not fit is cut: one that was decoded from bytes that are not UTF-8 may be three times as long.
    """
    writer = Writer()
    try:
        writer.int16(header.api_key)
        writer.int16(header.api_version)
        writer.int32(header.correlation_id)
    except struct.error as error:
        raise ValueError(f"request header: {error}") from error
    client_id = header.client_id
    writer.nullable_string(client_id and client_id[:_MAX_CLIENT_ID], flexible=False)
    if request_header_version(header.api_key, header.api_version) == 2:
        writer.tagged_fields(header.tags)
    elif header.tags:
        raise ValueError("request header: version 1 has no tagged fields")
    return writer.value()


def decode_response_header(buf: Buffer, pos: int, end: int, key: int, version: int) -> tuple[int, int]:
    """Return the correlation id and the body's position; `pos` is behind the frame's size."""
    try:
        (correlation_id,) = INT32.unpack_from(buf, pos)
        pos += INT32.size
        if response_header_version(key, version):
            _, pos = _tags(buf, pos, end)
    except (IndexError, struct.error) as error:
        raise MalformedMessageError(f"response header: {error}") from error
    if pos > end:
        raise MalformedMessageError("response header: longer than its frame")
    return correlation_id, pos


def encode_response_header(correlation_id: int, key: int, version: int) -> bytes:
    """Return the header's bytes without tagged fields: Kafka defines none so far."""
    return INT32.pack(correlation_id) + (_NO_TAGS if response_header_version(key, version) else b"")


def _tags(buf: Buffer, pos: int, end: int) -> tuple[Tags, int]:
    if pos < end and buf[pos] == 0:
        return (), pos + 1
    reader = Reader(buf[pos:end])
    tags = reader.tagged_fields()
    return tags, end - reader.remaining()
