"""Requests encoded once and sent many times over a plain socket: real protocol bytes at the cost of one send."""

from __future__ import annotations

import io
import socket
import struct
from dataclasses import dataclass
from typing import Final

from kafka.record import MemoryRecordsBuilder

from .process import BenchError

_SIZE: Final = struct.Struct(">i")
_CLIENT_ID: Final = "bench"
_CORRELATION_ID: Final = 7
_PRODUCE_VERSION: Final = 12  # NodeEndpoints (KIP-951) can be in the response, so a proxy cannot just pass it on
_FETCH_VERSION: Final = 16  # the first with NodeEndpoints
_TOPIC_ID: Final = bytes(15) + b"\x01"
_NO_TAGS: Final = b"\x00"


def compact(data: bytes) -> bytes:
    """Length + 1 as an unsigned varint, then the bytes."""
    rest, prefix = len(data) + 1, bytearray()
    while rest > 0x7F:
        prefix.append(rest & 0x7F | 0x80)
        rest >>= 7
    prefix.append(rest)
    return bytes(prefix) + data


def framed(api_key: int, version: int, body: bytes, client_id: str = _CLIENT_ID) -> bytes:
    """A request of a version with tagged fields, its size in front."""
    head = struct.pack(">hhih", api_key, version, _CORRELATION_ID, len(client_id)) + client_id.encode() + _NO_TAGS
    return _SIZE.pack(len(head) + len(body)) + head + body


def api_versions(client_id: str = _CLIENT_ID, name: bytes = b"bench", version: bytes = b"1") -> bytes:
    """Return ApiVersions v3, which most clients send first."""
    return framed(18, 3, compact(name) + compact(version) + _NO_TAGS, client_id)


def one_record_batch(value_size: int) -> bytes:
    """A record batch (magic 2) of one record, its checksum in place."""
    builder = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=value_size + 1024)
    builder.append(timestamp=1_700_000_000_000, key=None, value=bytes(value_size))
    builder.close()
    return bytes(builder.buffer())


@dataclass(frozen=True, slots=True)
class OneRecordProduce:
    """A Produce request of one record and acks=1 for partition 0, and the place of the error code in its response."""

    request: bytes
    error_at: int
    name: bytes

    @classmethod
    def to(cls, topic: str, value_size: int = 100) -> OneRecordProduce:
        name = compact(topic.encode())
        partition = _SIZE.pack(0) + compact(one_record_batch(value_size)) + _NO_TAGS
        topics = b"\x02" + name + b"\x02" + partition + _NO_TAGS  # compact arrays of one element
        body = b"\x00" + struct.pack(">hi", 1, 30_000) + topics + _NO_TAGS
        error_at = 4 + 4 + 1 + 1 + len(name) + 1 + 4  # size, correlation id, tags, array, name, array, index
        return cls(framed(0, _PRODUCE_VERSION, body), error_at, name)

    def response(self) -> bytes:
        """Return a broker's response: offset 0, no error."""
        answer = struct.pack(">hqqq", 0, 0, -1, 0) + b"\x01\x00\x00\x00" + _SIZE.pack(0) + _NO_TAGS
        head = _SIZE.pack(_CORRELATION_ID) + b"\x00" + b"\x02" + self.name + b"\x02" + _SIZE.pack(0)
        return _SIZE.pack(len(head) + len(answer)) + head + answer

    def check(self, response: bytes) -> None:
        """Raise BenchError unless the response is whole, ours and without an error."""
        size, correlation_id = struct.unpack_from(">ii", response)
        (error,) = struct.unpack_from(">h", response, self.error_at)
        if size + 4 != len(response) or correlation_id != _CORRELATION_ID or error:
            raise BenchError(f"Produce was answered with error code {error}, {len(response)} bytes: {response[:80]!r}")


def connect(address: tuple[str, int]) -> socket.socket:
    """Open a connection that sends at once and gives up after 30 s."""
    connection = socket.create_connection(address, 30)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def receive(connection: socket.socket) -> bytes:
    """Return one whole response, its size in front."""
    response = io.BytesIO()
    missing = 4
    while missing > 0:
        chunk = connection.recv(65536)
        if not chunk:
            raise BenchError(f"connection closed after {response.tell()} bytes of a response")
        response.write(chunk)
        if response.tell() >= 4:
            missing = _SIZE.unpack_from(response.getvalue())[0] + 4 - response.tell()
    return response.getvalue()


@dataclass(frozen=True, slots=True)
class Fetch:
    """A Fetch request and a response of many partitions, with records that no client will look at."""

    request: bytes
    response: bytes

    @classmethod
    def of(cls, partitions: int, records_bytes: int) -> Fetch:
        # max wait, min and max bytes, isolation level, session id and epoch; no topic, none forgotten, no rack
        wanted = struct.pack(">iiibii", 500, 1, 1 << 30, 0, 0, -1) + b"\x01\x01\x01" + _NO_TAGS
        blob = compact(bytes(records_bytes))
        parts = b"".join(
            struct.pack(">ihqqq", index, 0, 1, 1, 0) + b"\x00" + _SIZE.pack(-1) + blob + _NO_TAGS
            for index in range(partitions)
        )
        topics = b"\x02" + _TOPIC_ID + bytes([partitions + 1]) + parts + _NO_TAGS
        body = _SIZE.pack(_CORRELATION_ID) + _NO_TAGS + struct.pack(">ihi", 0, 0, 0) + topics + _NO_TAGS
        return cls(framed(1, _FETCH_VERSION, wanted), _SIZE.pack(len(body)) + body)
