"""PROXY headers of strangers, too long, or never whole: nobody gets an address, a broker, or memory by them."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import pytest

from tests.bench.process import raise_file_limit
from tests.support.balancer import binary_header, text_header
from tests.support.bounds import Bounds
from tests.support.proxy import HOST, Proxy
from tests.support.raw import RawClient, api_versions
from tests.support.wait import until

BALANCER: Final = "127.0.0.2"
CLAIMED: Final = "192.0.2.7:4711"
_PATIENCE: Final = 2  # timeouts.first_request here
_CONNECTIONS: Final = 1_000
_BYTES: Final = 1_000  # at 0.1 s each a hundred seconds, and only a part of the header
_MIB: Final = 1 << 20


@pytest.fixture
def proxy(backend: str, tmp_path: Path) -> Iterator[Proxy]:
    """A kproxy that takes headers from 127.0.0.2 alone: clients at 127.0.0.1 are strangers."""
    each = {"proxy_protocol": {"networks": [BALANCER]}}
    timeouts = {"first_request": f"{_PATIENCE}s"}
    with Proxy(tmp_path, {"attacked": backend}, each=each, timeouts=timeouts) as made:
        yield made


def balancer(proxy: Proxy) -> socket.socket:
    """A connection from the address whose headers are taken."""
    return socket.create_connection((HOST, proxy.port()), 10, (BALANCER, 0))


def gone(client: socket.socket) -> bool:
    """Whether kproxy ends the connection, without a byte, in the socket's time."""
    with suppress(ConnectionError):
        return client.recv(1) == b""
    return True


def healthy(proxy: Proxy) -> None:
    """A client without a balancer is served."""
    with RawClient(proxy.port()) as client:
        assert client.ask(api_versions(1))


@pytest.mark.parametrize("header", [text_header(CLAIMED), binary_header(CLAIMED)])
def test_a_strangers_header(proxy: Proxy, header: bytes) -> None:
    """It ends the connection under its own reason, and the claimed address is nowhere."""
    with RawClient(proxy.port()) as client:
        client.send(header, api_versions(1))
        assert client.wait_closed() == b""
    (line,) = until(lambda: proxy.logged(event="connection ended"), "its line")
    assert (line["reason"], line["client"].partition(":")[0]) == ("unexpected_proxy_header", HOST)
    assert "proxy_protocol.networks" in line["detail"]
    assert CLAIMED.partition(":")[0] not in proxy.log.read_text()
    assert proxy.metric("kproxy_protocol_errors_total", reason="unexpected_proxy_header") == 1
    healthy(proxy)


@pytest.mark.parametrize(
    "header",
    [
        b"PROXY TCP4 " + b"1" * 100_000,
        b"PROXY UNKNOWN " + b"x" * 100_000 + b"\r\n",
        binary_header(CLAIMED)[:14] + b"\xff\xff" + bytes(100_000),
    ],
    ids=["no end", "an end too late", "version 2"],
)
def test_100_kb(proxy: Proxy, header: bytes, bounds: Bounds) -> None:
    """It is refused when its size is known, not at a deadline, and none of it is shown whole."""
    began = time.monotonic()
    with balancer(proxy) as client:
        with suppress(ConnectionError):
            client.sendall(header)
        assert gone(client)
    bounds.below(time.monotonic() - began, _PATIENCE, "seconds until the end of the connection")
    (line,) = until(lambda: proxy.logged(event="connection ended", reason="proxy_header"), "its line")
    assert line["detail"].startswith("no PROXY header: ")  # "no whole PROXY header in 2 s", at a deadline
    assert len(str(line)) < 1_000
    healthy(proxy)


def test_half_headers_and_silence(proxy: Proxy) -> None:
    """A thousand end at the deadline, and meanwhile hold no more than 4 KiB each; others are served."""
    raise_file_limit(4 * _CONNECTIONS)
    half = binary_header(CLAIMED)[:14] + b"\x10\x00" + bytes(4_000)  # of 4,096 bytes
    healthy(proxy)
    before, began = proxy.rss, time.monotonic()
    with ExitStack() as stack:
        clients = [stack.enter_context(balancer(proxy)) for _ in range(_CONNECTIONS)]
        for client in clients:
            client.sendall(half)
        healthy(proxy)
        assert proxy.rss - before < 30 * _MIB
        assert all(map(gone, clients))
        assert time.monotonic() - began > _PATIENCE
    until(lambda: proxy.told("proxy_header") == _CONNECTIONS, "all of them told")
    healthy(proxy)


def test_a_header_byte_by_byte(proxy: Proxy, bounds: Bounds) -> None:
    """Bytes that keep coming do not make its time longer."""
    began = time.monotonic()
    with balancer(proxy) as client:
        client.settimeout(0.1)
        for byte in binary_header(CLAIMED)[:14] + b"\x10\x00" + bytes(_BYTES):
            with suppress(TimeoutError):
                if gone(client):
                    break
            with suppress(ConnectionError):
                client.send(bytes([byte]))
        else:
            raise AssertionError("still open behind all of these bytes")
    bounds.below(time.monotonic() - began, 10 * _PATIENCE, "seconds until the end of the connection")
    until(lambda: proxy.logged(event="connection ended", reason="proxy_header"), "its line")
