"""A real broker ends sessions after 3 s; kproxy authenticates again on its clients' connections, and none is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final, Self

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from tests.clients.sasl.test_client_credentials import Realm, realm
from tests.clients.sasl.test_client_credentials import identity as of_authorization_server
from tests.clients.sasl.test_termination import CLIENT_PASSWORD, authenticating, users_file
from tests.clients.test_java_tools import TOOLS, objects
from tests.clients.tls.test_clients import Security
from tests.support.authority import Authority
from tests.support.backend import Backend
from tests.support.client import java_4_4, java_tool, running
from tests.support.proxy import Proxy
from tests.support.secured import PASSWORD, Secured, unsecured_token
from tests.support.tls_kafka import tls_kafka
from tests.support.violation import check_read, check_written, never
from tests.support.wait import until

__all__ = ["realm"]
NAME: Final = "carol"
TIMES: Final = 4
KIB: Final = 1 << 10


@contextmanager
def kproxy(directory: Path, broker: Secured, identity: dict[str, Any], **each: Any) -> Iterator[Proxy]:
    """Yield a kproxy whose clients authenticate to it, which has this identity at the broker."""
    settings = {**authenticating(users_file(directory, NAME)), "identity": identity, **each}
    with Proxy(directory, {"secured": broker.bootstrap}, each=settings, topology={"interval": "1s"}) as proxy:
        proxy.hides(PASSWORD, "the password of its identity")
        until(lambda: proxy.get("/readyz?strict")[0] == 200, "ready, strictly")
        yield proxy


def user(mechanism: str, name: str = "bob") -> dict[str, str]:
    """The identity of a user of the broker."""
    return {"mechanism": mechanism, "username": name, "password": PASSWORD}


def settings_of(proxy: Proxy, **settings: Any) -> dict[str, Any]:
    """The settings of a client of librdkafka."""
    login = {"sasl.mechanism": "PLAIN", "sasl.username": NAME, "sasl.password": CLIENT_PASSWORD}
    where = {"bootstrap.servers": proxy.bootstrap(), "security.protocol": "SASL_PLAINTEXT", "log_level": 0}
    return {**where, **login, **settings}


@dataclass
class Load:
    """A producer of librdkafka that never stops, with five requests under way, and a consumer in a group.

    The producer is not idempotent: what is sent twice is there twice.
    """

    proxy: Proxy
    topic: str
    acks: str = "all"
    size: int = 100
    sent: int = 0
    failed: list[str] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    _over: Event = field(default_factory=Event)

    def __enter__(self) -> Self:
        self._threads = [Thread(target=self._produce), Thread(target=self._consume)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _produce(self) -> None:
        own = {
            "linger.ms": 2,
            "batch.size": 512 * KIB,
            "queue.buffering.max.messages": 2000,
        }  # so that a flush is short
        client = Producer(settings_of(self.proxy, acks=self.acks, **own))
        rest = os.urandom(self.size)
        while not self._over.is_set():
            try:
                client.produce(self.topic, b"%d " % self.sent + rest, on_delivery=self._delivered)
                self.sent += 1
            except BufferError:
                client.poll(0.1)
            client.poll(0 if self.sent % 5 else 0.002)
        assert client.flush(60) == 0

    def _delivered(self, error: object, message: object) -> None:
        del message
        if error is not None:
            self.failed.append(str(error))

    def _consume(self) -> None:
        client = Consumer(settings_of(self.proxy, **{"group.id": self.topic, "auto.offset.reset": "earliest"}))
        client.subscribe([self.topic])
        quiet = 0
        while quiet < 20:
            found = client.consume(500, 0.1)
            self.read += [int((message.value() or b"").partition(b" ")[0]) for message in found]
            quiet = quiet + 1 if self._over.is_set() and not found else 0
        client.close()


def outcomes(proxy: Proxy) -> dict[str, int]:
    """How often kproxy has authenticated again, by outcome."""
    name = "kproxy_upstream_reauthentications_total"
    return {labels["outcome"]: int(count) for found, labels, count in proxy.samples() if found == name}


def ended(proxy: Proxy) -> float:
    """How many clients' connections have ended, other than by their clients: these leave their bootstrap server."""
    closed = (one for one in proxy.samples() if one[0] == "kproxy_connections_closed_total")
    return sum(count for _, labels, count in closed if labels["reason"] != "client_closed")


def connected(proxy: Proxy) -> set[int]:
    """The clients' connections, by their numbers."""
    return {one["id"] for one in proxy.get_json("/api/v1/connections")["connections"]}


def not_let_in(proxy: Proxy) -> int:
    """How often kproxy could not authenticate again."""
    return outcomes(proxy)["refused"] + outcomes(proxy)["failed"]


