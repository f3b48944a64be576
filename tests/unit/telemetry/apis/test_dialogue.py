"""The check of who may alter and describe: what the broker is asked, and what follows from its answer."""

from __future__ import annotations

import pytest

from kproxy.protocol.ask_broker import Dialogue
from kproxy.telemetry.apis.dialogue import ALTER_CONFIGS, DESCRIBE_CONFIGS, Altered, MayAlter, Refusal, permitted
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.generated.describe_cluster_response import DescribeClusterResponse
from tests.unit.telemetry.apis.broker import MAY_BOTH, Broker


def asked(broker: Broker, operation: int, may_alter: MayAlter = "upstream") -> Refusal | None:
    found: list[Refusal | None] = []

    def dialogue() -> Dialogue[Altered]:
        found.append((yield from permitted(operation, may_alter)))
        return Altered(ApiVersionsResponse())

    broker.talk(dialogue())
    return found[0]


@pytest.mark.parametrize(
    ("operations", "alter", "describe"),
    [
        (MAY_BOTH, True, True),
        (1 << 10, False, True),
        (1 << 11, True, False),
        (0, False, False),
        (-(2**31), False, False),
    ],
)
def test_upstream_the_broker_says(operations: int, alter: bool, describe: bool) -> None:
    """On the client's connection: bit 11 is ALTER_CONFIGS, bit 10 DESCRIBE_CONFIGS; a refusal is 31."""
    for operation, may in ((ALTER_CONFIGS, alter), (DESCRIBE_CONFIGS, describe)):
        broker = Broker(operations)
        refusal = asked(broker, operation)
        assert broker.keys == [18, 60]
        assert (refusal is None) is may
        if refusal:
            assert refusal.code == 31
            assert "this principal may not" in refusal.message


def test_any_asks_nobody() -> None:
    """Everybody may do both."""
    broker = Broker(0)
    assert asked(broker, ALTER_CONFIGS, "any") is None
    assert asked(broker, DESCRIBE_CONFIGS, "any") is None
    assert broker.asked == []


def test_none_lets_nobody_alter() -> None:
    """Whatever the broker would answer; the broker decides who may describe."""
    broker = Broker()
    refusal = asked(broker, ALTER_CONFIGS, "none")
    assert refusal is not None
    assert (refusal.code, broker.asked) == (31, [])
    assert asked(broker, DESCRIBE_CONFIGS, "none") is None
    assert asked(Broker(0), DESCRIBE_CONFIGS, "none") is not None


def test_a_broker_that_cannot_say() -> None:
    """Before Kafka 2.8 there is no DescribeCluster: the broker would hang up if it were asked."""
    broker = Broker(apis={18: (0, 3)})
    refusal = asked(broker, ALTER_CONFIGS)
    assert refusal is not None
    assert (refusal.code, broker.keys) == (31, [18])
    assert "older than Kafka 2.8" in refusal.message


@pytest.mark.parametrize("silent", [18, 60])
def test_a_broker_that_does_not_answer(silent: int) -> None:
    """Error 13, which clients retry; without an answer nobody may alter."""
    refusal = asked(Broker(answers={silent: lambda request: None}), ALTER_CONFIGS)
    assert refusal == (13, "kproxy has no answer of the broker")


def test_a_broker_that_answers_with_an_error() -> None:
    """Its error for DescribeCluster is passed on; an error for ApiVersions counts as no answer."""
    failing = DescribeClusterResponse(error_code=31, error_message="no")
    assert asked(Broker(answers={60: lambda request: failing}), ALTER_CONFIGS) == (31, "no")
    wordless = DescribeClusterResponse(error_code=31)
    refusal = asked(Broker(answers={60: lambda request: wordless}), ALTER_CONFIGS)
    assert refusal == (31, "the broker refused to describe the cluster")
    refusal = asked(Broker(answers={18: lambda request: ApiVersionsResponse(error_code=35)}), ALTER_CONFIGS)
    assert refusal is not None
    assert refusal.code == 13
