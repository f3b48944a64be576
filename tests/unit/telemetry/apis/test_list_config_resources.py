"""ListConfigResources: subscriptions are the proxy's, the rest the broker's, if it knows the API."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kproxy.telemetry.apis.dialogue import MayAlter
from kproxy.telemetry.apis.list_config_resources import converse
from kproxy.telemetry.subscription import Subscription
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.list_config_resources_request import ListConfigResourcesRequest
from kproxy.wire.generated.list_config_resources_response import ConfigResource, ListConfigResourcesResponse
from tests.unit.telemetry.apis.broker import Broker
from tests.unit.telemetry.clients import telemetry

TOPIC, GROUP, CLIENT_METRICS = 2, 32, 16
SERVER = telemetry([Subscription("s"), Subscription("r")])
OWN = [("r", CLIENT_METRICS), ("s", CLIENT_METRICS)]
OLD = {
    "Kafka 3.6": {18: (0, 3), 60: (0, 0)},
    "Kafka 4.0": {18: (0, 4), 60: (0, 2), ApiKey.LIST_CONFIG_RESOURCES: (0, 0)},
}


def answer(request: ListConfigResourcesRequest) -> ListConfigResourcesResponse:
    """The answer of a Kafka 4.1 broker with a topic and with subscriptions of its own."""
    there = [ConfigResource("t", TOPIC), ConfigResource("broker's own", CLIENT_METRICS)]
    asked = [one for one in there if not request.resource_types or one.resource_type in request.resource_types]
    return ListConfigResourcesResponse(throttle_time_ms=7, config_resources=asked)


def listed_by(
    broker: Broker, types: Sequence[int] = (), version: int = 1, may_alter: MayAlter = "any"
) -> tuple[int, list[tuple[str, int]]]:
    request = ListConfigResourcesRequest(resource_types=list(types))
    outcome = broker.talk(converse(SERVER, may_alter, request, version))
    response = ListConfigResourcesResponse.decode(outcome.response.encode(version), version)
    return response.error_code, [(one.resource_name, one.resource_type) for one in response.config_resources]


@pytest.mark.parametrize(("version", "types"), [(0, []), (1, [CLIENT_METRICS]), (1, [CLIENT_METRICS, CLIENT_METRICS])])
def test_statement_v1_filtered_to_16_and_v0(version: int, types: list[int]) -> None:
    """telemetry.md: ListConfigResources (key 74; v1 filtered to [16], v0 metrics only): the broker lists nothing."""
    broker = Broker()
    assert listed_by(broker, types, version, may_alter="upstream") == (0, OWN)
    assert broker.keys == [18, 60]


@pytest.mark.parametrize(
    ("types", "asked", "listed"),
    [
        ([], [], [("t", TOPIC), *OWN]),
        ([TOPIC, CLIENT_METRICS], [TOPIC], [("t", TOPIC), *OWN]),
        ([TOPIC], [TOPIC], [("t", TOPIC)]),
        ([GROUP], [GROUP], []),
    ],
)
def test_both_parts(types: list[int], asked: list[int], listed: list[tuple[str, int]]) -> None:
    """The broker's part is first. The broker's own subscriptions are left out: they reach no client."""
    broker = Broker(answers={ApiKey.LIST_CONFIG_RESOURCES: answer})
    assert listed_by(broker, types, may_alter="upstream") == (0, listed)
    assert broker.asked[1:] == [(ApiKey.LIST_CONFIG_RESOURCES, 1, ListConfigResourcesRequest(resource_types=asked))]


@pytest.mark.parametrize("kafka", OLD)
@pytest.mark.parametrize(
    ("types", "expected"), [([], (0, OWN)), ([TOPIC, CLIENT_METRICS], (0, OWN)), ([TOPIC], (35, []))]
)
def test_a_broker_that_does_not_know_the_api(kafka: str, types: list[int], expected: tuple[int, list[object]]) -> None:
    """It is not asked, since it would hang up. The answer is the proxy's part alone, or 35 if that is not wanted."""
    broker = Broker(apis=OLD[kafka])
    assert listed_by(broker, types, may_alter="upstream") == expected
    assert ApiKey.LIST_CONFIG_RESOURCES not in broker.keys


@pytest.mark.parametrize("types", [[], [CLIENT_METRICS], [TOPIC, CLIENT_METRICS]])
def test_who_may_not_describe(types: list[int]) -> None:
    """Error 31, from the broker's own check or from the principal's operations; nothing is listed."""
    broker = Broker(
        0, answers={ApiKey.LIST_CONFIG_RESOURCES: lambda request: ListConfigResourcesResponse(error_code=31)}
    )
    assert listed_by(broker, types, may_alter="upstream") == (31, [])
    assert listed_by(Broker(0, apis=OLD["Kafka 4.0"]), types, may_alter="upstream") == (31, [])


@pytest.mark.parametrize("silent", [18, ApiKey.LIST_CONFIG_RESOURCES])
def test_a_broker_that_does_not_answer(silent: int) -> None:
    """Error 13: half a list would look like a whole one."""
    broker = Broker(answers={ApiKey.LIST_CONFIG_RESOURCES: answer} | {silent: lambda request: None})
    assert listed_by(broker) == (13, [])
