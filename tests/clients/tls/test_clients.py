"""Clients of six libraries over TLS to kproxy, and kproxy over TLS to the broker: every combination with plaintext."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.test_java_tools import TOOLS, objects
from tests.clients.test_python_clients import check_everything, check_transactions
from tests.support.authority import Authority
from tests.support.backend import Backend
from tests.support.client import PYTHON_CLIENTS, java_3_9, java_4_4
from tests.support.java_security import properties
from tests.support.proxy import Proxy
from tests.support.secured import PASSWORD, Secured
from tests.support.side import Side
from tests.support.tls_kafka import USER
from tests.support.violation import check_read, check_written

CLIENTS: Final = (
    *PYTHON_CLIENTS,
    pytest.param("kafkajs", marks=pytest.mark.node),
    pytest.param("franz_go", marks=pytest.mark.go),
)
RECORDS: Final = 500


@dataclass(frozen=True)
class Security:
    """How a virtual cluster is connected on both sides, and how its clients connect (`clients/security`)."""

    settings: Mapping[str, Any]
    clients: Mapping[str, str]

    def properties(self, directory: Path) -> Path:
        """Write a Java client's settings into a file."""
        file, found = directory / "client.properties", properties(self.clients, directory)
        file.write_text("".join(f"{key}={value}\n" for key, value in found.items()))
        return file


@pytest.fixture(scope="module")
def securities(authority: Authority) -> dict[str, Security]:
    """The ways to connect, by virtual cluster. SASL passes; behind `plain-*` the broker's plaintext listener is."""
    own = authority.signed("kproxy")
    to_clients = {"tls": {"certificate": str(own.chain), "key": str(own.key)}}
    to_brokers = {"upstream_tls": {"ca": str(authority.file)}}
    ca = {"ca": str(authority.file)}
    user = {"username": USER, "password": PASSWORD}
    return {
        "tls-plain": Security(to_clients, ca),
        "plain-tls": Security(to_brokers, {"mechanism": "SCRAM-SHA-256", **user}),
        "tls-tls": Security({**to_clients, **to_brokers}, {**ca, "mechanism": "SCRAM-SHA-512", **user}),
    }


@pytest.fixture(scope="module")
def proxies(
    broker: Secured, securities: dict[str, Security], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Proxy]]:
    """A kproxy for each way."""
    with ExitStack() as stack:
        made = {}
        for name, security in securities.items():
            servers = broker.cluster.bootstrap if name.endswith("-plain") else broker.bootstrap
            proxy = Proxy(tmp_path_factory.mktemp(name), {name: servers}, each=security.settings)
            made[name] = stack.enter_context(proxy)
        yield made


@pytest.fixture(params=["tls-plain", "plain-tls", "tls-tls"])
def way(request: pytest.FixtureRequest) -> str:
    """One of the ways."""
    return str(request.param)


@pytest.fixture
def security(way: str, securities: dict[str, Security], monkeypatch: pytest.MonkeyPatch) -> Security:
    """How clients connect, as they are told."""
    found = securities[way]
    monkeypatch.setenv("TEST_SECURITY", json.dumps(found.clients))
    return found


@pytest.fixture
def side(way: str, proxies: dict[str, Proxy], broker: Secured, security: Security, tmp_path: Path) -> Side:
    """Its virtual cluster."""
    return Side(proxies[way], way, Backend(broker.cluster), tmp_path)


@pytest.mark.parametrize("client", CLIENTS)
def test_every_acks_byte_exact(side: Side, client: str) -> None:
    """Records produced with every acks setting are consumed by a group, byte for byte."""
    check_everything(side, client)


@pytest.mark.parametrize("client", CLIENTS)
def test_transactions(side: Side, client: str) -> None:
    """Committed records are read, aborted ones are not, and the offsets of the last commit hold."""
    check_transactions(side, client)


@pytest.mark.parametrize(
    ("release", "options"),
    [(java_3_9, ("--producer.config", "--consumer.config")), (java_4_4, ("--command-config",) * 2)],
    ids=["3.9", "4.4"],
)
def test_java(side: Side, security: Security, release: Any, options: tuple[str, str], tmp_path: Path) -> None:
    """Each value that the verifiable producer reports as acknowledged arrives."""
    topic, config = side.backend.topic(), security.properties(tmp_path)
    settings = ("--topic", topic, "--max-messages", str(RECORDS))
    own = [(option, str(config)) for option in options]
    sent = objects(side.java(f"{TOOLS}.VerifiableProducer", *settings, *own[0], classpath=release()))
    acknowledged = sorted(int(line["value"]) for line in sent if line["name"] == "producer_send_success")
    group = ("--group-id", side.fresh("group"), "--verbose")
    seen = objects(side.java(f"{TOOLS}.VerifiableConsumer", *settings, *own[1], *group, classpath=release()))
    assert acknowledged == list(range(RECORDS))
    values = sorted(int(line["value"]) for line in seen if line["name"] == "record_data")
    check_written(RECORDS, side.backend.end_offsets(topic))
    check_read(acknowledged, values)
    assert set(values) == set(acknowledged)
