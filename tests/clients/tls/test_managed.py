"""In front of brokers that speak SASL_SSL only, as managed ones do: kproxy has an identity of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.support.authority import Authority
from tests.support.backend import Backend
from tests.support.proxy import KPROXY, Proxy
from tests.support.secured import NODE_ID, PASSWORD, Secured
from tests.support.tls_kafka import USER
from tests.support.violation import never
from tests.support.wait import until

MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def settings(authority: Authority, directory: Path, mechanism: str) -> dict[str, Any]:
    """Of a virtual cluster: TLS to the brokers, and who kproxy is there."""
    secret = directory / "password"
    secret.write_text(f"{PASSWORD}\n")
    identity = {"mechanism": mechanism, "username": USER, "password_file": str(secret)}
    return {"upstream_tls": {"ca": str(authority.file)}, "identity": identity}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_cluster_is_seen_before_any_client(
    broker: Secured, authority: Authority, tmp_path: Path, mechanism: str
) -> None:
    """kproxy is ready in every sense, and knows the nodes; `config check --connect` says as much."""
    with Proxy(tmp_path, {"kafka": broker.bootstrap}, each=settings(authority, tmp_path, mechanism)) as proxy:
        proxy.hides(PASSWORD, "the password")
        assert proxy.get("/readyz?strict") == (200, b'{"state":"ready","reasons":[]}\n')
        assert proxy.node_ports().keys() == {NODE_ID}
        command = [KPROXY, "config", "check", str(proxy.config), "--connect"]
        checked = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        never(PASSWORD in checked.stdout + checked.stderr, "`config check` shows the password")
        assert (checked.returncode, checked.stderr) == (0, "")
        assert "a port for each" in checked.stdout


def test_a_group_and_its_lag(broker: Secured, authority: Authority, tmp_path: Path) -> None:
    """A client that authenticates as itself joins a hosted group, whose lag kproxy asks with its own identity."""
    topic = Backend(broker.cluster).topic(1, 1)
    each = {**settings(authority, tmp_path, "SCRAM-SHA-512"), "groups": [{"match": ".*"}]}
    with Proxy(tmp_path, {"kafka": broker.bootstrap}, each=each) as proxy:
        common = {
            "bootstrap.servers": proxy.bootstrap(),
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.username": USER,
            "sasl.password": PASSWORD,
        }
        producer = Producer(common)
        for number in range(10):
            producer.produce(topic, b"%d" % number)
        assert producer.flush(30) == 0
        consumer = Consumer({**common, "group.id": "managed", "auto.offset.reset": "earliest"})
        consumer.subscribe([topic])
        until(lambda: consumer.poll(0.2), "a record", timeout=30)
        consumer.commit(offsets=[TopicPartition(topic, 0, 4)], asynchronous=False)
        status, body = proxy.get("/api/v1/clusters/kafka/groups/managed/lag")
        consumer.close()
        assert status == 200, body
        (row,) = json.loads(body)["partitions"]
        assert (row["committed"], row["end"], row["lag"]) == (4, 10, 6)


def test_a_wrong_password(broker: Secured, authority: Authority, tmp_path: Path) -> None:
    """The reason is in /readyz, without the password; clients, which authenticate themselves, are served."""
    each = settings(authority, tmp_path, "SCRAM-SHA-256")
    (tmp_path / "password").write_text("not-the-password")
    with Proxy(tmp_path, {"kafka": broker.bootstrap}, each=each) as proxy:
        proxy.hides("not-the-password", "the wrong password")
        said = str(until(lambda: proxy.get_json("/readyz?strict")["reasons"], "a reason", timeout=30))
        never("not-the-password" in said, "/readyz shows the wrong password")
        assert USER in said
        client = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "bootstrap.servers": proxy.bootstrap(),
        }
        producer = Producer({**client, "sasl.username": USER, "sasl.password": PASSWORD})
        assert producer.list_topics(timeout=20).brokers.keys() == {NODE_ID}
