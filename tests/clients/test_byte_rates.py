"""Principals that produce or fetch above their rate are throttled: they are told so, they wait, and nothing is lost."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka import Consumer, Producer

from tests.clients.test_proxy_protocol import secured
from tests.support import raw
from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.client import java_tool
from tests.support.proxy import Proxy
from tests.support.wait import until

RATE: Final = 1_000_000
RECORD: Final = 20_000
COUNT: Final = 250
"""Five seconds' bytes, of which one second's may come at once."""
LEAST: Final = RECORD * COUNT / RATE - 1.0
"""Seconds that it takes at least; the last request is not waited for, so another half is taken off."""
SLACK: Final = 0.5


@contextmanager
def rated(directory: Path, backend: Backend, rules: list[dict[str, Any]], **each: Any) -> Iterator[Proxy]:
    """A kproxy with byte rates in front of a Kafka."""
    own = {"byte_rates": rules, **each}
    with Proxy(directory, {"kafka": backend.cluster.bootstrap}, each=own) as proxy:
        yield proxy


class Throttles:
    """What librdkafka was told."""

    def __init__(self) -> None:
        self.told: list[float] = []

    def __call__(self, event: Any) -> None:
        self.told.append(event.throttle_time)


def produced(proxy: Proxy, topic: str, told: Throttles, **settings: Any) -> float:
    """Produce the records; return how long that took."""
    producer = Producer(
        {"bootstrap.servers": proxy.bootstrap(), "throttle_cb": told, "batch.size": 100_000, "linger.ms": 5, **settings}
    )
    producer.list_topics(topic, timeout=30)
    begun = time.monotonic()
    for number in range(COUNT):
        producer.produce(topic, number.to_bytes(RECORD, "big"))
    assert producer.flush(60) == 0
    took = time.monotonic() - begun
    producer.poll(0)
    producer.close()
    return took


def consumed(proxy: Proxy, topic: str, told: Throttles, **settings: Any) -> float:
    """Read all records; return how long that took."""
    consumer = Consumer(
        {
            "bootstrap.servers": proxy.bootstrap(),
            "throttle_cb": told,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "max.partition.fetch.bytes": 200_000,
            **settings,
        }
    )
    consumer.subscribe([topic])
    numbers, begun = set[int](), 0.0
    end = time.monotonic() + 90
    while len(numbers) < COUNT:
        assert time.monotonic() < end, f"{len(numbers)} records"
        message = consumer.poll(1)
        if message is not None and not message.error():
            begun = begun or time.monotonic()
            numbers.add(int.from_bytes(message.value() or b"", "big"))
    took = time.monotonic() - begun
    consumer.close()
    return took


@pytest.mark.parametrize("tls", [False, True], ids=["plaintext", "tls"])
def test_librdkafka_is_told_and_waits(newest_kafka: Backend, tmp_path: Path, tls: bool, bounds: Bounds) -> None:
    """Five seconds' bytes take four and more, each way; every record arrives, and the client knows why it waits."""
    each, security = secured(tmp_path) if tls else ({}, {})
    topic = newest_kafka.topic()
    rules = [{"principal": "User:ANONYMOUS", "produce": RATE, "fetch": "1MB"}]
    with rated(tmp_path, newest_kafka, rules, **each) as proxy:
        for api, moved in (("Produce", produced), ("Fetch", consumed)):
            told = Throttles()
            took = moved(proxy, topic, told, **security)
            assert took > LEAST - SLACK, api
            bounds.below(took, 3 * LEAST, f"seconds of {moved.__name__}")
            assert max(told.told, default=0) > 0, api
            assert proxy.metric("kproxy_throttles_total", api=api) > 0
            assert proxy.metric("kproxy_throttle_seconds_total", api=api) > 1
        ended = proxy.logged(event="connection ended", level="warning")
        assert not ended


def test_others_are_not_throttled(newest_kafka: Backend, tmp_path: Path, bounds: Bounds) -> None:
    """A rate of another principal, and one of the other direction, change nothing."""
    rules = [{"principal": "User:batch-.*", "produce": 1000}, {"principal": ".*", "fetch": 1000}]
    with rated(tmp_path, newest_kafka, rules) as proxy:
        told = Throttles()
        bounds.below(produced(proxy, newest_kafka.topic(), told), LEAST, "seconds of produced")
        assert not any(told.told)
        assert proxy.metric("kproxy_throttles_total", api="Produce") == 0


def test_java_is_told_and_waits(newest_kafka: Backend, tmp_path: Path) -> None:
    """Kafka's own client knows its throttle time, and is as slow as its rate."""
    topic = newest_kafka.topic()
    with rated(tmp_path, newest_kafka, [{"principal": ".*", "produce": RATE}]) as proxy:
        done = subprocess.run(
            java_tool(
                "org.apache.kafka.tools.ProducerPerformance",
                *("--topic", topic, "--num-records", str(COUNT), "--record-size", str(RECORD), "--throughput", "-1"),
                *("--print-metrics", "--bootstrap-server", proxy.bootstrap()),
            ),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        throttled = re.search(r"produce-throttle-time-max.*: *([0-9.]+)", done.stdout)
        assert throttled is not None, done.stdout[-3000:]
        assert float(throttled[1]) > 0
        assert proxy.metric("kproxy_throttle_seconds_total", api="Produce") > 1


def test_a_client_that_does_not_wait_is_read_later(newest_kafka: Backend, tmp_path: Path, bounds: Bounds) -> None:
    """It sends on at once; its next request, of another API, is answered only when its time is over."""
    topic = newest_kafka.topic()
    rules = [{"principal": ".*", "produce": 100}]
    with rated(tmp_path, newest_kafka, rules) as proxy, raw.RawClient(proxy.port(), timeout=30) as client:
        begun = time.monotonic()
        client.send(raw.produce(1, topic, 1, [b"x" * 700]))
        client.receive()
        bounds.below(time.monotonic() - begun, LEAST, "seconds until the response to what it was throttled for")
        client.send(raw.api_versions(2))
        client.receive()
        assert time.monotonic() - begun > LEAST


def test_rates_change_with_a_reload(newest_kafka: Backend, tmp_path: Path, bounds: Bounds) -> None:
    """Rates come and go without a restart."""
    with rated(tmp_path, newest_kafka, []) as proxy:
        topic, told = newest_kafka.topic(), Throttles()
        bounds.below(produced(proxy, topic, told), LEAST, "seconds of produced")
        assert not any(told.told)
        for number, rules in enumerate(([{"principal": ".*", "produce": RATE}], []), 1):
            proxy.reload(lambda config, rules=rules: config["clusters"][0].update(byte_rates=rules))  # type: ignore[misc]
            until(lambda: len(proxy.logged(event="reloaded")) == number, "reloaded")  # noqa: B023
            told = Throttles()
            produced(proxy, topic, told)
            assert any(told.told) == bool(rules)


def test_a_pattern_that_is_no_regex(newest_kafka: Backend, tmp_path: Path) -> None:
    """kproxy does not start, and says which pattern it is, and why."""
    rules = [{"principal": ".*", "produce": 1}, {"principal": "(", "produce": 1}]
    refused = pytest.raises(AssertionError, match=r"clusters\.0\.byte_rates\.1\.principal.*missing \)")
    with refused, rated(tmp_path, newest_kafka, rules):
        pass
