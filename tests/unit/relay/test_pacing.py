"""The acceptor's pacing, over real sockets, since it is the kernel that paces."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kproxy.relay import socket_options as pacing
from kproxy.relay.socket_options import unpace
from tests.unit.relay.sockets import HOST

ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")


@contextmanager
def accepted(source: str) -> Iterator[socket.socket]:
    """A client's connection as the server has it; `source` is the client's own address."""
    with socket.create_server((HOST, 0)) as listener:
        client = socket.create_connection(listener.getsockname(), 30, source_address=(source, 0))
        taken, _ = listener.accept()
    with client, taken:
        yield taken


def control(sock: socket.socket) -> bytes:
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0")


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, bytes]:
    """The system's own congestion control, taken for one that paces, and another one, taken for the plain one."""
    with accepted(HOST) as client:
        own = control(client)
    others = [each for each in ALLOWED.read_bytes().split() if each != own]
    assert others, f"this system allows {own.decode()} only: sysctl net.ipv4.tcp_allowed_congestion_control"
    monkeypatch.setattr(pacing, "_PACING", own)
    monkeypatch.setattr(pacing, "_PLAIN", others[0])
    return own, others[0]


def test_a_client_on_the_same_machine_is_not_paced(ways: tuple[bytes, bytes]) -> None:
    """There is no network between that could be congested."""
    with accepted(HOST) as client:
        unpace(client)
        assert control(client) == ways[1]


def test_a_client_elsewhere_is_paced_as_the_system_will_have_it(ways: tuple[bytes, bytes]) -> None:
    """It connects from another address."""
    with accepted("127.0.0.2") as client:
        unpace(client)
        assert control(client) == ways[0]


def test_what_does_not_pace_stays(ways: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's own choice stays where it costs nothing."""
    monkeypatch.setattr(pacing, "_PACING", b"another")
    with accepted(HOST) as client:
        unpace(client)
        assert control(client) == ways[0]


def test_a_client_that_is_gone() -> None:
    """The next read finds out."""
    with accepted(HOST) as client:
        client.close()
        unpace(client)


def test_the_names_are_the_kernel_s() -> None:
    """Every process may choose the plain one; the one that paces may be missing."""
    with accepted(HOST) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, pacing._PLAIN)
        assert control(client) == b"reno"
