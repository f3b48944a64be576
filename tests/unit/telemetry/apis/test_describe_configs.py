"""DescribeConfigs: the proxy's part, the broker's part, and both in one request."""

from __future__ import annotations

import pytest

from kproxy.telemetry.apis.describe_configs import converse
from kproxy.telemetry.apis.dialogue import MayAlter
from kproxy.telemetry.subscription import Subscription
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kproxy.wire.generated.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from tests.unit.telemetry.apis.broker import Broker
from tests.unit.telemetry.clients import telemetry

TOPIC, CLIENT_METRICS = 2, 16
SERVER = telemetry([Subscription.from_configs("s", {"metrics": "a,b"})])


def answer(request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    """The answer of a broker that throws on type 16, as before Kafka 3.7."""
    assert all(one.resource_type != CLIENT_METRICS for one in request.resources)
    results = [
        DescribeConfigsResult(
            resource_type=one.resource_type,
            resource_name=one.resource_name,
            configs=[DescribeConfigsResourceResult(name="theirs")],
        )
        for one in reversed(request.resources)
    ]
    return DescribeConfigsResponse(throttle_time_ms=7, results=results)


def described(
    broker: Broker, *resources: tuple[int, str], may_alter: MayAlter = "any", version: int = 4
) -> list[tuple[int, str, int, list[str]]]:
    named = [DescribeConfigsResource(kind, name, None) for kind, name in resources]
    request = DescribeConfigsRequest(resources=named, include_synonyms=True)
    outcome = broker.talk(converse(SERVER, may_alter, request, version))
    assert outcome.changes == ()
    assert isinstance(outcome.response, DescribeConfigsResponse)
    again = DescribeConfigsResponse.decode(outcome.response.encode(version), version)
    return [
        (one.resource_type, one.resource_name, one.error_code, [config.name for config in one.configs])
        for one in again.results
    ]


OURS = ["metrics", "interval.ms", "match"]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_a_mixed_request_is_merged_in_its_order(version: int) -> None:
    """In every version. The broker, which need not know type 16, is not asked for it."""
    broker = Broker(answers={ApiKey.DESCRIBE_CONFIGS: answer})
    assert described(broker, (TOPIC, "t"), (CLIENT_METRICS, "s"), (TOPIC, "s"), version=version) == [
        (TOPIC, "t", 0, ["theirs"]),
        (CLIENT_METRICS, "s", 0, OURS),
        (TOPIC, "s", 0, ["theirs"]),
    ]
    assert [(key, asked_in) for key, asked_in, _ in broker.asked] == [(ApiKey.DESCRIBE_CONFIGS, version)]


def test_only_the_proxys_part() -> None:
    """The broker is asked only whether the client may describe."""
    broker = Broker()
    assert described(broker, (CLIENT_METRICS, "s"), (CLIENT_METRICS, ""), may_alter="upstream") == [
        (CLIENT_METRICS, "s", 0, OURS),
        (CLIENT_METRICS, "", 42, []),
    ]
    assert broker.keys == [18, 60]


def test_only_the_brokers_part() -> None:
    """The broker is not asked whether the client may describe."""
    broker = Broker(answers={ApiKey.DESCRIBE_CONFIGS: answer})
    assert described(broker, (TOPIC, "t"), may_alter="upstream") == [(TOPIC, "t", 0, ["theirs"])]
    assert broker.keys == [ApiKey.DESCRIBE_CONFIGS]


@pytest.mark.parametrize("may_alter", ["upstream", "none"])
def test_who_may_not_describe(may_alter: MayAlter) -> None:
    """Error 31, for the proxy's part only."""
    broker = Broker(1 << 11, answers={ApiKey.DESCRIBE_CONFIGS: answer})
    results = described(broker, (CLIENT_METRICS, "s"), (TOPIC, "t"), may_alter=may_alter)
    assert results == [(CLIENT_METRICS, "s", 31, []), (TOPIC, "t", 0, ["theirs"])]


def test_a_broker_that_does_not_answer() -> None:
    """Error 13 for its part; the proxy's part is complete."""
    results = described(
        Broker(answers={ApiKey.DESCRIBE_CONFIGS: lambda request: None}), (TOPIC, "t"), (CLIENT_METRICS, "s")
    )
    assert results == [(TOPIC, "t", 13, []), (CLIENT_METRICS, "s", 0, OURS)]


def test_throttling_and_keys() -> None:
    """The broker's throttle time is passed on; only the requested keys are described."""
    resources = [DescribeConfigsResource(TOPIC, "t", None), DescribeConfigsResource(CLIENT_METRICS, "s", ["match"])]
    outcome = Broker(answers={ApiKey.DESCRIBE_CONFIGS: answer}).talk(
        converse(SERVER, "any", DescribeConfigsRequest(resources), 4)
    )
    assert isinstance(outcome.response, DescribeConfigsResponse)
    assert outcome.response.throttle_time_ms == 7
    assert [config.name for config in outcome.response.results[1].configs] == ["match"]
