"""Clients authenticate to kproxy, kproxy to a real broker by its identity: who is no user reaches no broker."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest
from confluent_kafka import KafkaError, Producer

from kproxy.authentication.users import credential, text_of
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.primitives import frame
from tests.clients.sasl.shown import check_secrets
from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.proxy import HOST, KPROXY, Proxy
from tests.support.secured import PASSWORD, Secured, secured
from tests.support.wait import stays, until

IDENTITY = {"mechanism": "SCRAM-SHA-512", "username": "bob", "password": PASSWORD}
CLIENT_PASSWORD = "known-to-kproxy-alone"
"""No broker knows it, and no log may show it."""
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
COUNT = 200


@pytest.fixture(scope="module")
def lasting() -> Iterator[Secured]:
    """Yield a broker that ends no session."""
    with secured({"listener.name.front.connections.max.reauth.ms": "0"}) as found:
        yield found


def users_file(directory: Path, *names: str) -> Path:
    """Write a file of these users."""
    file = directory / "users"
    made = [
        (name, credential(mechanism, CLIENT_PASSWORD, os.urandom(16), 4096))
        for name in names
        for mechanism in MECHANISMS[1:]
    ]
    file.write_text(text_of(made))
    return file


def authenticating(file: Path, **settings: Any) -> dict[str, Any]:
    """Return the settings of a virtual cluster whose clients are in the file."""
    asked = {"mechanisms": MECHANISMS, "users_file": str(file), "dangerously_accept_secrets_without_tls": True}
    return {"identity": IDENTITY, "authentication": {**asked, **settings}}


@dataclass
class Told:
    """What librdkafka has told its user of errors."""

    errors: list[KafkaError]

    def __call__(self, error: KafkaError) -> None:
        self.errors.append(error)

    def says(self, text: str) -> bool:
        return any(text in error.str() for error in self.errors)


def producer(proxy: Proxy, mechanism: str, password: str, told: Told | None = None, name: str = "carol") -> Producer:
    """Return librdkafka's producer with this login."""
    login = {"sasl.mechanism": mechanism, "sasl.username": name, "sasl.password": password}
    settings = {"bootstrap.servers": proxy.bootstrap(), "client.id": f"of-{mechanism}", "log_level": 0}
    callback = {"error_cb": told or Told([])}
    return Producer({**settings, "security.protocol": "SASL_PLAINTEXT", "acks": "all", **login, **callback})


def _polled(client: Producer, told: Told) -> Told:
    client.poll(0.1)
    return told


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_librdkafka(lasting: Secured, tmp_path: Path, mechanism: str) -> None:
    """A user that only kproxy knows produces; to the broker it is kproxy's identity; a wrong password is told."""
    topic = Backend(lasting.cluster).topic(1, 1)
    log = {"format": "json", "level": "debug"}
    each = authenticating(users_file(tmp_path, "carol"))
    with Proxy(tmp_path, {"secured": lasting.bootstrap}, each=each, topology={"interval": "1s"}, log=log) as proxy:
        proxy.looks.append(check_secrets)
        proxy.hides(CLIENT_PASSWORD, "a client's password")
        until(lambda: proxy.get("/readyz?strict")[0] == 200, "ready, strictly")
        client = producer(proxy, mechanism, CLIENT_PASSWORD)
        for number in range(COUNT):
            client.produce(topic, str(number).encode())
        assert client.flush(30) == 0
        assert until(lambda: lasting.principals(f"of-{mechanism}"), "the broker's view") == {"User:bob"}
        assert Backend(lasting.cluster).end_offsets(topic) == {0: COUNT}
        told = Told([])
        refused = producer(proxy, mechanism, f"not-{CLIENT_PASSWORD}", told)
        until(lambda: _polled(refused, told).says("invalid credentials"), "librdkafka tells its user")
        assert {error.code() for error in told.errors} <= {KafkaError._AUTHENTICATION, KafkaError._ALL_BROKERS_DOWN}
        until(lambda: proxy.told("authentication_failed") >= 1, "the refusal in the log")
        assert f"{mechanism}: the user is unknown" in proxy.log.read_text()
    assert '"principal":"User:carol"' in proxy.log.read_text()


