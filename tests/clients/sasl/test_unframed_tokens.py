"""SaslHandshake v0, behind which tokens come without Kafka's header: an old client, and exchanges by hand."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path
from typing import Final

import pytest

from kproxy.local_kafka.broker import HOST
from kproxy.upstream.scram import scram
from tests.clients.sasl.shown import WRONG, check_principal, connections, ended
from tests.clients.sasl.test_exchanges import jwt, plain
from tests.support import raw, venvs
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, metadata
from tests.support.secured import PASSWORD, Secured
from tests.support.wait import until

COUNT: Final = 50
SCRIPT: Final = """
import json, sys
import kafka
from kafka import KafkaConsumer, KafkaProducer
settings, topic, count = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
producer = KafkaProducer(acks="all", **settings)
sent = [producer.send(topic, str(number).encode()) for number in range(count)]
for each in sent:
    each.get(60)
consumer = KafkaConsumer(topic, group_id=topic, auto_offset_reset="earliest", consumer_timeout_ms=60000, **settings)
seen = []
for message in consumer:
    seen.append(int(message.value))
    if len(seen) == count:
        break
consumer.commit()
consumer.close()
print(json.dumps([kafka.__version__, sorted(seen)]))
"""


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_kafka_python_before_2_1(proxy: Proxy, broker: Secured, tmp_path: Path, mechanism: str) -> None:
    """It sends v0 to every broker: its records are written, and its group reads and commits them."""
    topic, name = Backend(broker.cluster).topic(1, 1), f"old-{mechanism}"
    login = {"sasl_mechanism": mechanism, "sasl_plain_username": "alice", "sasl_plain_password": PASSWORD}
    servers = {"bootstrap_servers": proxy.bootstrap("secured"), "security_protocol": "SASL_PLAINTEXT"}
    python = venvs.python_with("kafka-python", "2.0.2")
    command = [python, "-c", SCRIPT, json.dumps({**servers, **login, "client_id": name}), topic, str(COUNT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == ["2.0.2", list(range(COUNT))], done.stderr[-2000:]
    assert broker.principals(name) == {"User:alice"}
    lines = until(lambda: ended(proxy, name), "the lines of its ends")
    assert {line.get("principal") for line in lines} <= {"User:alice", None}


def shaken(port: int, mechanism: str, client_id: str) -> RawClient:
    """Return a client whose mechanism the broker has accepted by v0."""
    client = RawClient(port)
    assert client.ask(raw.request(17, 0, 1, raw.string(mechanism), client_id))[:2] == b"\0\0"
    return client


def say(client: RawClient, token: bytes) -> None:
    client.send(struct.pack(">i", len(token)) + token)


def hear(client: RawClient) -> bytes:
    """Return the broker's token."""
    return client.exactly(struct.unpack(">i", client.exactly(4))[0])


@pytest.fixture(params=["kproxy", "broker"])
def port(request: pytest.FixtureRequest, proxy: Proxy, broker: Secured) -> int:
    """Where clients come to: what holds through kproxy holds at the broker."""
    return proxy.port("secured") if request.param == "kproxy" else int(broker.bootstrap.removeprefix(f"{HOST}:"))


def test_exchanges_by_hand(port: int) -> None:
    """Each is followed by a request, which has a header."""
    with shaken(port, "PLAIN", "by-hand") as client:
        say(client, plain("alice", PASSWORD))
        assert hear(client) == b""
        assert client.ask(metadata(2))
    with shaken(port, "SCRAM-SHA-256", "by-hand") as client:
        exchange = scram("SCRAM-SHA-256", "bob", PASSWORD, "abc")
        say(client, next(exchange))
        say(client, exchange.send(hear(client)))
        with pytest.raises(StopIteration):
            exchange.send(hear(client))
        assert client.ask(metadata(2))
    with shaken(port, "OAUTHBEARER", "by-hand") as client:
        say(client, f"n,,\x01auth=Bearer {jwt(sub='carol', iat=1, exp=1 << 32)}\x01\x01".encode())
        assert hear(client) == b""
        assert client.ask(metadata(2))


def test_a_client_that_waits_for_nothing(port: int) -> None:
    """Handshake, token and request in one write: each is answered."""
    token = plain("alice", PASSWORD)
    with RawClient(port) as client:
        client.send(raw.request(17, 0, 1, raw.string("PLAIN")), struct.pack(">i", len(token)) + token, metadata(2))
        assert client.receive()[0] == 1
        assert hear(client) == b""
        assert client.receive()[0] == 2


def test_refusals(port: int) -> None:
    """A wrong password ends the connection without a word; a mechanism that there is not is answered before."""
    with shaken(port, "PLAIN", "wrong") as client:
        say(client, plain("alice", WRONG))
        assert client.wait_closed() == b""
    with RawClient(port) as client:
        assert client.ask(raw.request(17, 0, 1, raw.string("NONSENSE")))[:2] == b"\0\x21"
        assert client.wait_closed() == b""
    with shaken(port, "PLAIN", "wrong") as client:
        client.send(raw.request(17, 0, 2, raw.string("PLAIN")))
        assert client.wait_closed() == b""


def test_who_it_is(proxy: Proxy, broker: Secured) -> None:
    """The principal is known once the broker has accepted the token; no secret is shown."""
    with shaken(proxy.port("secured"), "PLAIN", "who") as client:
        assert [one["principal"] for one in connections(proxy, "who")] == [None]
        say(client, plain("bob", PASSWORD))
        assert hear(client) == b""
        client.ask(raw.request(raw.METADATA, 1, 2, raw.array([]), "who"))
        check_principal(proxy, broker, "who", "User:bob")


def test_a_broker_that_does_not_authenticate(proxy: Proxy, broker: Secured) -> None:
    """It answers the handshake with an error, and goes on with requests."""
    for port in (proxy.port("open"), int(broker.plain.removeprefix(f"{HOST}:"))):
        with RawClient(port) as client:
            assert client.ask(raw.request(17, 0, 1, raw.string("PLAIN")))[:2] == b"\0\x22"
            assert client.ask(metadata(2))
