"""kproxy without an identity: its clients still work, and it learns the cluster from their traffic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer

from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.secured import NODE_ID, PASSWORD, Secured
from tests.support.wait import until

USER = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "alice",
    "sasl.password": PASSWORD,
    "log_level": 0,
}
COUNT = 200


def produce(bootstrap: str, topic: str) -> int:
    """Produce records and wait for their acknowledgements; return how many are missing."""
    return produce_more(Producer({"bootstrap.servers": bootstrap, "acks": "all", **USER}), topic)


def produce_more(producer: Producer, topic: str) -> int:
    """As `produce`, with an existing producer."""
    for number in range(COUNT):
        producer.produce(topic, str(number).encode())
    return producer.flush(30)


def consume(bootstrap: str, topic: str) -> list[int]:
    """Read COUNT records in a group; return their numbers."""
    group = {"group.id": f"of-{topic}", "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": bootstrap, **group, **USER})
    consumer.subscribe([topic])
    found: list[int] = []
    try:
        until(lambda: len(_more(found, consumer)) >= COUNT, f"{COUNT} records of {topic}", 60)
    finally:
        consumer.close()
    return found


def _more(found: list[int], consumer: Consumer) -> list[int]:
    messages = consumer.consume(COUNT, 0.5)
    assert not [message.error() for message in messages if message.error()]
    found += [int(message.value() or b"") for message in messages]
    return found


def test_clients_are_served_though_kproxy_is_refused(broker: Secured, tmp_path: Path) -> None:
    """kproxy is degraded and says why; records pass, and clients are sent to a node that it learnt from traffic."""
    topic = Backend(broker.cluster).topic(1, 1)
    with Proxy(tmp_path, {"secured": broker.bootstrap}, topology={"interval": "1s"}) as proxy:
        assert proxy.node_ports("secured") == {}
        assert produce(proxy.bootstrap(), topic) == 0
        assert consume(proxy.bootstrap(), topic) == list(range(COUNT))
        status, ready = proxy.get("/readyz")
        assert status == 200
        assert b'"state":"degraded"' in ready
        assert b"closed the connection with 1 requests unanswered" in ready
        assert b"give kproxy an `identity`" in ready
        (cluster,) = proxy.get_json("/api/v1/clusters")["clusters"]
        assert cluster["cluster_id"] is None
        assert [(node["node_id"], node["upstream"]) for node in cluster["nodes"]] == [(NODE_ID, broker.bootstrap)]
        assert not proxy.logged(level="error")


def test_clients_are_notified_all_the_same(broker: Secured, tmp_path: Path) -> None:
    """A rebootstrap, and a failover that is forced since kproxy cannot check its target: the producer goes on."""
    topic = Backend(broker.cluster).topic(1, 1)
    upstreams = {"one": broker.bootstrap, "two": broker.bootstrap}
    with Proxy(tmp_path, {"secured": upstreams}, topology={"epoch_floor": "1s"}) as proxy:
        producer = Producer({"bootstrap.servers": proxy.bootstrap(), "acks": "all", **USER})
        assert produce_more(producer, topic) == 0
        assert proxy.rebootstrap("secured")["connections"] > 0
        assert produce_more(producer, topic) == 0
        path = "/api/v1/clusters/secured/failover"
        status, said = _posted(proxy, path, {"to": "two"})
        assert (status, "cannot take over" in said["error"]) == (409, True)
        status, said = _posted(proxy, path, {"to": "two", "force": True})
        assert (status, said["upstream"]) == (200, "two")
        assert produce_more(producer, topic) == 0


def _posted(proxy: Proxy, path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """POST again until the answer is not 429; return its status and body."""

    def answer() -> tuple[int, Any] | None:
        status, said = proxy.post(path, body)
        return None if status == 429 else (status, said)

    found = until(answer, f"an answer to {body}")
    assert found is not None
    return found


def test_kproxy_learns_anew_after_a_restart(broker: Secured, tmp_path: Path) -> None:
    """kproxy cannot ask for the nodes after a restart: a client that bootstraps makes it open their ports again."""
    topic = Backend(broker.cluster).topic(1, 1)
    with Proxy(tmp_path, {"secured": broker.bootstrap}) as proxy:
        assert produce(proxy.bootstrap(), topic) == 0
        proxy.stop()
        proxy.start()
        assert consume(proxy.bootstrap(), topic) == list(range(COUNT))
