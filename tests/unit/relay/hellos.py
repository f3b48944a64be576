"""Hellos of TLS clients, made by OpenSSL or by hand."""

from __future__ import annotations

import ssl
from collections.abc import Sequence

RECORD = b"\x16\x03\x01"


def openssl_hello(name: str | None, *, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> bytes:
    """Return what OpenSSL sends first when it asks for a name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.maximum_version = version
    received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(received, sent, server_hostname=name)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return sent.read()
    raise AssertionError("a handshake without a server")


def vector(width: int, content: bytes) -> bytes:
    """Return bytes behind their length."""
    return len(content).to_bytes(width) + content


def server_name(*names: tuple[int, bytes]) -> bytes:
    """Return the extension that asks for names, each with its type."""
    listed = b"".join(bytes([kind]) + vector(2, name) for kind, name in names)
    return b"\0\0" + vector(2, vector(2, listed))


def body(*extensions: bytes) -> bytes:
    """Return the body of a ClientHello; without extensions it ends before they would begin."""
    begin = b"\x03\x03" + bytes(32) + vector(1, bytes(32)) + vector(2, b"\x13\x01") + vector(1, b"\0")
    return begin + (vector(2, b"".join(extensions)) if extensions else b"")


def message(content: bytes, kind: int = 1) -> bytes:
    """Return a message of the handshake."""
    return bytes([kind]) + vector(3, content)


def records(content: bytes, sizes: Sequence[int] = ()) -> bytes:
    """Return a message in records of these sizes, the rest in one of its own."""
    parts, at = [], 0
    for size in sizes:
        parts.append(content[at : at + size])
        at += size
    return b"".join(RECORD + vector(2, part) for part in (*parts, content[at:]) if part)


PADDING = b"\0\x15"


def large(size: int, name: bytes = b"a.example.com") -> bytes:
    """Return a hello of about so many bytes, with the name at its end."""
    return message(body(PADDING + vector(2, bytes(size)), server_name((0, name))))
