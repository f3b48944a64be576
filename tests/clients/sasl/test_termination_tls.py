"""Clients that authenticate to kproxy over TLS, at a real broker: the broker sees those that have a right password."""

from __future__ import annotations

import socket
import ssl
import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from kproxy.wire.primitives import frame
from tests.clients.sasl.test_principals import command
from tests.clients.sasl.test_termination import CLIENT_PASSWORD, IDENTITY, lasting, users_file
from tests.support.authority import Authority
from tests.support.client import running
from tests.support.proxy import HOST, Proxy
from tests.support.secured import Secured
from tests.support.wait import stays, until

__all__ = ["lasting"]
NAME: Final = "carol"
MECHANISMS: Final = ["PLAIN", "SCRAM-SHA-512"]
CLIENTS: Final = ["confluent_kafka", "kafka_python"]
WRONG: Final = f"not-{CLIENT_PASSWORD}"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Who has signed kproxy's certificate."""
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def terminating(lasting: Secured, authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Yield a kproxy that clients authenticate to over TLS alone; it polls the broker once, to leave it in peace."""
    directory, own = tmp_path_factory.mktemp("termination"), authority.signed("kproxy")
    each = {
        "tls": {"certificate": str(own.chain), "key": str(own.key)},
        "authentication": {"mechanisms": MECHANISMS, "users_file": str(users_file(directory, NAME))},
        "identity": IDENTITY,
    }
    rare = {"interval": "10m"}
    timeouts = {"first_request": "2s", "tls_handshake": "2s"}
    with Proxy(directory, {"secured": lasting.bootstrap}, each=each, topology=rare, timeouts=timeouts) as proxy:
        proxy.hides(CLIENT_PASSWORD, "a client's password")
        until(lambda: proxy.get("/readyz?strict")[0] == 200, "ready, strictly")
        yield proxy


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_wrong_password(
    terminating: Proxy, lasting: Secured, authority: Authority, tmp_path: Path, client: str, mechanism: str
) -> None:
    """The broker sees nothing of a client that tries again and again; one with the right password is its next guest."""
    name = f"{client}-{mechanism}"
    login = {"mechanism": mechanism, "user": NAME, "ca": str(authority.file), "bootstrap": terminating.bootstrap()}
    before = lasting.accepted
    with running(command(client, client_id=f"wrong-{name}", password=WRONG, **login), tmp_path):
        refused = until(lambda: _refusals(terminating, f"wrong-{name}", 2), "it is refused twice", 30)
        assert {line["detail"] for line in refused} == {f"{mechanism}: the user is unknown or the password is wrong"}
        assert not any("principal" in line for line in refused)
    stays(lambda: lasting.accepted == before, "the broker is left in peace", 0.5)
    with running(command(client, client_id=f"right-{name}", password=CLIENT_PASSWORD, **login), tmp_path) as right:
        until(lambda: any("connected" in line for line in right.lines()), "it is connected", 30)
        until(lambda: lasting.accepted > before, "its connections at the broker")
        assert until(lambda: lasting.principals(f"right-{name}"), "the broker's view") == {"User:bob"}
    assert lasting.principals(f"wrong-{name}") == set()


def _refusals(proxy: Proxy, client_id: str, at_least: int) -> list[dict[str, str]]:
    found = proxy.logged(event="connection ended", client_id=client_id, reason="authentication_failed")
    return found if len(found) >= at_least else []


def test_nothing_reaches_the_broker_before(terminating: Proxy, lasting: Secured, authority: Authority) -> None:
    """Who ends, waits, asks or guesses costs the broker no connection; who logs in costs it one."""
    trusting = ssl.create_default_context(cafile=str(authority.file))
    reasons = Counter(reason for _, reason in _STRANGERS)
    before, told = lasting.accepted, _told(terminating, reasons)
    with ExitStack() as stack:
        strangers = [stack.enter_context(_connected(terminating, trusting)) for _ in _STRANGERS]
        for stranger, (sent, _) in zip(strangers, _STRANGERS, strict=True):
            stranger.sendall(sent)
        for stranger in strangers:
            _wait_ended(stranger)
    until(lambda: _told(terminating, reasons) == told + reasons, "their reasons in the log")
    with _connected(terminating, trusting) as client:
        client.sendall(_SHAKE + _say(CLIENT_PASSWORD))
        until(lambda: lasting.accepted > before, "the connection of who has logged in")
        stays(lambda: lasting.accepted == before + 1, "its connection is the only one", 0.5)


def _told(proxy: Proxy, reasons: Iterable[str]) -> Counter[str]:
    return Counter({reason: proxy.told(reason) for reason in reasons})


def _request(key: int, body: bytes) -> bytes:
    return frame(struct.pack(">hhih", key, 1, 1, -1), body)


def _say(password: str) -> bytes:
    message = f"\0{NAME}\0{password}".encode()
    return _request(36, len(message).to_bytes(4, "big") + message)


_SHAKE: Final = _request(17, b"\0\x05PLAIN")
_STRANGERS: Final = [
    (b"\0\0", "authentication_timeout"),
    (_SHAKE, "authentication_timeout"),
    (_request(18, b""), "authentication_timeout"),
    (_request(3, b"\0\0\0\0"), "unauthenticated_request"),
    (_SHAKE + _request(3, b"\0\0\0\0"), "unauthenticated_request"),
    (b"\x7f\xff\xff\xff", "frame_too_large"),
    (_SHAKE + _say(WRONG), "authentication_failed"),
    (_say(CLIENT_PASSWORD), "authentication_failed"),
]
"""What a client sends, and why kproxy ends it."""


def _connected(proxy: Proxy, trusting: ssl.SSLContext) -> ssl.SSLSocket:
    plain = socket.create_connection((HOST, proxy.port()), 10)
    return trusting.wrap_socket(plain, server_hostname=HOST)


def _wait_ended(client: ssl.SSLSocket) -> None:
    """Read until kproxy ends the connection."""
    try:
        while client.recv(4096):
            pass
    except ConnectionError:
        pass
