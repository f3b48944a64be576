"""The admin port and bytes that are nearly HTTP: always HTTP back or nothing, never a fault of kproxy's own."""

from __future__ import annotations

import random

import pytest
import structlog.testing

from kproxy.admin.limits import Limits
from tests.unit.admin.conftest import Start
from tests.unit.admin.raw import exchange, fetch

PIECES = (
    *(
        b"GET ",
        b"HEAD ",
        b"POST ",
        b"CONNECT ",
        b"PRI ",
        b"/livez",
        b"/api/v1/clusters/x",
        b"*",
        b"//[",
        b"?a=b&",
        b"%00",
    ),
    *(b" HTTP/1.1\r\n", b" HTTP/1.0\r\n", b" HTTP/2.0\r\n", b"\r\n", b"\n", b"\r", b"\x00", b" ", b"\xff\x80", b":"),
    *(b"Host: x\r\n", b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n"),
    *(b"Connection: upgrade\r\nUpgrade: h2c\r\n", b"Expect: 100-continue\r\n", b"abc", b"3\r\nabc\r\n", b"0\r\n\r\n"),
    *(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"),
    *(b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", b"\x16\x03\x01\x02\x00", b"\x00\x00\x00\x15\x00\x12\x00\x03"),
)


@pytest.mark.parametrize("seed", range(10))
async def test_pieces_of_http_in_any_order(start: Start, seed: int) -> None:
    """Forty connections of up to eight pieces, ended by the client: no fault is logged, and others are served."""
    port = await start(Limits(linger_seconds=10))
    chance = random.Random(seed)
    with structlog.testing.capture_logs() as log:
        for _ in range(40):
            sent = b"".join(chance.choices(PIECES, k=chance.randint(1, 8)))
            received = await exchange(port, sent, close_our_side=True)
            assert received == b"" or received.startswith(
                (b"HTTP/1.1 2", b"HTTP/1.1 4", b"HTTP/1.1 5", b"HTTP/1.1 100")
            )
            assert b"500 Internal" not in received
        assert (await fetch(port, "/livez")).status == 200
    assert [line for line in log if line["log_level"] in {"warning", "error"}] == []
