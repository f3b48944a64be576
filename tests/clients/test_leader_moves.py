"""Leaders that move under load: clients are told the new leader's address (KIP-951) and follow through the proxy."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import LIBRDKAFKAS_OWN, PYTHON_CLIENTS, Running, idempotent, java_tool, script
from tests.support.side import Side
from tests.support.wait import until

TOOLS = "org.apache.kafka.tools"
SECONDS = 8.0
MOVES = 4
RUNS = 5
CLEAN = {"failed": [], "missing": 0, "duplicates": 0, "wrong": 0}


def move_while(side: Side, topic: str, running: Running) -> None:
    """Move every leader, several times, while the client runs; each move waits until the client got further."""
    for _ in range(MOVES):
        before = sum(side.backend.end_offsets(topic).values())
        side.backend.move_leaders(topic)
        until(lambda before=before: sum(side.backend.end_offsets(topic).values()) > before, "progress after a move")
    assert running.process.poll() is None, f"the client ended before the last move: {running.output[-2000:]}"


def follow(side: Side, client: str, topic: str) -> tuple[dict[str, Any], str]:
    """The result and the log of a producer and a group that ran through several moves of all leaders."""
    command = script(
        client, "follow", bootstrap=side.bootstrap, topic=topic, group=side.fresh("group"), seconds=SECONDS
    )
    with side.running(command) as running:
        until(lambda: sum(side.backend.end_offsets(topic).values()) > 0, "first record")
        move_while(side, topic, running)
        return running.result(), running.output


@pytest.mark.parametrize("client", PYTHON_CLIENTS)
def test_clients_follow(three: Side, client: str) -> None:
    """An idempotent producer and a group, over several moves of all leaders: none lost, doubled or past the proxy."""
    for _ in range(RUNS):
        result, log = follow(three, client, three.backend.topic())
        assert (result["missing"], result["wrong"]) == (0, 0)
        if LIBRDKAFKAS_OWN not in log:
            break
    assert {key: result[key] for key in CLEAN} == CLEAN
    assert result["acknowledged"] == result["produced"] == result["consumed"] > 100


@pytest.mark.node
def test_kafkajs_follows(three: Side) -> None:
    """kafkajs goes on producing over the moves, and its group reads each record of the log once, byte for byte."""
    topic = three.backend.topic()
    result, _ = follow(three, "kafkajs", topic)
    assert result["acknowledged"] == result["produced"] > 100
    assert result["consumed"] == sum(three.backend.end_offsets(topic).values())
    assert result["wrong"] == 0


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
