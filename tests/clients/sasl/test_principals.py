"""The principals of real clients at a real broker, and what kproxy shows of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.clients.sasl.shown import (
    WRONG,
    check_no_secret_is_shown,
    check_principal,
    check_secrets,
    connections,
    ended,
)
from tests.support.backend import Backend
from tests.support.client import PYTHON_CLIENTS, Running, java_tool, running
from tests.support.proxy import KPROXY, Proxy
from tests.support.secured import PASSWORD, Secured
from tests.support.wait import until

SCRIPT = Path(__file__).parents[2] / "support" / "clients" / "sasl_client.py"
EXCHANGES = (("PLAIN", "alice"), ("SCRAM-SHA-256", "a,b=c"), ("SCRAM-SHA-512", "bob"), ("OAUTHBEARER", "carol"))
NOBODY = {"PLAIN": "alice", "SCRAM-SHA-256": "bob", "SCRAM-SHA-512": "nobody"}
MODULES = {
    "PLAIN": f'plain.PlainLoginModule required username="alice" password="{PASSWORD}"',
    "SCRAM-SHA-512": f'scram.ScramLoginModule required username="a,b=c" password="{PASSWORD}"',
    "OAUTHBEARER": 'oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="carol"',
}


def command(library: str, **settings: str | float) -> Sequence[str]:
    """Return the command of a client that stays connected."""
    return [sys.executable, str(SCRIPT), library, json.dumps(settings)]


def wait_connected(client: Running) -> None:
    """Wait until the client has reported that it is connected."""
    until(lambda: _alive(client) and any("connected" in line for line in client.lines()), f"{client.command}", 60)


def _alive(client: Running) -> bool:
    assert client.process.poll() is None, client.output[-3000:]
    return True


@pytest.mark.parametrize(("mechanism", "user"), EXCHANGES)
@pytest.mark.parametrize("library", PYTHON_CLIENTS)
def test_principal(proxy: Proxy, broker: Secured, tmp_path: Path, library: str, mechanism: str, user: str) -> None:
    """For each library and mechanism, kproxy's principal is the broker's own."""
    if library == "kafka_python" and not user.isalpha():
        user = "alice"  # this library does not escape names
    client_id = f"{library}-{mechanism}"
    settings = {"client_id": client_id, "mechanism": mechanism, "user": user, "password": PASSWORD}
    with running(command(library, bootstrap=proxy.bootstrap("secured"), **settings), tmp_path) as client:
        wait_connected(client)
        check_principal(proxy, broker, client_id, f"User:{user}")
        table = subprocess.run(
            [KPROXY, "clients", "--admin", f"http://127.0.0.1:{proxy.admin_port}"],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        ).stdout
    check_secrets(table)
    assert "Principal" in table
    assert f"User:{user}" in table
    lines = until(lambda: ended(proxy, client_id), "the line of its end")
    assert f"User:{user}" in {line.get("principal") for line in lines}


@pytest.mark.parametrize("mechanism", MODULES)
def test_principal_of_java(proxy: Proxy, broker: Secured, tmp_path: Path, mechanism: str) -> None:
    """For Kafka's own client, a console consumer, kproxy's principal is the broker's own."""
    topic, client_id = Backend(broker.cluster).topic(1, 1), f"java-{mechanism}"
    settings = {
        "client.id": client_id,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f"org.apache.kafka.common.security.{MODULES[mechanism]};",
    }
    file = tmp_path / "client.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    where = ("--bootstrap-server", proxy.bootstrap("secured"), "--topic", topic, "--command-config", str(file))
    user = MODULES[mechanism].split('"')[1]
    with running(java_tool("org.apache.kafka.tools.consumer.ConsoleConsumer", *where), tmp_path) as client:
        until(lambda: _alive(client) and connections(proxy, client_id), f"{client_id} is connected", 60)
        check_principal(proxy, broker, client_id, f"User:{user}")


@pytest.mark.parametrize("mechanism", NOBODY)
@pytest.mark.parametrize("library", PYTHON_CLIENTS)
def test_a_wrong_password_leaves_no_principal(
    proxy: Proxy, broker: Secured, tmp_path: Path, library: str, mechanism: str
) -> None:
    """The client is refused by the broker; its connections end without a principal, and the error is counted."""
    client_id, user = f"wrong-{library}-{mechanism}", NOBODY[mechanism]
    counted = {"api": "SaslAuthenticate", "error": "SASL_AUTHENTICATION_FAILED"}
    before = proxy.metric("kproxy_response_errors_total", **counted)
    settings = {"client_id": client_id, "mechanism": mechanism, "user": user, "password": WRONG}
    with running(command(library, bootstrap=proxy.bootstrap("secured"), **settings), tmp_path):
        until(lambda: ended(proxy, client_id), f"a connection of {client_id} ends")
        assert not any(one["principal"] for one in connections(proxy, client_id))
        check_no_secret_is_shown(proxy)
    assert not any("principal" in line for line in ended(proxy, client_id))
    assert not broker.principals(client_id)
    assert proxy.metric("kproxy_response_errors_total", **counted) > before
