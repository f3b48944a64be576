"""kproxy.relay.client_hello: the name in a client's first message, whatever way it comes."""

from __future__ import annotations

import ssl

import pytest

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.relay.client_hello import MAX_HELLO, MAX_RECORDS, ClientHello, server_name, shown
from tests.unit.relay import hellos
from tests.unit.relay.hellos import body, large, message, openssl_hello, records, vector

NAME = "broker-7.orders.example.com"
TLS_1_2, TLS_1_3 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


def read(data: bytes, step: int | None = None) -> ClientHello:
    """Feed a hello, `step` bytes more at a time; by default only what it wants."""
    hello, known = ClientHello(), 0
    while hello.wants:
        assert known < len(data), f"wants {hello.wants} of {len(data)} bytes"
        known = min(len(data), hello.wants if step is None else known + step)
        hello.feed(data[:known])
    return hello


def refused(data: bytes) -> str:
    """Return the detail with which bytes are refused."""
    with pytest.raises(Fault) as caught:
        read(data)
    assert caught.value.reason is Reason.TLS_FAILED
    return caught.value.detail


@pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3])
@pytest.mark.parametrize("name", [NAME, None])
def test_hellos_of_openssl(name: str | None, version: ssl.TLSVersion) -> None:
    """The name is found, and that there is none; so it is byte by byte, and in one with bytes behind it."""
    data = openssl_hello(name, version=version)
    assert read(data).name == read(data, 1).name == read(data + b"more", len(data) + 4).name == name


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1, 1), (4,), (5, 200), (40,) * 6])
def test_a_hello_over_several_records(sizes: tuple[int, ...]) -> None:
    """TLS allows it, also within the length of the message."""
    data = records(openssl_hello(NAME)[5:], sizes)
    assert read(data).name == read(data, 7).name == NAME


def test_a_large_hello() -> None:
    """It may fill a record, as none does that a client sends; more is refused before it is waited for."""
    assert read(records(large(MAX_HELLO - 200), (9000,))).name == "a.example.com"
    assert refused(records(b"\x01" + (MAX_HELLO + 1).to_bytes(3))).endswith("16385 bytes, and 16384 are allowed")


def test_a_hello_in_too_many_records() -> None:
    """Each record is another look: a byte in each would have kproxy look 16,384 times."""
    small = openssl_hello(NAME)[5:]
    assert read(records(small, (1,) * (MAX_RECORDS - 1))).name == NAME
    assert refused(records(small, (1,) * MAX_RECORDS)).endswith(f"spread over more than {MAX_RECORDS} records")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"GET / HTTP/1.1", "a record of it is none of a handshake"),
        (b"\x16\x02\x00\x00\x05", "a record of it is none of a handshake"),
        (b"\x16\x03\x01\x00\x00", "a record of it is none of a handshake"),
        (b"\x16\x03\x01\x40\x01", "a record of it is none of a handshake"),
        (
            records(openssl_hello(NAME)[5:], (40,))[:45] + b"\x17\x03\x03\x00\x01x",
            "a record of it is none of a handshake",
        ),
        (records(message(body(), kind=2)), "the first message is another one"),
        (records(message(b"\x03\x03")), "a length in it is too large"),
        (records(message(body()[:-1])), "a length in it is too large"),
        (records(message(body() + b"\x00\x09\x00\x00")), "a length in it is too large"),
        (records(message(body(b"\0\0" + vector(2, b"\0\x09\0")))), "a length in it is too large"),
        (records(message(body(b"\0\0" + vector(2, vector(2, b"\0\0\x09a"))))), "a length in it is too large"),
    ],
    ids=lambda given: given if isinstance(given, str) else f"{len(given)} bytes",
)
def test_what_is_no_hello(data: bytes, why: str) -> None:
    """A length that lies, or another message, is refused; nothing is looked at twice or waited for."""
    assert refused(data) == f"the client's hello is malformed: {why}"


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (body(), None),
        (body(b"\0\x0a\0\0"), None),
        (body(b"\0\x0a" + vector(2, b"\0\x1d"), hellos.server_name((0, b"a"))), "a"),
        (body(hellos.server_name((1, b"other"), (0, b"a"), (0, b"b"))), "a"),
        (body(hellos.server_name((1, b"other"))), None),
        (body(hellos.server_name()), None),
        (body(hellos.server_name((0, b""))), None),
        (body(hellos.server_name((0, b"\xff\0\n"))), "\xff\0\n"),
    ],
)
def test_extensions(content: bytes, name: str | None) -> None:
    """The first host name counts, and no other type of name; strange bytes stay what they are."""
    assert server_name(content) == name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (NAME, f"'{NAME}'"),
        ("a\nb\x1b[31m\xff'", '"a\\nb\\x1b[31m\\xff\'"'),
        ("x" * 65_535, f"'{'x' * 100}'…"),
    ],
)
def test_a_name_for_people(name: str, text: str) -> None:
    """No control character reaches a terminal, and a line stays short."""
    assert shown(name) == text
