"""Clients that authenticate to kproxy by their tokens (OAUTHBEARER), with a real authorization server and broker."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.clients.sasl.bearers import Client, kafka_python, librdkafka, listed
from tests.clients.sasl.test_termination import IDENTITY, Told, lasting
from tests.support.authorization_server import AUDIENCE, CLIENT, AuthorizationServer, authorization_server
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.secured import Secured
from tests.support.violation import never
from tests.support.wait import until

__all__ = ["lasting"]


@pytest.fixture(scope="module")
def server() -> Iterator[AuthorizationServer]:
    """Yield an authorization server."""
    with authorization_server() as found:
        yield found


def taking(server: AuthorizationServer, **tokens: Any) -> dict[str, Any]:
    """Return the settings of a virtual cluster that takes the server's tokens."""
    known = {"issuer": server.issuer, "audience": AUDIENCE, "jwks_url": f"{server.issuer}/keys", "clock_skew": 0}
    asked = {"mechanisms": ["OAUTHBEARER"], "dangerously_accept_secrets_without_tls": True}
    return {"identity": IDENTITY, "authentication": {**asked, "oauthbearer": known | tokens}}


@pytest.fixture(scope="module")
def proxy(server: AuthorizationServer, lasting: Secured, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Yield a kproxy that takes the server's tokens; its log must show none."""
    directory = tmp_path_factory.mktemp("tokens")
    events = {"destinations": [{"name": "lake", "type": "files", "directory": str(directory / "events")}]}
    settings: dict[str, Any] = {"topology": {"interval": "1s"}, "log": {"format": "json"}, "events": events}
    with Proxy(directory, {"secured": lasting.bootstrap}, each=taking(server), **settings) as started:
        started.hides("eyJ", "a token")
        until(lambda: started.get("/readyz?strict")[0] == 200, "ready, strictly")
        yield started
    written = [gzip.decompress(file.read_bytes()).decode() for file in (directory / "events").rglob("*.gz")]
    found = [json.loads(line) for text in written for line in text.splitlines()]
    results = {(one["principal"], one["refused"] is None) for one in found if one["event"] == "authentication"}
    never("eyJ" in str(written), "an event shows a token")
    assert {(f"User:{CLIENT}", True), ("User:alice", True), (None, False)} <= results


@pytest.mark.parametrize("client", [librdkafka, kafka_python])
def test_a_client(proxy: Proxy, server: AuthorizationServer, client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """Its token names the user; with one that has ended it fails, and says so; the log has the reason."""
    client(proxy.port(), server.token(sub=f"alice-{client.__name__}"))
    accepted = proxy.metric("kproxy_authentications_total", mechanism="OAUTHBEARER", outcome="accepted")
    assert accepted >= 1
    with pytest.raises(PermissionError) as caught:
        client(proxy.port(), server.token(sub="bob", exp=int(server.now) - 60))
    assert '{"status":"invalid_token"}' in f"{caught.value} {caplog.text}"
    until(lambda: "OAUTHBEARER: the token ended" in proxy.log.read_text(), "the reason in the log")
    assert proxy.metric("kproxy_authentications_total", mechanism="OAUTHBEARER", outcome="refused") >= 1


async def test_java(proxy: Proxy, server: AuthorizationServer, tmp_path: Path) -> None:
    """It gets its tokens by client credentials, and shows its user the JSON of a refusal."""
    await listed(proxy.port(), server, tmp_path)
    until(lambda: f'"principal":"User:{CLIENT}"' in proxy.log.read_text(), "its principal in the log")
    server.audience = "elsewhere"
    try:
        assert '{"status":"invalid_token"}' in await listed(proxy.port(), server, tmp_path)
    finally:
        server.audience = AUDIENCE
    until(lambda: "the token is for 'elsewhere'" in proxy.log.read_text(), "the reason in the log")


def test_a_session_lasts_as_long_as_its_token(proxy: Proxy, server: AuthorizationServer, lasting: Secured) -> None:
    """Tokens last 9 s; a producer of librdkafka goes on for 22 s on the connections that it has (KIP-368)."""
    topic = Backend(lasting.cluster).topic(1, 1)
    told, expired, tokens = Told([]), proxy.told("session_expired"), 0

    def token(_: str) -> tuple[str, float]:
        nonlocal tokens
        tokens += 1
        ends = int(server.now) + 9
        return server.token(sub="alice", exp=ends), float(ends)

    client = Producer(
        {
            "bootstrap.servers": proxy.bootstrap(),
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "OAUTHBEARER",
            "oauth_cb": token,
            "error_cb": told,
            "log_level": 0,
            "acks": "all",
        }
    )
    deadline, sent = time.monotonic() + 22, 0
    while time.monotonic() < deadline:
        client.produce(topic, str(sent).encode())
        sent += 1
        assert client.flush(10) == 0
        client.poll(0.05)
    assert Backend(lasting.cluster).end_offsets(topic) == {0: sent}
    assert not told.errors, proxy.logged(event="connection ended", level="warning")
    assert (tokens >= 3, proxy.told("session_expired")) == (True, expired)


def test_an_issuer_that_comes_late(lasting: Secured, tmp_path: Path) -> None:
    """Without keys no client is refused for good: each is disconnected, and comes back; then it is let in."""
    with authorization_server() as late:
        late.key_set_status = 503
        with Proxy(tmp_path, {"secured": lasting.bootstrap}, each=taking(late), topology={"interval": "1s"}) as proxy:
            with pytest.raises(PermissionError) as caught:
                librdkafka(proxy.port(), late.token(sub="alice"))
            assert "invalid_token" not in str(caught.value)
            until(lambda: proxy.told("authentication_unavailable") >= 1, "the reason in the log")
            assert "clients' tokens cannot be verified" in str(proxy.get_json("/readyz?strict")["reasons"])
            late.key_set_status = 200
            until(lambda: _may(proxy, late), "the client is let in", 40)
            assert proxy.get("/readyz?strict")[0] == 200


def _may(proxy: Proxy, server: AuthorizationServer) -> bool:
    try:
        librdkafka(proxy.port(), server.token(sub="alice"))
    except PermissionError:
        return False
    return True
