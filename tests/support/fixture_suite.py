"""Tests of an application whose faults come from fixtures: test_pytest_plugin.py has a pytest of its own run them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kproxy.testing import Kproxy, Rule

FAULTS = "/api/v1/clusters/kafka/faults"


def produce(kproxy: Kproxy) -> None:
    """Write a record."""
    producer = Producer({"bootstrap.servers": kproxy.bootstrap_servers, "log_level": 0})
    producer.produce("orders", "one")
    assert producer.flush(30) == 0


@pytest.fixture
def flaky(kproxy: Kproxy) -> Iterator[Rule]:
    """A broker that refuses a request."""
    with kproxy.inject("Produce", error="NOT_LEADER_OR_FOLLOWER", count=1) as rule:
        yield rule
    assert rule.hits == 1


def test_in_a_fixture(flaky: Rule, kproxy: Kproxy) -> None:
    """The fixture ends behind the rule."""
    produce(kproxy)
    assert flaky.hits == 1


def test_unused_by_its_name_alone(request: pytest.FixtureRequest) -> None:
    """It fails: the rule hits nothing."""
    request.getfixturevalue("kproxy").inject("Heartbeat", close=True)


def test_used_by_its_name_alone(request: pytest.FixtureRequest) -> None:
    """The rule stays in force as long as the test."""
    kproxy = request.getfixturevalue("kproxy")
    rule = kproxy.inject("Produce", error="NOT_LEADER_OR_FOLLOWER", count=1)
    produce(kproxy)
    assert rule.hits == 1


def test_none_is_left(kproxy: Kproxy) -> None:
    """Whatever way a test has taken the fixture."""
    assert kproxy.json("GET", FAULTS)["faults"] == []


@pytest.fixture
def closing(kproxy: Kproxy) -> Iterator[None]:
    """An application that says in a file what it finds when it closes."""
    yield
    left, state = kproxy.json("GET", FAULTS)["faults"], kproxy.json("GET", "/readyz")["state"]
    Path("left").write_text(f"{left} {state}")


@pytest.mark.usefixtures("closing")
def test_interrupted(kproxy: Kproxy) -> None:
    """By a person at the terminal."""
    kproxy.inject("Heartbeat", close=True)
    # As at a terminal: what a shell has begun in the background ignores it, and so does all that it begins.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.killpg(os.getpgrp(), signal.SIGINT)
    signal.pause()
