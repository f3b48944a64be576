"""SASL exchanges that no library makes, or makes only after a while, against a real broker."""

from __future__ import annotations

import base64
import json
import struct
import time
from typing import Any

from confluent_kafka.admin import AdminClient

from tests.clients.sasl.shown import WRONG, connections, ended
from tests.support import raw
from tests.support.proxy import Proxy
from tests.support.raw import RawClient
from tests.support.secured import PASSWORD, Secured
from tests.support.wait import until

HANDSHAKE, AUTHENTICATE = 17, 36
FAILED = 58


def handshake(mechanism: str, client_id: str, number: int = 1) -> bytes:
    return raw.request(HANDSHAKE, 1, number, raw.string(mechanism), client_id)


def authenticate(message: bytes, client_id: str, number: int = 2) -> bytes:
    return raw.request(AUTHENTICATE, 1, number, struct.pack(">i", len(message)) + message, client_id)


def answer(body: bytes) -> tuple[int, bytes]:
    """Return the error code and the challenge of a SaslAuthenticate response, v1."""
    error, length = struct.unpack_from(">hh", body)
    pos = 4 + max(length, 0)
    (size,) = struct.unpack_from(">i", body, pos)
    return error, body[pos + 4 : pos + 4 + size]


def jwt(**claims: Any) -> str:
    """Return an unsigned token."""
    parts = [{"alg": "none"}, claims]
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


def plain(user: str, password: str) -> bytes:
    return f"\0{user}\0{password}".encode()


def shown(proxy: Proxy, client_id: str) -> list[str | None]:
    """Return the principals of a client's live connections."""
    return [one["principal"] for one in connections(proxy, client_id)]


def test_a_refused_token_leaves_no_principal(proxy: Proxy, broker: Secured) -> None:
    """The broker refuses a token in a challenge with error code 0 (RFC 7628): kproxy does not take it for success."""
    with RawClient(proxy.port("secured")) as client:
        client.ask(handshake("OAUTHBEARER", "refused"))
        token = jwt(sub="admin", iat=time.time() - 7200, exp=time.time() - 3600)
        error, challenge = answer(client.ask(authenticate(f"n,,\x01auth=Bearer {token}\x01\x01".encode(), "refused")))
        assert (error, json.loads(challenge)["status"]) == (0, "invalid_token")
        assert shown(proxy, "refused") == [None]
        assert answer(client.ask(authenticate(b"\x01", "refused", 3)))[0] == FAILED
    assert not broker.principals("refused")


def test_half_a_scram_exchange_leaves_no_principal(proxy: Proxy) -> None:
    """The broker answers any client that names a user with that user's salt: this alone gives no principal."""
    with RawClient(proxy.port("secured")) as client:
        client.ask(handshake("SCRAM-SHA-256", "half"))
        error, challenge = answer(client.ask(authenticate(b"n,,n=alice,r=abc", "half")))
        assert (error, challenge[:5]) == (0, b"r=abc")
        assert shown(proxy, "half") == [None]


def test_a_guess_in_front_of_the_truth(proxy: Proxy, broker: Secured) -> None:
    """All in one write: the broker refuses the guess, and nothing after it gives the client a principal."""
    with RawClient(proxy.port("secured")) as client:
        guess = authenticate(plain("alice", WRONG), "guess", 2)
        truth = authenticate(plain("bob", PASSWORD), "guess", 4)
        client.send(handshake("PLAIN", "guess", 1), guess, handshake("PLAIN", "guess", 3), truth)
        client.receive()
        assert answer(client.receive()[1])[0] == FAILED
        client.wait_closed()
    (line,) = until(lambda: ended(proxy, "guess"), "the line of its end")
    assert "principal" not in line
    assert not broker.principals("guess")


def test_malformed_messages_are_the_brokers_to_refuse(proxy: Proxy) -> None:
    """kproxy passes them on: the client gets the broker's own error text."""
    for number, message in enumerate([b"", b"alice", b"\0\0\0\0", b"\xff" * 300_000]):
        with RawClient(proxy.port("secured")) as client:
            client.ask(handshake("PLAIN", f"malformed-{number}"))
            error, _ = answer(client.ask(authenticate(message, f"malformed-{number}")))
            assert error == FAILED
        (line,) = until(lambda: ended(proxy, f"malformed-{number}"), "the line of its end")  # noqa: B023
        assert "principal" not in line


def test_authenticating_again(proxy: Proxy, broker: Secured) -> None:
    """KIP-368: a session of three seconds is renewed on the same connection, which keeps its principal."""
    admin = AdminClient(
        {
            "bootstrap.servers": proxy.bootstrap("secured"),
            "client.id": "again",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "bob",
            "sasl.password": PASSWORD,
            "log_level": 0,
        }
    )
    admin.list_topics(timeout=20)
    asked = {"cluster": "secured", "api": "SaslAuthenticate"}
    begun = proxy.metric("kproxy_requests_total", **asked)
    before = until(lambda: {one["id"] for one in connections(proxy, "again")}, "connected")
    until(lambda: proxy.metric("kproxy_requests_total", **asked) >= begun + 2, "authenticated twice more", 20)
    after = {one["id"]: one["principal"] for one in connections(proxy, "again")}
    assert after
    assert set(after) <= before
    assert set(after.values()) == {"User:bob"}
    assert broker.principals("again") == {"User:bob"}


def test_two_principals_are_two_clients(proxy: Proxy) -> None:
    """Clients that are otherwise alike, as with a library's default client id; one not yet authenticated is a third."""
    clients = [RawClient(proxy.port("secured")) for _ in range(4)]
    try:
        for client, user in zip(clients, ("alice", "bob", "bob"), strict=False):
            client.ask(handshake("PLAIN", "alike"))
            assert answer(client.ask(authenticate(plain(user, PASSWORD), "alike")))[0] == 0
        clients[3].ask(handshake("PLAIN", "alike"))
        found = proxy.get_json("/api/v1/clients?cluster=secured&limit=1000")["clients"]
        alike = {one["principal"]: one["connections"] for one in found if one["client_id"] == "alike"}
        assert alike == {"User:alice": 1, "User:bob": 2, None: 1}
    finally:
        for client in clients:
            client.close()


def test_without_sasl_nobody_is_known_by_a_principal(proxy: Proxy, broker: Secured) -> None:
    """Kafka's User:ANONYMOUS is None here; the client id is known even of a client that sends no ApiVersions."""
    with RawClient(proxy.port("open")) as client:
        client.ask(raw.request(raw.METADATA, 1, 1, raw.array([]), "old-client"))
        (one,) = connections(proxy, "old-client")
        assert (one["principal"], one["software_name"], one["cluster"]) == (None, None, "open")
    assert until(lambda: broker.principals("old-client"), "its request at the broker") == {"User:ANONYMOUS"}
