"""kproxy gets its own tokens from an authorization server, for a broker that checks each one by the server's keys."""

from __future__ import annotations

import json
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.clients.sasl.shown import check_no_secret_is_shown, check_secrets
from tests.clients.sasl.test_identity import FAST, reasons, wait_ready
from tests.support.authority import Authority
from tests.support.authorization_server import (
    AUDIENCE,
    CLIENT,
    CLIENT_SECRET,
    AuthorizationServer,
    authorization_server,
)
from tests.support.proxy import KPROXY, Proxy
from tests.support.secured import Secured, validating
from tests.support.violation import never
from tests.support.wait import stays, until


class Realm(NamedTuple):
    """The authorization server by https, its authority's file, and the broker that trusts its tokens."""

    server: AuthorizationServer
    authority: Path
    broker: Secured


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    """The broker has the keys in a file."""
    directory = tmp_path_factory.mktemp("realm")
    authority = Authority(directory)
    own = authority.signed("login")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(own.chain, own.key)
    with authorization_server(context) as server:
        keys = directory / "keys.json"
        keys.write_text(json.dumps(server.key_set))
        with validating(server.issuer, AUDIENCE, keys.as_uri()) as broker:
            yield Realm(server, authority.file, broker)


@pytest.fixture(autouse=True)
def _as_before(realm: Realm) -> None:
    """Each test begins with a server that issues tokens of an hour, at once."""
    realm.server.refuses, realm.server.lifetime, realm.server.delay = None, 3600, 0
    realm.server.asked.clear()


def identity(realm: Realm, **changed: Any) -> dict[str, Any]:
    """The identity of kproxy at the authorization server."""
    grant = {
        "token_endpoint": f"{realm.server.issuer}/oauth2/token",
        "client_id": CLIENT,
        "client_secret": CLIENT_SECRET,
        "scope": "topology",
        "ca": str(realm.authority),
    }
    return {"mechanism": "OAUTHBEARER", "client_credentials": grant | changed}


def proxy_of(realm: Realm, directory: Path, **changed: Any) -> Proxy:
    """A kproxy that polls each second, at log level debug."""
    log = {"format": "json", "level": "debug"}
    each = {"identity": identity(realm, **changed)}
    proxy = Proxy(directory, {"secured": realm.broker.bootstrap}, each=each, topology=FAST, log=log)
    proxy.looks.append(check_secrets)
    proxy.hides(CLIENT_SECRET, "the client's secret")
    return proxy


def polls(realm: Realm) -> int:
    """How many requests of kproxy the broker has logged."""
    return realm.broker.log.count('"clientId":"kproxy"')


def wait_polled(realm: Realm, more: int) -> None:
    """Wait until the broker has got this many requests more."""
    before = polls(realm)
    until(lambda: polls(realm) >= before + more, "more requests at the broker", 30)


def test_one_token_for_many_connections(realm: Realm, tmp_path: Path) -> None:
    """The broker accepts it, as the token's subject; every poll is on a new connection, and one token serves all."""
    with proxy_of(realm, tmp_path) as proxy:
        wait_ready(proxy)
        wait_polled(realm, 12)
        assert f"User:{CLIENT}" in realm.broker.principals("kproxy")
        assert realm.server.asked == [{"grant_type": "client_credentials", "scope": "topology"}]
        check_no_secret_is_shown(proxy)


def test_a_token_is_renewed_before_it_ends(realm: Realm, tmp_path: Path) -> None:
    """Tokens of 10 s, and so the broker's sessions: for 20 s the broker refuses nothing, and kproxy stays ready."""
    realm.server.lifetime = 10
    with proxy_of(realm, tmp_path, client_authentication="client_secret_post") as proxy:
        wait_ready(proxy)
        stays(lambda: proxy.get("/readyz?strict")[0] == 200, "ready, strictly", 20)
        assert 2 <= len(realm.server.asked) <= 5
        assert not proxy.logged(event="kproxy cannot authenticate")
        check_no_secret_is_shown(proxy)


def test_a_server_that_refuses_and_recovers(realm: Realm, tmp_path: Path) -> None:
    """/readyz says which endpoint answers what; it is asked with back-off; kproxy is ready once it issues a token."""
    said = {"error": "invalid_client", "error_description": f"{CLIENT_SECRET} is wrong"}
    realm.server.refuses = 401, said
    with proxy_of(realm, tmp_path) as proxy:
        where = f"OAUTHBEARER: {realm.server.issuer}/oauth2/token: it answers 401 invalid_client (********** is wrong)"
        until(lambda: where in reasons(proxy), "the reason")
        until(lambda: len(realm.server.asked) >= 2, "asked again")
        stays(lambda: len(realm.server.asked) <= 8, "not asked at each connection", 4)
        realm.server.refuses = None
        wait_ready(proxy)
        check_no_secret_is_shown(proxy)


def test_a_server_that_is_away_while_the_token_lasts(realm: Realm, tmp_path: Path) -> None:
    """kproxy goes on with the token in hand, and says that it cannot renew it."""
    realm.server.lifetime = 30
    with proxy_of(realm, tmp_path) as proxy:
        wait_ready(proxy)
        realm.server.refuses = 503, {}
        (line, *_) = until(lambda: proxy.logged(event="token not renewed"), "the warning", 40)
        assert "it answers 503" in line["reason"]
        assert line["level"] == "warning"
        assert proxy.get("/readyz?strict")[0] == 200


def test_a_token_that_the_broker_refuses(realm: Realm, tmp_path: Path) -> None:
    """Of another audience: the reason is the broker's; the endpoint is not asked again at each poll."""
    realm.server.audience = "elsewhere"
    try:
        with proxy_of(realm, tmp_path) as proxy:
            until(lambda: "OAUTHBEARER: the broker refuses" in reasons(proxy), "the reason")
            assert "invalid_token" in reasons(proxy)
            stays(lambda: len(realm.server.asked) == 1, "one token for all attempts", 5)
            check_no_secret_is_shown(proxy)
    finally:
        realm.server.audience = AUDIENCE


def test_config_check_and_show(realm: Realm, tmp_path: Path) -> None:
    """`--connect` tries the endpoint; the secret may be in a file, and nothing shows it."""
    file = tmp_path / "secret"
    file.write_text(CLIENT_SECRET + "\n")
    made = proxy_of(realm, tmp_path, client_secret=None, client_secret_file=str(file)).config
    command = (KPROXY, "config", "check", str(made), "--connect")
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    assert "a port for each" in done.stdout
    file.write_text("wrong")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 1
    assert "it answers 401 invalid_client" in "".join(done.stdout.split("\n")).replace("  ", " ")
    made = proxy_of(realm, tmp_path).config
    shown = subprocess.run(
        (KPROXY, "config", "show", "--config", str(made)), capture_output=True, text=True, check=True, timeout=30
    )
    never(CLIENT_SECRET in shown.stdout, "`config show` shows the client's secret")
    assert "client_secret: '**********'" in shown.stdout