def test_the_users_change_while_kproxy_runs(lasting: Secured, tmp_path: Path) -> None:
    """A user that is added may come, one that is removed may not; a file that is cut changes nothing and is told."""
    file = users_file(tmp_path, "carol")
    settings: dict[str, Any] = {"topology": {"interval": "1s"}, "reload": {"interval": "1s"}}
    with Proxy(tmp_path, {"secured": lasting.bootstrap}, each=authenticating(file), **settings) as proxy:
        until(lambda: proxy.get("/readyz?strict")[0] == 200, "ready, strictly")
        assert not _may("dave", proxy)
        command = [KPROXY, "users", "add", "--file", str(file), "dave"]
        subprocess.run(command, input=CLIENT_PASSWORD, text=True, check=True, timeout=30)
        until(lambda: _may("dave", proxy), "the new user may come")
        whole = file.read_text()
        file.write_text(whole[:-20])
        (refused,) = until(lambda: proxy.logged(event="reload refused, nothing has changed"), "the refusal")
        assert "authentication.users_file" in refused["reason"]
        assert "it is not whole" in refused["reason"]
        assert _may("dave", proxy)
        file.write_text(whole)
        subprocess.run([KPROXY, "users", "remove", "--file", str(file), "dave"], check=True, timeout=30)
        until(lambda: not _may("dave", proxy), "the removed user may not come")
        assert _may("carol", proxy)


def _may(name: str, proxy: Proxy) -> bool:
    with Login(proxy.port()) as client:
        try:
            client.log_in(name, CLIENT_PASSWORD)
        except PermissionError:
            return False
        return bool(client.ask(_request(18, 0, b"")))


def test_a_session_is_renewed_on_its_connection(lasting: Secured, tmp_path: Path) -> None:
    """Sessions last 4 s; a producer of librdkafka goes on for 12 s on the connections that it has (KIP-368)."""
    topic = Backend(lasting.cluster).topic(1, 1)
    each = authenticating(users_file(tmp_path, "carol"), session_lifetime="4s")
    with Proxy(tmp_path, {"secured": lasting.bootstrap}, each=each, topology={"interval": "1s"}) as proxy:
        told = Told([])
        client = producer(proxy, "SCRAM-SHA-512", CLIENT_PASSWORD, told)
        deadline, sent = time.monotonic() + 12, 0
        while time.monotonic() < deadline:
            client.produce(topic, str(sent).encode())
            sent += 1
            assert client.flush(10) == 0
            client.poll(0.05)
        assert not told.errors
        assert proxy.told("session_expired") == 0
        assert Backend(lasting.cluster).end_offsets(topic) == {0: sent}
        assert proxy.metric("kproxy_requests_total", api="SaslAuthenticate") >= 4
        assert proxy.metric("kproxy_connections_active") <= 3


def test_a_session_that_is_not_renewed_ends(lasting: Secured, tmp_path: Path, bounds: Bounds) -> None:
    """A client that authenticates once, and then only asks, is disconnected after 2 s."""
    each = authenticating(users_file(tmp_path, "carol"), session_lifetime="2s")
    with Proxy(tmp_path, {"secured": lasting.bootstrap}, each=each, topology={"interval": "1s"}) as proxy:
        until(lambda: proxy.get("/readyz?strict")[0] == 200, "ready, strictly")
        with Login(proxy.port()) as client:
            begun = time.monotonic()
            assert client.log_in("carol", CLIENT_PASSWORD) == 2000
            until(lambda: not client.ask(_request(18, 0, b"")), "the end of the session", every=0.1)
            took = time.monotonic() - begun
            assert took > 1.9
            bounds.below(took, 5, "seconds until the end of the session")
        until(lambda: proxy.told("session_expired") == 1, "the reason in the log")


