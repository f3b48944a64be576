"""kproxy.relay.proxy_header: whose connection a load balancer passes on."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address, IPv6Address

import pytest

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.relay.proxy_header import MOST, ProxyHeader

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
KAFKA = b"\0\0\0\x0a"


def binary(command: int, family: int, body: bytes) -> bytes:
    """A header of version 2."""
    return SIGNATURE + struct.pack(">BBH", command, family, len(body)) + body


TCP4 = IPv4Address("10.0.0.9").packed + IPv4Address("10.0.0.1").packed + struct.pack(">HH", 1234, 9092)
TCP6 = IPv6Address("2001:db8::9").packed + IPv6Address("2001:db8::1").packed + struct.pack(">HH", 1234, 9092)
MAPPED = IPv6Address("::ffff:10.0.0.9").packed + TCP6[16:]
LONGEST = b"PROXY TCP6 " + b" ".join([b":".join([b"ffff"] * 8)] * 2) + b" 65535 65535\r\n"
HEADERS: list[tuple[bytes, str | None]] = [
    (b"PROXY TCP4 10.0.0.9 10.0.0.1 1234 9092\r\n", "10.0.0.9:1234"),
    (b"PROXY TCP6 2001:db8::9 2001:db8::1 1234 9092\r\n", "[2001:db8::9]:1234"),
    (LONGEST, "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"),
    (b"PROXY TCP6 ::ffff:10.0.0.9 2001:db8::1 1234 9092\r\n", "10.0.0.9:1234"),
    (b"PROXY UNKNOWN\r\n", None),
    (b"PROXY UNKNOWN ffff::1 ffff::2 1 2 and more\r\n", None),
    (binary(0x21, 0x11, TCP4), "10.0.0.9:1234"),
    (binary(0x21, 0x21, TCP6), "[2001:db8::9]:1234"),
    (binary(0x21, 0x21, MAPPED), "10.0.0.9:1234"),
    (binary(0x21, 0x11, TCP4 + b"\x03\0\x04abcd"), "10.0.0.9:1234"),
    (binary(0x21, 0x11, TCP4 + bytes(MOST - 28)), "10.0.0.9:1234"),
    (binary(0x20, 0x00, b""), None),
    (binary(0x20, 0x11, TCP4), None),
    (binary(0x21, 0x00, b""), None),
    (binary(0x21, 0x31, bytes(216)), None),
]
WRONG = [
    KAFKA, b"GET / HTTP/1.1\r\n", b"\x16\x03\x01", b"PROXX", b"\r\n\r\n\0\r\nQUIT\0",
    b"PROXY TCP4 10.0.0.9 10.0.0.1 1234\r\n",
    b"PROXY TCP5 10.0.0.9 10.0.0.1 1234 9092\r\n",
    b"PROXY \r\n",
    b"PROXY TCP4 10.0.0.9  10.0.0.1 1234 9092\r\n",
    b"PROXY TCP4 10.0.0.999 10.0.0.1 1234 9092\r\n",
    b"PROXY TCP4 ::1 ::1 1234 9092\r\n",
    b"PROXY TCP6 fe80::1%\x1b[31m fe80::2 1234 9092\r\n",
    b"PROXY TCP6 10.0.0.9 10.0.0.1 1234 9092\r\n",
    b"PROXY TCP4 10.0.0.9 10.0.0.1 65536 9092\r\n",
    b"PROXY TCP4 10.0.0.9 10.0.0.1 12 -1\r\n",
    "PROXY TCP4 10.0.0.9 10.0.0.1 1234 \u00b2\r\n".encode("latin-1"),
    b"PROXY UNKNOWN " + b"x" * 100,
    binary(0x11, 0x11, TCP4), binary(0x31, 0x11, TCP4), binary(0x22, 0x11, TCP4),
    binary(0x21, 0x11, TCP4[:-1]), binary(0x21, 0x21, TCP4), binary(0x21, 0x41, TCP4),
    SIGNATURE + struct.pack(">BBH", 0x21, 0x11, MOST - 15),
]  # fmt: skip


@pytest.mark.parametrize(("header", "source"), HEADERS)
def test_at_once(header: bytes, source: str | None) -> None:
    """What is behind it is the client's."""
    read = ProxyHeader()
    assert read.feed(header + KAFKA) == len(header)
    assert (read.done, read.source) == (True, source)


@pytest.mark.parametrize(("header", "source"), HEADERS)
def test_byte_by_byte(header: bytes, source: str | None) -> None:
    """No byte too many is taken, and it is done with the last one."""
    read = ProxyHeader()
    for byte in header:
        assert not read.done
        assert read.feed(bytes([byte])) == 1
    assert (read.done, read.source) == (True, source)


@pytest.mark.parametrize("data", WRONG)
def test_what_is_no_header(data: bytes) -> None:
    """It is refused when it is there, or sooner, and says what it begins with."""
    with pytest.raises(Fault, match="no PROXY header: ") as caught:
        ProxyHeader().feed(data)
    assert caught.value.reason is Reason.PROXY_HEADER


def test_the_limits_of_size() -> None:
    """Version 1 has at most 107 bytes; of version 2 nothing is held beyond the length that is refused."""
    assert len(LONGEST) <= 107
    read = ProxyHeader()
    assert read.feed(b"PROXY UNKNOWN ".ljust(106, b"x")) == 106
    with pytest.raises(Fault):
        read.feed(b"x")
