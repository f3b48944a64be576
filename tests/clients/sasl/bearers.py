"""Clients that show a token (OAUTHBEARER): each asks for the metadata once, and raises with what its user is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import trio
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from kafka import KafkaAdminClient
from kafka.net.sasl.oauth import AbstractTokenProvider

from tests.support.authorization_server import CLIENT, CLIENT_SECRET, AuthorizationServer
from tests.support.client import java_tool

Client = Callable[[int, str], None]


def librdkafka(port: int, token: str) -> None:
    """Ask for the metadata, with SASL extensions (KIP-342) in the message."""
    errors: list[str] = []
    settings: dict[str, Any] = {
        "bootstrap.servers": f"127.0.0.1:{port}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "oauth_cb": lambda _: (token, 4e9, "alice", {"logicalCluster": "lkc-1"}),
        "log_level": 0,
        "reconnect.backoff.ms": 500,
        "error_cb": lambda error: errors.append(error.str()),
    }
    client = AdminClient(settings)
    try:
        client.list_topics(timeout=5)
    except KafkaException as error:
        client.poll(0)
        raise PermissionError(" | ".join([*errors, str(error)])) from None


class Tokens(AbstractTokenProvider):  # type: ignore[misc]
    """One token, with extensions."""

    def __init__(self, token: str) -> None:
        self._token = token

    def token(self) -> str:
        """Return it."""
        return self._token

    def extensions(self) -> dict[str, str]:
        """Return one."""
        return {"logicalCluster": "lkc-1"}


def kafka_python(port: int, token: str) -> None:
    """Ask for the metadata."""
    try:
        KafkaAdminClient(
            bootstrap_servers=f"127.0.0.1:{port}",
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="OAUTHBEARER",
            sasl_oauth_token_provider=Tokens(token),
            bootstrap_timeout_ms=6000,
        ).close()
    except Exception as error:
        raise PermissionError(str(error)) from None


async def listed(port: int, server: AuthorizationServer, directory: Path) -> str:
    """Return what Kafka's tool says when it asks for the topics."""
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearer"
    login = f'{module}LoginModule required clientId="{CLIENT}" clientSecret="{CLIENT_SECRET}";'
    file = directory / "client.properties"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
        f"sasl.login.callback.handler.class={module}LoginCallbackHandler\n"
        f"sasl.oauthbearer.token.endpoint.url={server.issuer}/t\nsasl.oauthbearer.header.urlencode=true\n"
        f"sasl.jaas.config={login}\ndefault.api.timeout.ms=5000\nrequest.timeout.ms=4000\n"
    )
    command = java_tool(
        "org.apache.kafka.tools.TopicCommand",
        *("--list", "--bootstrap-server", f"127.0.0.1:{port}", "--command-config", str(file)),
    )
    allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={server.issuer}/t"
    command.insert(1, allowed)
    done = await trio.run_process(command, capture_stdout=True, capture_stderr=True, check=False)
    return (done.stdout + done.stderr).decode()
