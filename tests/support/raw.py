"""A client that speaks the protocol byte by byte, for what no real client does. It uses none of kproxy's own codecs."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from tests.support.batches import batch
from tests.support.wait import GENEROUS

HOST = "127.0.0.1"
PRODUCE, FETCH, METADATA, SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE = 0, 1, 3, 17, 18, 36


def frame(payload: bytes) -> bytes:
    """A size field and its bytes."""
    return struct.pack(">i", len(payload)) + payload


def request(api_key: int, version: int, correlation_id: int, body: bytes = b"", client_id: str = "raw") -> bytes:
    """A request in one frame, with header version 1: for versions that are not flexible yet."""
    return frame(struct.pack(">hhi", api_key, version, correlation_id) + string(client_id) + body)


def string(text: str) -> bytes:
    """STRING: an int16 length and UTF-8."""
    encoded = text.encode()
    return struct.pack(">h", len(encoded)) + encoded


def array(parts: Iterable[bytes]) -> bytes:
    """ARRAY: an int32 count and the parts."""
    items = list(parts)
    return struct.pack(">i", len(items)) + b"".join(items)


def api_versions(correlation_id: int, version: int = 0) -> bytes:
    """ApiVersions v0, whose body is empty."""
    return request(API_VERSIONS, version, correlation_id)


def metadata(correlation_id: int) -> bytes:
    """Metadata v1 for no topic: brokers and controller."""
    return request(METADATA, 1, correlation_id, array([]))


def produce(correlation_id: int, topic: str, acks: int, values: Iterable[bytes], partition: int = 0) -> bytes:
    """Produce v7 of one batch to one partition."""
    records = batch(-1, list(values), epoch=-1, sequence=-1, timestamp=None)
    written = struct.pack(">ii", partition, len(records)) + records
    topics = array([string(topic) + array([written])])
    return request(PRODUCE, 7, correlation_id, struct.pack(">hhi", -1, acks, 10_000) + topics)


def fetch(
    correlation_id: int,
    topic: str,
    *,
    offset: int = 0,
    max_wait_ms: int = 500,
    min_bytes: int = 1,
    max_bytes: int = 1 << 20,
) -> bytes:
    """Fetch v4 of partition 0."""
    head = struct.pack(">iiiib", -1, max_wait_ms, min_bytes, max_bytes, 0)
    asked = struct.pack(">iqi", 0, offset, max_bytes)
    return request(FETCH, 4, correlation_id, head + array([string(topic) + array([asked])]))


def sasl_handshake(correlation_id: int, mechanism: str) -> bytes:
    """SaslHandshake v1."""
    return request(SASL_HANDSHAKE, 1, correlation_id, string(mechanism))


def sasl_authenticate(correlation_id: int, message: bytes) -> bytes:
    """SaslAuthenticate v1."""
    return request(SASL_AUTHENTICATE, 1, correlation_id, frame(message))


class RawClient:
    """One TCP connection; every wait has a deadline."""

    def __init__(
        self,
        port: int,
        *,
        timeout: float = 10.0,
        receive_buffer: int | None = None,
        tls: ssl.SSLContext | None = None,
        login: tuple[str, str] | None = None,
        source: str = "",
    ) -> None:
        """`login` is a name and a password, to authenticate by PLAIN; `source` an address of this machine."""
        self.socket = socket.socket()
        if source:
            self.socket.bind((source, 0))
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout * GENEROUS)
        try:
            self.socket.connect((HOST, port))
            if tls is not None:
                self.socket = tls.wrap_socket(self.socket, server_hostname=HOST)
            if login is not None:
                self._log_in(*login)
        except (OSError, AssertionError):
            self.socket.close()
            raise

    def _log_in(self, name: str, password: str) -> None:
        assert self.ask(sasl_handshake(1, "PLAIN"))[:2] == b"\0\0"
        assert self.ask(sasl_authenticate(2, f"\0{name}\0{password}".encode()))[:2] == b"\0\0"

    def send(self, *frames: bytes) -> None:
        """Send all frames, in one go as far as the kernel takes them."""
        self.socket.sendall(b"".join(frames))

    def receive(self) -> tuple[int, bytes]:
        """Return the next response: its correlation id and the bytes after it."""
        size = struct.unpack(">i", self.exactly(4))[0]
        payload = self.exactly(size)
        return struct.unpack_from(">i", payload)[0], payload[4:]

    def ask(self, frame: bytes) -> bytes:
        """Send one request and wait for its response, which must have its correlation id."""
        self.send(frame)
        correlation_id, body = self.receive()
        assert correlation_id == struct.unpack_from(">i", frame, 8)[0]
        return body

    def wait_closed(self, timeout: float = 10.0) -> bytes:
        """Wait until the peer closes, gracefully or not; return what it still sent."""
        self.socket.settimeout(timeout * GENEROUS)
        rest = bytearray()
        try:
            while part := self.socket.recv(1 << 16):
                rest += part
        except ConnectionError:
            pass
        return bytes(rest)

    def close(self) -> None:
        """Close; it may be called twice."""
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def exactly(self, size: int) -> bytes:
        """Return so many bytes of what comes, whatever they are; EOFError where the peer closes before."""
        received = bytearray()
        while len(received) < size:
            part = self.socket.recv(min(size - len(received), 1 << 20))
            if not part:
                raise EOFError(f"closed after {len(received)} of {size} bytes")
            received += part
        return bytes(received)
