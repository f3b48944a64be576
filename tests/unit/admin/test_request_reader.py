"""kproxy.admin.request_reader: steps of bounded work, whatever is in the bytes."""

from __future__ import annotations

import h11
import pytest

from kproxy.admin.limits import Limits
from kproxy.admin.message import HttpError
from kproxy.admin.request_reader import RequestReader, Step

POST = b"POST /x?a=b HTTP/1.1\r\nHost: x\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


def reader(limits: Limits | None = None) -> RequestReader:
    """A reader of a new connection."""
    limits = limits or Limits()
    http = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.header_bytes)
    made = RequestReader(http, limits)
    made.begin()
    return made


def status_of(*parts: bytes, limits: Limits | None = None) -> int:
    """The status of the error to which these parts lead, 0 when they lead to none."""
    reads = reader(limits)
    try:
        for part in parts:
            reads.receive(part)
            while reads.step() is Step.AGAIN:
                pass
    except HttpError as error:
        return error.status
    return 0


def test_a_request_in_parts() -> None:
    """More is asked for until all is there."""
    reads = reader()
    for part in (b"POST /x?a=b HT", b"TP/1.1\r\nHost: x\r\nA: 1\r\na: 2\r\nContent-Length: 4\r\n\r\n", b"{}"):
        reads.receive(part)
        assert reads.step() is Step.DATA
    reads.receive(b"  ")
    assert reads.step() is Step.DONE
    request = reads.request()
    assert (request.method, request.path, request.query, request.body) == ("POST", "/x", {"a": "b"}, b"{}  ")
    assert request.headers["a"] == "1, 2"


def test_many_chunks_take_many_steps() -> None:
    """1,000 chunks of one byte in one read: others have their turn about every thirty of them."""
    reads, steps = reader(), 0
    reads.receive(CHUNKED + b"1\r\na\r\n" * 1000 + b"0\r\n\r\n")
    while reads.step() is Step.AGAIN:
        steps += 1
    assert steps >= 30
    assert reads.request().body == b"a" * 1000


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ([b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 99 + b"\r\n"], 0),
        ([b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 100 + b"\r\n"], 431),
        ([b"GET / HTTP/1.1\nHost: x\n" + b"a: b\n" * 2000 + b"\n"], 431),
        ([b"GET / HTTP/1.1\r\nHost: x\r\n", *([b"a: b\r\n"] * 1000), b"\r\n"], 431),
        ([POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"], 400),
        ([POST + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"], 400),
        ([b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"], 400),
        ([POST + b"Transfer-Encoding: chunked, identity\r\n\r\n"], 501),
        ([POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"], 501),
        ([POST + b"Transfer-Encoding : chunked\r\n\r\n"], 400),
        ([POST + b"Content-Length: +3\r\n\r\n"], 400),
        ([POST + b"Content-Length: 3, 4\r\n\r\n"], 400),
        ([POST + b"Content-Length: 0x3\r\n\r\n"], 400),
        ([POST + b"Content-Length: 65537\r\n\r\n"], 413),
        ([POST + b"Content-Length: 65536\r\n\r\n"], 0),
        ([CHUNKED, *([b"1000\r\n" + bytes(0x1000) + b"\r\n"] * 17)], 413),
        ([CHUNKED, *([b"1;" + b"e" * 10_000 + b"\r\na\r\n"] * 55)], 413),
        ([CHUNKED, b"1;" + b"e" * 20_000], 431),
        ([CHUNKED, b"0\r\n", b"A: b\r\n" * 10_000], 431),
        ([CHUNKED, b"-1\r\n"], 400),
        ([b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], 505),
        ([b"\r\n\r\n"], 400),
        ([b"\x16\x03\x01\x02\x00\x01\x00"], 400),
    ],
)  # fmt: skip
def test_what_is_refused(parts: list[bytes], status: int) -> None:
    """Framing that two servers may read as two different requests, and all that never ends."""
    assert status_of(*parts) == status


def test_tls_is_named() -> None:
    """The reason says what to do: curl with https:// is the most frequent mistake."""
    reads = reader()
    reads.receive(b"\x16\x03\x01\x02\x00\x01\x00")
    with pytest.raises(HttpError, match="this is TLS; the admin port speaks plain HTTP: use http://"):
        reads.step()
