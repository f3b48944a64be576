"""What connections keep, and for how long: frames that never end, names of any length, lines of the log."""

from __future__ import annotations

import select
import signal
import struct
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from tests.bench.frames import api_versions as greeting
from tests.bench.process import raise_file_limit
from tests.support.bounds import Bounds
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, api_versions, frame, metadata
from tests.support.share import pace, share_of
from tests.support.wait import until

from .attack import pause
from .attacker import FILES
from .requests import JUNK

MAX_NAME: Final = 256
_STORM: Final = 1_000
_AT_ONCE: Final = 100
_LINES: Final = 300
_WAITING: Final = 1_000
_BYTES: Final = 600  # at 0.2 s each two minutes, and only a part of the frame
_TURN_SECONDS: Final = 0.025  # of processor time, in plain Python: some hundred connections


def test_byte_by_byte(proxy: Proxy, bounds: Bounds) -> None:
    """A frame has a deadline as a whole: bytes that keep coming do not make it longer (issue 18, row 6)."""
    data = frame(struct.pack(">hhih", 18, 0, 1, 3_000) + bytes(3_000))
    with RawClient(proxy.port()) as client:
        client.send(data[:14])
        began = time.monotonic()
        for byte in data[14:_BYTES]:
            if select.select([client.socket], [], [], 0.2)[0]:
                break  # kproxy has closed it
            client.send(bytes([byte]))
        else:
            raise AssertionError("still open behind all of these bytes, with stalled_frame: 1s")
        bounds.below(time.monotonic() - began, 30, "seconds until the end of the connection")
        assert client.wait_closed(5) == b""


def test_a_storm_of_connects(proxy: Proxy, bounds: Bounds) -> None:
    """Connections that wait to be accepted wait in turns: a client that is connected is answered first (row 7)."""
    raise_file_limit(FILES)
    with RawClient(proxy.port()) as client, ExitStack() as stack:
        client.ask(api_versions(1))
        client.ask(metadata(2))
        proxy.signal(signal.SIGSTOP)
        try:
            for _ in range(_WAITING):
                stack.enter_context(RawClient(proxy.port())).send(api_versions(1))
            client.send(metadata(3))
        finally:
            proxy.signal(signal.SIGCONT)
        client.receive()
        clock = share_of(proxy.pid)
        taken = [_taken(clock, client, number) for number in range(4, 200)]
    bounds.below(max(taken), _TURN_SECONDS * pace(), "seconds of processor time during a request")


def _taken(clock: Callable[[], float], client: RawClient, correlation_id: int) -> float:
    """Return the processor time that went by during a request."""
    before = clock()
    client.ask(metadata(correlation_id))
    return clock() - before


def test_names_are_cut(proxy: Proxy) -> None:
    """A client id of 30,000 characters is kept as 256 (issue 18, row 6)."""
    data = greeting("i" * 30_000, b"n" * 5_000, b"1")
    with RawClient(proxy.port()) as client:
        client.send(data)
        client.receive()
        (shown,) = until(lambda: proxy.get_json("/api/v1/connections")["connections"], "the connection in the API")
        texts = [value for value in shown.values() if isinstance(value, str)]
        assert "i" * 100 in shown["client_id"]
        assert max(map(len, texts)) <= MAX_NAME
    with RawClient(proxy.port()) as client:
        client.send(data + frame(b"\0"))
        client.wait_closed()
    until(lambda: proxy.logged(event="connection ended"), "the connection's line")
    assert max(map(len, proxy.log.read_text().splitlines())) < 4 * MAX_NAME


def test_lines_in_a_storm(proxy: Proxy) -> None:
    """Connections that end by the thousand do not write a line each, and all of them are counted (row 10)."""
    for number in range(_STORM // _AT_ONCE):
        clients = [RawClient(proxy.port()) for _ in range(_AT_ONCE)]
        for client in clients:
            client.send(JUNK[number % 2])
        for client in clients:
            client.wait_closed()
            client.close()
    until(lambda: proxy.metric("kproxy_connections_closed_total") >= _STORM, "all of them counted")
    pause(0.5)
    assert len(proxy.log.read_text().splitlines()) < _LINES
    with RawClient(proxy.port()) as client:
        assert client.ask(api_versions(1))
