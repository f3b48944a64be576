"""Tests of an application that fail, each for a reason of its own: `tests/clients/test_pytest_plugin.py` runs them."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from confluent_kafka import KafkaError, Message, Producer

from kproxy.testing import Kproxy


@pytest.fixture(scope="session")
def kproxy_config() -> Mapping[str, Any]:
    """Settings of the virtual cluster, as a user's conftest has them."""
    return {"topology": {"interval": "1h"}} if "WRONG_SETTING" in os.environ else {"faults": {"seed": 7}}


def send(kproxy: Kproxy, client_id: str = "orders-1", count: int = 1) -> Sequence[str]:
    """Send records; return the names of their errors."""
    errors: list[str] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            errors.append(error.name())

    producer = Producer({"bootstrap.servers": kproxy.bootstrap_servers, "client.id": client_id, "log_level": 0})
    for number in range(count):
        producer.produce("orders", str(number), on_delivery=delivered)
    producer.flush(30)
    return errors


def test_a_wrong_name(kproxy: Kproxy) -> None:
    """No error of Kafka has it."""
    kproxy.inject("Produce", error="NOT_LEADER")


def test_an_unused_rule(kproxy: Kproxy) -> None:
    """Another client sends."""
    with kproxy.inject("Produce", error="NOT_LEADER_OR_FOLLOWER", client_id="payments"):
        assert send(kproxy) == []


def test_a_rule_that_nobody_looks_at(kproxy: Kproxy) -> None:
    """Nothing is sent through kproxy at all."""
    kproxy.inject("Fetch", delay=1)


def test_too_few_hits(kproxy: Kproxy) -> None:
    """One hit, and two are awaited."""
    rule = kproxy.inject("Produce", close=True, count=1)
    assert send(kproxy) == []
    rule.wait_for_hits(2, timeout=0.5)


def test_the_application(kproxy: Kproxy) -> None:
    """It fails under the fault, which is in the log that the report shows."""
    with kproxy.inject("Produce", error="TOPIC_AUTHORIZATION_FAILED"):
        assert send(kproxy) == []


def test_kproxy_ends(kproxy: Kproxy) -> None:
    """In the middle of the test, which passes by itself."""
    kproxy.inject("Produce", close=True, allow_unused=True)
    os.kill(_pid(), signal.SIGKILL)


def test_behind_the_end(kproxy: Kproxy) -> None:
    """kproxy has ended in the test before."""
    kproxy.inject("Produce", close=True)


def test_rules_are_gone(kproxy: Kproxy) -> None:
    """Those of the tests before; rules that may be unused are, and one that is over still has its hits."""
    unused = kproxy.inject("Fetch", delay=1, allow_unused=True)
    over = kproxy.inject("Produce", half="NOT_LEADER_OR_FOLLOWER", count=1)
    assert send(kproxy, count=5) == []
    assert (over.wait_for_hits(), over.hits, unused.hits) == (1, 1, 0)
    over.remove()
    over.remove()
    assert over.hits == 1


def _pid() -> int:
    """The process id of the kproxy that this process has started."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as children:
        (pid,) = children.read().split()
    return int(pid)