def wait_renewed(proxy: Proxy) -> None:
    """Wait for four more renewals of each connection: kproxy is let in each time, and no connection ends."""
    before = ended(proxy), not_let_in(proxy)
    wanted = outcomes(proxy)["accepted"] + TIMES * proxy.metric("kproxy_connections_active")
    until(lambda: outcomes(proxy)["accepted"] >= wanted, "renewals", 60)
    assert (ended(proxy), not_let_in(proxy)) == before


def check_load(broker: Secured, proxy: Proxy, topic: str, **settings: Any) -> None:
    """Produce and consume through four sessions on the connections of the first."""
    with Load(proxy, topic, **settings) as load:
        until(lambda: load.read and outcomes(proxy)["accepted"] >= 2, "the clients' first sessions are over")
        begun = load.sent
        wait_renewed(proxy)
        assert load.sent > begun
        assert not_let_in(proxy) == 0
    assert load.failed == []
    written = sum(Backend(broker.cluster).end_offsets(topic).values())
    never(written != load.sent, f"records lost or doubled: {load.sent} were sent, and {written} are in the log")
    assert sorted(load.read) == list(range(load.sent))


@pytest.mark.parametrize(
    ("mechanism", "acks", "size"),
    [("PLAIN", "all", 100), ("SCRAM-SHA-512", "1", 40 * KIB), ("SCRAM-SHA-256", "0", 100), ("OAUTHBEARER", "all", 100)],
)
def test_librdkafka_under_load(broker: Secured, tmp_path: Path, mechanism: str, acks: str, size: int) -> None:
    """No record is lost or there twice, with small requests or spliced ones, acknowledged or not."""
    identity = user(mechanism)
    if mechanism == "OAUTHBEARER":
        file = tmp_path / "token"
        file.write_text(unsecured_token("bob"))
        identity = {"mechanism": mechanism, "token_file": str(file)}
    topic = Backend(broker.cluster).topic(2, 1)
    with kproxy(tmp_path, broker, identity) as proxy:
        check_load(broker, proxy, topic, acks=acks, size=size)
        if size > 16 * KIB:
            assert proxy.metric("kproxy_spliced_bytes_total") > 0


def test_over_tls(tmp_path: Path) -> None:
    """The same where kproxy speaks TLS to the broker."""
    authority = Authority(tmp_path)
    with tls_kafka(authority, protocol="SASL_SSL", sessions=3000) as broker:
        topic = Backend(broker.cluster).topic(2, 1)
        with kproxy(tmp_path, broker, user("SCRAM-SHA-256"), upstream_tls={"ca": str(authority.file)}) as proxy:
            check_load(broker, proxy, topic, size=40 * KIB)


def test_java(broker: Secured, tmp_path: Path) -> None:
    """A verifiable producer and a consumer group of Java: each value arrives once, and no client connects anew."""
    topic, count = Backend(broker.cluster).topic(2, 1), 400 * 25
    login = Security({}, {"mechanism": "PLAIN", "username": NAME, "password": CLIENT_PASSWORD})
    config = str(login.properties(tmp_path))
    with kproxy(tmp_path, broker, user("SCRAM-SHA-512")) as proxy:
        common = ("--bootstrap-server", proxy.bootstrap(), "--topic", topic, "--max-messages", str(count))
        made = (*common, "--throughput", "400", "--command-config", config)
        group = (*common, "--group-id", topic, "--verbose", "--reset-policy", "earliest", "--command-config", config)
        with (
            running(java_tool(f"{TOOLS}.VerifiableConsumer", *group, classpath=java_4_4()), tmp_path) as consuming,
            running(java_tool(f"{TOOLS}.VerifiableProducer", *made, classpath=java_4_4()), tmp_path) as producing,
        ):
            until(lambda: "record_data" in consuming.output and outcomes(proxy)["accepted"] >= 2, "records, renewals")
            wait_renewed(proxy)
            assert producing.process.poll() is None, "the producer has ended before"
            sent = objects(producing.wait())
            seen = objects(consuming.wait())
    acknowledged = sorted(int(line["value"]) for line in sent if line["name"] == "producer_send_success")
    values = sorted(int(line["value"]) for line in seen if line["name"] == "record_data")
    assert acknowledged == list(range(count))
    check_written(count, Backend(broker.cluster).end_offsets(topic))
    check_read(acknowledged, values)
    assert set(values) == set(acknowledged)


