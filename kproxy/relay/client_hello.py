# This module is pure (no I/O, no clock).
"""Reads the server name (SNI) out of a client's first TLS message, before OpenSSL sees any of it.

The acceptor feeds it where several virtual clusters share a port: the name says whose certificate the client is shown.
"""

from __future__ import annotations

from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault

UNRECOGNIZED_NAME: Final = b"\x15\x03\x03\x00\x02\x02\x70"
"""The fatal alert for a name that nobody has (RFC 6066), as a record."""
MAX_HELLO: Final = 16 << 10
"""Bytes of the message: as large as one record may be. Real ones have 200 to 2,000."""
MAX_RECORDS: Final = 64
"""Records over which the message may be spread: each is another look at what has come."""
_HEADER: Final = 5
_HANDSHAKE: Final = b"\x16\x03"
_CLIENT_HELLO: Final = 1
_SHOWN: Final = 100


class ClientHello:
    """The message as it comes; `wants` is how many bytes from the connection's beginning `feed` needs, 0 at the end.

    `name` is the server name then, None where the client names none.
    """

    def __init__(self) -> None:
        self.wants = _HEADER
        self.name: str | None = None
        self._message = bytearray()
        self._begin = 0
        self._records = 0

    def feed(self, data: bytes) -> None:
        """Take all bytes since the connection's beginning; raises `Fault` for what no client of TLS would send."""
        while self.wants and len(data) >= self.wants:
            self._take(data)

    def _take(self, data: bytes) -> None:
        """Take the next record, if it is whole; else want the rest of it."""
        begin = self._begin + _HEADER
        size = int.from_bytes(data[begin - 2 : begin])
        if not data.startswith(_HANDSHAKE, self._begin) or not 0 < size <= MAX_HELLO:
            raise _malformed("a record of it is none of a handshake")
        self.wants = begin + size
        if len(data) < self.wants:
            return
        self._message += data[begin : self.wants]
        self._begin, self.wants, self._records = self.wants, self.wants + _HEADER, self._records + 1
        if self._whole():
            self.name, self.wants = server_name(bytes(self._message[4:])), 0
        elif self._records == MAX_RECORDS:
            raise _malformed(f"it is spread over more than {MAX_RECORDS} records")

    def _whole(self) -> bool:
        """Return True when the message is there, and perhaps more."""
        message = self._message
        if message[0] != _CLIENT_HELLO:
            raise _malformed("the first message is another one")
        size = int.from_bytes(message[1:4])
        if size > MAX_HELLO:
            raise _malformed(f"{size} bytes, and {MAX_HELLO} are allowed")
        return len(message) >= 4 + size


def server_name(body: bytes) -> str | None:
    """Return the name that a ClientHello's body asks for, one character for each byte; None without one.

    Raises `Fault` for a body whose lengths are wrong.
    """
    hello = _Vectors(body)
    hello.take(2 + 32)  # version, random
    hello.vector(1)  # session id
    hello.vector(2)  # cipher suites
    hello.vector(1)  # compression methods
    extensions = _Vectors(hello.vector(2) if hello.left else b"")
    while extensions.left:
        kind, content = int.from_bytes(extensions.take(2)), extensions.vector(2)
        if kind == 0:
            return _host_name(content)
    return None


def _host_name(extension: bytes) -> str | None:
    names = _Vectors(_Vectors(extension).vector(2))
    while names.left:
        kind, name = names.take(1), names.vector(2)
        if kind == b"\0":
            return name.decode("latin-1") or None
    return None


def shown(name: str) -> str:
    """Return a name of a stranger for people: printable, in quotation marks, and not long."""
    return ascii(name) if len(name) <= _SHOWN else f"{name[:_SHOWN]!a}…"


class _Vectors:
    """Bytes that begin with their length, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        if size > self.left:
            raise _malformed("a length in it is too large")
        self._at += size
        return self._data[self._at - size : self._at]

    def vector(self, width: int) -> bytes:
        """Return the bytes behind a length of so many bytes."""
        return self.take(int.from_bytes(self.take(width)))


def _malformed(why: str) -> Fault:
    return Fault(Reason.TLS_FAILED, f"the client's hello is malformed: {why}")
