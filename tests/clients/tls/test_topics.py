"""Events and telemetry to topics of a cluster of its own that is reached by SASL_SSL, which is no virtual cluster's."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.support.authority import Authority
from tests.support.backend import Backend
from tests.support.proxy import KPROXY, Proxy
from tests.support.secured import PASSWORD, Secured
from tests.support.tls_kafka import USER
from tests.support.violation import never
from tests.support.wait import until

IDENTITY = {"mechanism": "SCRAM-SHA-512", "username": USER, "password": PASSWORD}


def destination(broker: Secured, topic: str, ca: Path, **own: Any) -> dict[str, Any]:
    """A topic of the secured cluster, for events or telemetry."""
    return {
        "name": "central",
        "type": "kafka",
        "topic": topic,
        "bootstrap_servers": broker.bootstrap,
        "tls": {"ca": str(ca)},
        "identity": IDENTITY,
        **own,
    }


def test_events_and_telemetry(broker: Secured, newest_kafka: Backend, authority: Authority, tmp_path: Path) -> None:
    """A client of one cluster: its events and its metrics are in the topics of the other; nothing shows the secret."""
    central = Backend(broker.cluster)
    events, metrics = central.topic(1, 1), central.topic(1, 1)
    with Proxy(
        tmp_path,
        {"kafka": newest_kafka.cluster.bootstrap},
        each={"telemetry": {"subscriptions": [{"name": "all", "metrics": ["*"], "interval": "1s"}]}},
        events={"destinations": [destination(broker, events, authority.file)]},
        receivers=[destination(broker, metrics, authority.file)],
    ) as proxy:
        proxy.hides(PASSWORD, "the password")
        producer = Producer({"bootstrap.servers": proxy.bootstrap(), "client.id": "app"})
        topic = newest_kafka.topic()
        until(lambda: produced(producer, topic) and central.end_offsets(metrics)[0] > 0, "metrics", timeout=60)
        producer.close()
        seen = until(lambda: names(central, events) & {"client_connected"}, "events", timeout=60)
        assert seen == {"client_connected"}
        shown = subprocess.run(
            [KPROXY, "config", "show", "--config", str(proxy.config)], capture_output=True, text=True, check=True
        )
        never(PASSWORD in shown.stdout, "`config show` shows the password")
    assert f"User:{USER}" in broker.principals("kproxy")


def produced(producer: Producer, topic: str) -> bool:
    """Produce a record, so that the client has something to tell."""
    producer.produce(topic, b"x")
    return producer.flush(10) == 0


def names(backend: Backend, topic: str) -> set[str]:
    """The kinds of the events in a topic."""
    return {json.loads(value)["event"] for value in backend.values(topic)}


@pytest.mark.parametrize(("ca", "line"), [("missing.pem", "No such file"), ("empty.pem", "is no PEM file")])
def test_a_file_that_cannot_be_used(broker: Secured, tmp_path: Path, ca: str, line: str) -> None:
    """kproxy does not start, and `config check` says the same: which setting, which file, and why."""
    (tmp_path / "empty.pem").write_text("")
    proxy = Proxy(
        tmp_path,
        {"kafka": broker.cluster.bootstrap},
        events={"destinations": [destination(broker, "events", tmp_path / ca)]},
    )
    for command in (("config", "check", str(proxy.config)), ("serve", "--config", str(proxy.config))):
        done = subprocess.run([KPROXY, *command], capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 2, done.stderr
        assert "events.destinations.0.tls.ca" in done.stderr
        assert line in done.stderr


def test_a_broker_that_is_not_trusted(broker: Secured, tmp_path: Path) -> None:
    """The log says why, once it is known; kproxy serves its clients meanwhile."""
    stranger = Authority(tmp_path, "stranger")
    with Proxy(
        tmp_path,
        {"kafka": broker.cluster.bootstrap},
        events={"destinations": [destination(broker, "events", stranger.file)]},
    ) as proxy:
        producer = Producer({"bootstrap.servers": proxy.bootstrap()})
        assert produced(producer, Backend(broker.cluster).topic(1, 1))
        until(lambda: "its authority is not trusted" in proxy.log.read_text(), "the reason", timeout=30)
        producer.close()
