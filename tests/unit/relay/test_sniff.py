"""Other protocols, recognized by their first bytes."""

from __future__ import annotations

import pytest

from kproxy.observe.reasons import Reason
from kproxy.relay.sniff import foreign_protocol, no_hello, no_plaintext, no_request
from tests.unit.relay import frames

STRANGE = "a PROXY header is taken once, and from proxy_protocol.networks alone: list its sender, or switch it off"


@pytest.mark.parametrize("first", [b"\x16\x03\x01", b"\x16\x03\x03\x00\x7a\x01", b"\x16\x03"])
def test_a_tls_hello(first: bytes) -> None:
    """A record of a handshake, of any version of TLS."""
    assert foreign_protocol(first) is Reason.TLS_ON_PLAINTEXT


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "PATCH"])
def test_http(method: str) -> None:
    """HTTP/1 is known by its method."""
    assert foreign_protocol(f"{method} / HTTP/1.1".encode()) is Reason.HTTP_ON_KAFKA_PORT


def test_http2() -> None:
    """Its preface, sent without TLS by prior knowledge."""
    assert foreign_protocol(b"PRI * HTTP/2.0\r\n\r\n") is Reason.HTTP_ON_KAFKA_PORT


@pytest.mark.parametrize("first", [b"", b"\x16", b"G", b"GETTING", b"\x15\x03", b"\0\0\0\x20\0\x12\0\4", b"get / "])
def test_what_may_be_kafka(first: bytes) -> None:
    """Too few bytes to decide, or nothing that is known."""
    assert foreign_protocol(first) is None


def test_no_request_of_kafkas_is_taken_for_another() -> None:
    """A request of any API and version."""
    keys = [*range(4), *range(8, 95)]
    assert all(foreign_protocol(frames.raw_request(key, version, 1)) is None for key in keys for version in range(20))


@pytest.mark.parametrize(
    ("first", "size", "reason", "detail"),
    [
        (b"\x16\x03\x01", 5, Reason.TLS_ON_PLAINTEXT, "the client does not speak Kafka in plaintext"),
        (b"GET / HTTP/1.1", 5, Reason.HTTP_ON_KAFKA_PORT, "the client does not speak Kafka in plaintext"),
        (b"PROXY TCP4 ", 5, Reason.UNEXPECTED_PROXY_HEADER, STRANGE),
        (b"\r\n\r\n\0\r\nQUIT\n", 5, Reason.UNEXPECTED_PROXY_HEADER, STRANGE),
        (b"\0\0\0\x0b", 11, Reason.FRAME_TOO_LARGE, "a request of 11 bytes, the limit is 10"),
        (b"\xff\xff\xff\xff", -1, Reason.INVALID_FRAME_SIZE, "a request of -1 bytes"),
    ],
)
def test_why_it_is_no_request(first: bytes, size: int, reason: Reason, detail: str) -> None:
    """Another protocol's reason goes before the impossible size that it has in Kafka's framing."""
    fault = no_request(first, size, limit=10)
    assert (fault.reason, fault.detail) == (reason, detail)


@pytest.mark.parametrize("first", [b"PROXY TCP4 10.0.0.9 ", b"\r\n\r\n\0\r\nQUIT\n\x21\x11"])
def test_what_to_do_about_a_header_from_elsewhere(first: bytes) -> None:
    """The fault names the setting, on a plaintext port and on one with TLS."""
    for fault in (no_plaintext(first), no_hello(first)):
        assert fault is not None
        assert (fault.reason, fault.detail) == (Reason.UNEXPECTED_PROXY_HEADER, STRANGE)


def test_what_is_not_refused() -> None:
    """A request of Kafka's where there is no TLS, and a hello where there is."""
    assert no_plaintext(frames.raw_request(18, 0, 1)) is None
    assert no_hello(b"\x16\x03\x01") is None