def test_somebody_else_on_the_same_connection(lasting: Secured, tmp_path: Path) -> None:
    """Who authenticates again as another user, with the right password, is refused and disconnected."""
    each = authenticating(users_file(tmp_path, "carol", "dave"))
    with Proxy(tmp_path, {"secured": lasting.bootstrap}, each=each, topology={"interval": "1s"}) as proxy:
        until(lambda: proxy.get("/readyz?strict")[0] == 200, "ready, strictly")
        with Login(proxy.port()) as client:
            assert client.log_in("carol", CLIENT_PASSWORD) == 0
            _use(client)
            assert client.log_in("carol", CLIENT_PASSWORD) == 0
            _use(client)
            with pytest.raises(PermissionError):
                client.log_in("dave", CLIENT_PASSWORD)
            assert not client.ask(_request(18, 0, b""))
        (line,) = until(lambda: proxy.logged(reason="authentication_failed"), "the reason in the log")
        assert line["detail"] == "PLAIN: it was User:carol, and now proves to be User:dave"


def _use(client: Login) -> None:
    """Use the connection for longer than a second, within which it may authenticate once."""
    stays(lambda: bool(client.ask(_request(18, 0, b""))), "the client is served", 1.1, every=0.2)


class Login:
    """A client that speaks PLAIN, byte by byte as told."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection((HOST, port), 10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, sent: bytes) -> bytes:
        """Return the response's body, empty when the connection has ended."""
        try:
            self._socket.sendall(sent)
            size = int.from_bytes(self._socket.recv(4, socket.MSG_WAITALL), "big")
            return self._socket.recv(size, socket.MSG_WAITALL)[4:]
        except ConnectionError:
            return b""

    def log_in(self, name: str, password: str) -> int:
        """Return the session's lifetime in ms; raises PermissionError for a refusal."""
        assert self.ask(_request(17, 1, _text(b"PLAIN")))[:2] == b"\0\0"
        message = f"\0{name}\0{password}".encode()
        answer = self.ask(_request(36, 1, len(message).to_bytes(4, "big") + message))
        found = SaslAuthenticateResponse.decode(answer, 1)
        if found.error_code:
            raise PermissionError(found.error_message)
        return found.session_lifetime_ms


def _request(key: int, version: int, body: bytes) -> bytes:
    return frame(struct.pack(">hhih", key, version, 1, -1), body)


def _text(text: bytes) -> bytes:
    return len(text).to_bytes(2, "big") + text


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (_request(3, 1, b"\0\0\0\0"), "unauthenticated_request"),
        (_request(0, 7, b"\0" * 100), "unauthenticated_request"),
        (b"\x7f\xff\xff\xff", "frame_too_large"),
        (b"\0\0\0\4" + b"\0" * 4, "malformed_request"),
        (_request(17, 1, _text(b"SCRAM-SHA-256") + b"more"), "malformed_request"),
        (_request(17, 1, _text(b"GSSAPI")), "authentication_failed"),
        (_request(36, 0, b"\0\0\0\1x"), "authentication_failed"),
        (_request(17, 1, _text(b"SCRAM-SHA-256"))[:9], "authentication_timeout"),
        (_request(17, 1, _text(b"SCRAM-SHA-256")), "authentication_timeout"),
    ],
)
def test_nothing_reaches_a_broker_before(tmp_path: Path, sent: bytes, reason: str) -> None:
    """A broker sees kproxy's own connections, its watcher's, and none for a client that sends this and no login."""
    with socket.create_server((HOST, 0)) as silent:
        silent.settimeout(0.1)
        host, port = silent.getsockname()
        each = {**authenticating(users_file(tmp_path, "carol")), "identity": None}
        timeouts = {"connect": "60s", "first_request": "1s"}
        with (
            Proxy(tmp_path, {"secured": f"{host}:{port}"}, each=each, timeouts=timeouts) as proxy,
            until(lambda: _accepted(silent), "kproxy's own connection") as own,
            socket.create_connection((HOST, proxy.port())) as client,
        ):
            client.settimeout(10)
            kproxys = own.recv(4096)
            assert b"kproxy" in kproxys
            client.sendall(sent)
            while client.recv(4096):
                pass
            until(lambda: proxy.told(reason) == 1, "the reason in the log")
            for connection in _come(silent, 0.5):
                with connection:
                    assert connection.recv(4096) == kproxys, "a client's connection at the broker"


def _accepted(server: socket.socket) -> socket.socket | None:
    try:
        return server.accept()[0]
    except TimeoutError:
        return None


def _come(server: socket.socket, seconds: float) -> Iterator[socket.socket]:
    """Yield what connects within so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if (connection := _accepted(server)) is not None:
            connection.settimeout(2)
            yield connection
