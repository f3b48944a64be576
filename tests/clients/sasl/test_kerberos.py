"""Clients of GSSAPI with tickets of a real KDC: through kproxy as directly, however they begin.

Tickets are for a service at a host. Here kproxy and the broker have the same host, so the same ticket.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from kproxy.local_kafka import jars, java
from kproxy.local_kafka.broker import HOST
from kproxy.local_kafka.cluster import Cluster
from tests.support import client_commands, golang
from tests.support.backend import Backend
from tests.support.client import running
from tests.support.client_releases import COUNT, READ
from tests.support.kerberos import NODE_ID, PASSWORD, REALM, SERVER, USER, Kdc, kerberized
from tests.support.proxy import Proxy
from tests.support.raw import RawClient
from tests.support.wait import until

TOKEN_FIRST: Final = pytest.param("sarama", "token", marks=pytest.mark.go, id="sarama-token-first")
CLIENTS: Final = [
    TOKEN_FIRST,
    pytest.param("sarama", "handshake", marks=pytest.mark.go, id="sarama-v1"),
    pytest.param("java", "0.10.2.2", id="java-0.10-v0"),
]


class Kerberized(NamedTuple):
    """Brokers that take tickets, and kproxy in front of them."""

    kdc: Kdc
    cluster: Cluster
    proxy: Proxy

    def command(self, client: str, how: str, servers: str, topic: str) -> Sequence[str]:
        """Return the command of a client that writes, and reads as a member of a group; `how`: as CLIENTS."""
        if client == "sarama":
            kerberos = {"file": str(self.kdc.config), "realm": REALM, "user": USER, "password": PASSWORD}
            kerberos |= {"host": SERVER, "handshake": how == "handshake"}  # type: ignore[dict-item]
            said = {"servers": servers, "topic": topic, "group": topic, "count": COUNT, "version": (2, 1, 0)}
            return [str(golang.franz_go()), "resuming-sarama", json.dumps({**said, "kerberos": kerberos})]
        settings = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "GSSAPI",
            "sasl.kerberos.service.name": "kafka",
            "sasl.jaas.config": self.kdc.jaas(USER),
        }
        options = (*java.QUICK, self.kdc.option, *(f"-Dclient.{name}={value}" for name, value in settings.items()))
        return client_commands.java_command(how, servers, topic, options)


@contextmanager
def taking_tickets(release: jars.Release, directory: Path) -> Iterator[Kerberized]:
    """A KDC, one node that takes its tickets, and kproxy."""
    kdc = Kdc(directory)
    with kdc.serving(), kerberized(kdc, release) as cluster:
        front = f"{HOST}:{cluster.brokers[NODE_ID].front_port}"
        with Proxy(directory, {"kafka": front}) as proxy:
            yield Kerberized(kdc, cluster, proxy)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberized]:
    """Kafka 3.9, which takes all of the clients directly."""
    with taking_tickets(jars.KAFKA_3_9, tmp_path_factory.mktemp("old")) as found:
        yield found


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberized]:
    """Kafka 4.3, which knows no client any more that begins with a token (KIP-896)."""
    with taking_tickets(jars.KAFKA_4_3, tmp_path_factory.mktemp("new")) as found:
        yield found


def check_client(at: Kerberized, directory: Path, client: str, how: str) -> None:
    """It writes, reads and commits, by kproxy only. Its principal is the broker's to know."""
    topic = Backend(at.cluster).topic(1, 1)
    with running(at.command(client, how, at.proxy.bootstrap(), topic), directory) as process:
        printed = process.wait(timeout=240)
        assert process.watch.ports <= set(at.proxy.ports["kafka"]) | {at.kdc.port}
    assert json.loads(printed.splitlines()[-1]) == READ, printed[-2000:]


@pytest.mark.parametrize(("client", "how"), CLIENTS)
def test_kafka_3_9(old: Kerberized, tmp_path: Path, client: str, how: str) -> None:
    """However a client begins: with a token, with SaslHandshake v0, or with v1."""
    check_client(old, tmp_path, client, how)


@pytest.mark.parametrize(("client", "how"), [TOKEN_FIRST, pytest.param("java", "2.8.2", id="java-2.8-v1")])
def test_kafka_4(new: Kerberized, tmp_path: Path, client: str, how: str) -> None:
    """Through kproxy a client may still begin with a token."""
    check_client(new, tmp_path, client, how)


def test_a_token_that_is_none(new: Kerberized) -> None:
    """The broker refuses it, so the connection ends without a word; kproxy's log says why."""
    with RawClient(new.proxy.port()) as client:
        client.send((64).to_bytes(4), b"\x60\x3e" + bytes(62))
        assert client.wait_closed() == b""
    detail = "it refuses the client's SASL token with error 58"
    until(lambda: new.proxy.logged(event="connection ended", detail=detail), "the line of its end")
