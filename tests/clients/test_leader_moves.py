"""Leaders that move under load: clients are told the new leader's address (KIP-951) and follow through the proxy."""

from __future__ import annotations

import pytest

from tests.support.client import PYTHON_CLIENTS, Running, idempotent, java_tool, script
from tests.support.side import Side
from tests.support.wait import until

TOOLS = "org.apache.kafka.tools"
SECONDS = 8.0
MOVES = 4
CLEAN = {"failed": [], "missing": 0, "wrong": 0}
AT_LEAST_ONCE = "kafkajs"


def move_while(side: Side, topic: str, running: Running) -> None:
    """Move every leader, several times, while the client runs; each move waits until the client got further."""
    for _ in range(MOVES):
        before = sum(side.backend.end_offsets(topic).values())
        side.backend.move_leaders(topic)
        until(lambda before=before: sum(side.backend.end_offsets(topic).values()) > before, "progress after a move")
    assert running.process.poll() is None, f"the client ended before the last move: {running.output[-2000:]}"


@pytest.mark.parametrize("client", [*PYTHON_CLIENTS, pytest.param("kafkajs", marks=pytest.mark.node)])
def test_clients_follow(three: Side, client: str) -> None:
    """A producer and a group, over several moves of all leaders: nothing lost, doubled or past the proxy."""
    topic = three.backend.topic()
    command = script(
        client, "follow", bootstrap=three.bootstrap, topic=topic, group=three.fresh("group"), seconds=SECONDS
    )
    with three.running(command) as running:
        until(lambda: sum(three.backend.end_offsets(topic).values()) > 0, "first record")
        move_while(three, topic, running)
        result = running.result()
    assert result["acknowledged"] == result["produced"] > 100
    assert {key: result[key] for key in CLEAN} == CLEAN
    assert result["duplicates"] == 0 or client == AT_LEAST_ONCE


def test_java_follows(three: Side) -> None:
    """The Java producer and consumer, which take the new leader from the response itself (NodeEndpoints)."""
    topic, count = three.backend.topic(), 3000
    server = ("--bootstrap-server", three.bootstrap, "--topic", topic)
    limits = ("--max-messages", str(count), "--throughput", "250")
    producing = java_tool(f"{TOOLS}.VerifiableProducer", *server, *limits, *idempotent(three.directory))
    group = ("--group-id", three.fresh("group"), "--max-messages", str(count), "--verbose")
    consuming = java_tool(f"{TOOLS}.VerifiableConsumer", *server, *group)
    stale = three.proxy.metric("kproxy_response_errors_total", cluster="kafka", error="NOT_LEADER_OR_FOLLOWER")
    with three.running(consuming) as consumer, three.running(producing) as producer:
        until(lambda: sum(three.backend.end_offsets(topic).values()) > 0, "first record")
        move_while(three, topic, producer)
        producer.wait()
        consumer.wait()
    sent = sorted(int(line["value"]) for line in producer.lines() if line["name"] == "producer_send_success")
    seen = sorted(int(line["value"]) for line in consumer.lines() if line["name"] == "record_data")
    assert sent == seen == list(range(count))
    told = three.proxy.metric("kproxy_response_errors_total", cluster="kafka", error="NOT_LEADER_OR_FOLLOWER")
    assert told > stale, "no client was ever told that a leader had moved: the test proves nothing"