def test_a_request_that_lasts_longer_than_the_session(broker: Secured, tmp_path: Path) -> None:
    """kproxy's login waits behind a Fetch of 8 s, as every request does, and the broker takes it late."""
    topic = Backend(broker.cluster).topic(1, 1)
    with kproxy(tmp_path, broker, user("PLAIN")) as proxy:
        waits = {"fetch.wait.max.ms": 8000, "socket.timeout.ms": 20000, "session.timeout.ms": 10000}
        client = Consumer(settings_of(proxy, **{"group.id": topic, "auto.offset.reset": "earliest"}, **waits))
        client.subscribe([topic])
        until(lambda: client.poll(0.1) is None and bool(client.assignment()), "the group is there")
        until(lambda: client.poll(0.1) is None and outcomes(proxy)["accepted"] >= 2, "renewals")
        before = ended(proxy)
        assert client.consume(1, 20) == []
        plain = Producer({"bootstrap.servers": broker.plain, "log_level": 0})
        plain.produce(topic, b"at last")
        assert plain.flush(10) == 0
        (message,) = client.consume(1, 20)
        assert message.value() == b"at last"
        wait_renewed(proxy)
        assert (ended(proxy), not_let_in(proxy)) == (before, 0)
        client.close()


def test_tokens_of_an_authorization_server(realm: Realm, tmp_path: Path) -> None:
    """A session ends with its token, after 12 s: kproxy has the next one before it asks the broker."""
    realm.server.lifetime = 12
    topic = Backend(realm.broker.cluster).topic(2, 1)
    with kproxy(tmp_path, realm.broker, of_authorization_server(realm)) as proxy:
        check_load(realm.broker, proxy, topic)
    assert len(realm.server.asked) >= 3
    realm.server.lifetime = 3600


def test_a_renewal_that_is_refused(broker: Secured, tmp_path: Path) -> None:
    """The user is deleted: clients are disconnected. It comes back: they go on, and have lost nothing."""
    topic, name = Backend(broker.cluster).topic(1, 1), "dora"
    admin = AdminClient({"bootstrap.servers": broker.plain, "log_level": 0})
    there = UserScramCredentialUpsertion(
        name, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), PASSWORD.encode()
    )
    gone = UserScramCredentialDeletion(name, ScramMechanism.SCRAM_SHA_256)
    _alter(admin, there)
    with kproxy(tmp_path, broker, user("SCRAM-SHA-256", name)) as proxy, Load(proxy, topic) as load:
        until(lambda: outcomes(proxy)["accepted"] >= 4, "kproxy is let in again")
        assert proxy.told("upstream_authentication_failed") == 0
        _alter(admin, gone)
        until(lambda: outcomes(proxy)["refused"] >= 1, "it is refused")
        until(lambda: proxy.told("upstream_authentication_failed") >= 1, "the reason in the log")
        line = proxy.logged(reason="upstream_authentication_failed")[0]
        assert "SCRAM-SHA-256 as 'dora': the broker refuses it, SASL_AUTHENTICATION_FAILED" in line["detail"]
        _alter(admin, there)
        before = len(load.read)
        until(lambda: len(load.read) > before + 100, "clients go on", 60)
        assert proxy.told("upstream_session_expired") == 0
    assert load.failed == []
    assert set(load.read) == set(range(load.sent))  # what was under way may be there twice: the connection was lost


@pytest.mark.parametrize("identity", [user("SCRAM-SHA-256", "alice"), user("PLAIN")], ids=["user", "mechanism"])
def test_another_identity(broker: Secured, tmp_path: Path, identity: dict[str, str]) -> None:
    """A reload gives kproxy another user or mechanism: each client connects once more, and all are kproxy's new one."""
    topic = Backend(broker.cluster).topic(1, 1)
    with kproxy(tmp_path, broker, user("SCRAM-SHA-256")) as proxy, Load(proxy, topic) as load:
        until(lambda: load.read and outcomes(proxy)["accepted"] >= 4, "kproxy is let in again")
        clients = connected(proxy)
        proxy.reload(lambda config: config["clusters"][0].update(identity=identity))
        until(lambda: proxy.logged(event="reloaded"), "the reload")
        until(lambda: not clients & connected(proxy), "the broker takes no other user on a connection")
        assert not_let_in(proxy) > 0
        known = outcomes(proxy)["accepted"]
        until(lambda: outcomes(proxy)["accepted"] >= known + 6, "clients are back", 60)
        before = len(load.read)
        wait_renewed(proxy)
        assert len(load.read) > before
    assert load.failed == []
    assert set(load.read) == set(range(load.sent))


def _alter(admin: AdminClient, what: UserScramCredentialUpsertion | UserScramCredentialDeletion) -> None:
    for future in admin.alter_user_scram_credentials([what]).values():
        future.result(30)
