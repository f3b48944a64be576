"""Brokers that die, come back or stall under load."""

from __future__ import annotations

from pathlib import Path

from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.client import LIBRDKAFKAS_OWN, idempotent, java_tool, script
from tests.support.healthy import Healthy
from tests.support.proxy import Proxy
from tests.support.side import Side
from tests.support.violation import check_read, check_whole, check_written
from tests.support.wait import stays, until

TOOLS = "org.apache.kafka.tools"
SECONDS = 30


def wait_past(kafka: Backend, topic: str, records: int, what: str) -> None:
    """Wait until a topic has more than so many records."""
    until(lambda: sum(kafka.end_offsets(topic).values()) > records, what)


def test_kill_and_restart_under_load(proxy: Proxy, kafka: Backend, tmp_path: Path) -> None:
    """kill -9 of a broker and its return, librdkafka and Java with acks=all: none lost, none doubled, all read."""
    side = Side(proxy, "kafka", kafka, tmp_path)
    ours, javas, count = kafka.topic(), kafka.topic(), 6000
    victim = kafka.leaders(ours)[0]
    names = {"topic": ours, "group": side.fresh("group"), "stop": str(tmp_path / "stop")}
    following = script("confluent_kafka", "follow", bootstrap=side.bootstrap, seconds=120, **names)
    server = ("--bootstrap-server", side.bootstrap, "--topic", javas)
    pace = ("--max-messages", str(count), "--throughput", str(count // SECONDS))
    producing = java_tool(f"{TOOLS}.VerifiableProducer", *server, *pace, *idempotent(tmp_path))
    consuming = java_tool(
        f"{TOOLS}.VerifiableConsumer", *server, "--group-id", side.fresh("g"), "--max-messages", str(count), "--verbose"
    )
    with side.running(following) as client, side.running(consuming) as consumer, side.running(producing) as producer:
        for topic in (ours, javas):
            wait_past(kafka, topic, 200, "load")
        kafka.cluster.brokers[victim].kill()
        try:
            until(lambda: victim not in kafka.leaders(ours).values(), "other leaders")
            before = sum(kafka.end_offsets(ours).values())
            wait_past(kafka, ours, before + 200, "progress without the broker")
            assert proxy.metric("kproxy_upstream_reachable", node=str(victim)) == 0
        finally:
            kafka.cluster.restart(victim)
        for topic in (ours, javas):
            kafka.wait_in_sync(topic)
        assert client.process.poll() is None, "the load ended before the broker was back: the test proves nothing"
        (tmp_path / "stop").touch()
        result = client.result()
        producer.wait()
        consumer.wait()
    assert result["acknowledged"] > 1000
    check_whole(result)
    assert result["wrong"] == 0
    # Java's records, checked below, are exactly once whatever librdkafka does.
    if LIBRDKAFKAS_OWN not in client.output:
        assert result["failed"] == []
        check_written(result["acknowledged"], kafka.end_offsets(ours), "librdkafka's records")
    sent = [int(line["value"]) for line in producer.lines() if line["name"] == "producer_send_success"]
    seen = [int(line["value"]) for line in consumer.lines() if line["name"] == "record_data"]
    assert sorted(sent) == list(range(count))
    check_written(count, kafka.end_offsets(javas), "Java's records")
    check_read(sent, seen)
    assert set(seen) == set(sent)
    until(lambda: proxy.metric("kproxy_upstream_reachable", node=str(victim)) == 1, "the broker to be reachable again")


def test_stalled_broker_stalls_only_its_own_clients(proxy: Proxy, kafka: Backend, bounds: Bounds) -> None:
    """SIGSTOP: clients of other nodes and of the admin port notice nothing; kproxy reports the broker until SIGCONT."""
    ports = proxy.node_ports()
    victim, *others = ports
    with Healthy(ports[others[0]]) as one, Healthy(ports[others[1]]) as other:
        until(lambda: proxy.get_json("/readyz")["state"] == "ready", "ready")
        with kafka.paused(victim):
            served = len(one.round_trips)
            until(lambda: len(one.round_trips) > served + 50, "service beside a stalled broker")
            stays(lambda: proxy.get("/livez")[0] == 200, "the admin port stalled", seconds=1)
        bounds.below(max(one.slowest, other.slowest), 2.0, "seconds of healthy clients")
    with Healthy(ports[victim]) as back:
        until(lambda: len(back.round_trips) > 10, "service by the broker after SIGCONT")


def test_kproxy_restarts_under_load(proxy: Proxy, kafka: Backend, tmp_path: Path) -> None:
    """kproxy itself ends by SIGTERM and starts again, twice: nothing is lost or doubled."""
    side = Side(proxy, "kafka", kafka, tmp_path)
    topic = kafka.topic()
    command = script(
        "confluent_kafka", "follow", bootstrap=side.bootstrap, topic=topic, group=side.fresh("group"), seconds=12
    )
    with side.running(command) as client:
        for _ in range(2):
            before = sum(kafka.end_offsets(topic).values())
            wait_past(kafka, topic, before + 200, "load")
            proxy.stop()
            proxy.start()
        assert client.process.poll() is None
        result = client.result()
    check_whole(result)
    assert result["acknowledged"] == result["produced"] > 500
    assert (result["missing"], result["wrong"]) == (0, 0)
    check_written(result["acknowledged"], kafka.end_offsets(topic))
