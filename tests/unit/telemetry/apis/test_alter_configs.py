"""IncrementalAlterConfigs and AlterConfigs: the proxy's part, the broker's part, and both in one request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kproxy.telemetry.apis import alter_configs
from kproxy.telemetry.apis.alter_configs import after_keeping
from kproxy.telemetry.config_resource import Change
from kproxy.telemetry.service import Telemetry
from kproxy.telemetry.subscription import Subscription
from kproxy.wire.generated import (
    alter_configs_request,
    alter_configs_response,
    incremental_alter_configs_request,
    incremental_alter_configs_response,
)
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.message import WireMessage
from tests.unit.telemetry.apis.broker import Broker
from tests.unit.telemetry.clients import telemetry

TOPIC, BROKER, CLIENT_METRICS = 2, 4, 16
APIS = {
    "IncrementalAlterConfigs": (
        alter_configs.converse_incremental,
        incremental_alter_configs_request,
        "IncrementalAlterConfigsRequest",
        incremental_alter_configs_response.IncrementalAlterConfigsResponse,
        incremental_alter_configs_response.AlterConfigsResourceResponse,
    ),
    "AlterConfigs": (
        alter_configs.converse,
        alter_configs_request,
        "AlterConfigsRequest",
        alter_configs_response.AlterConfigsResponse,
        alter_configs_response.AlterConfigsResourceResponse,
    ),
}
BOTH = pytest.mark.parametrize("api", APIS)
Parts = tuple[int, str, dict[str, str]]


class Altering:
    """One of the two APIs, with the parts of its requests and responses."""

    def __init__(self, api: str) -> None:
        self.converse: Any
        self.requests: Any
        self.response: Any
        self.result: Any
        self.converse, self.requests, name, self.response, self.result = APIS[api]
        self.request = getattr(self.requests, name)

    def of(self, *parts: Parts, validate_only: bool = False) -> Any:
        """A request that sets configs of resources."""
        config, resource = self.requests.AlterableConfig, self.requests.AlterConfigsResource
        resources = [
            resource(
                resource_type=kind,
                resource_name=name,
                configs=[config(name=key, value=value) for key, value in configs.items()],
            )
            for kind, name, configs in parts
        ]
        return self.request(resources=resources, validate_only=validate_only)

    def answers(self, error_code: int = 0) -> Callable[[Any], WireMessage]:
        """A broker that answers for each resource that it was asked for, last first."""

        def answer(request: Any) -> WireMessage:
            results = [
                self.result(
                    error_code=error_code,
                    error_message="theirs",
                    resource_type=one.resource_type,
                    resource_name=one.resource_name,
                )
                for one in reversed(request.resources)
            ]
            response: WireMessage = self.response(throttle_time_ms=7, responses=results)
            return response

        return answer

    def talk(self, broker: Broker, server: Telemetry, request: Any, may_alter: str = "any") -> tuple[list[Any], Any]:
        """The results (type, name, code), which a client of each version reads alike, and the changes."""
        version = self.request.max_version
        outcome = broker.talk(self.converse(server, may_alter, request, version))
        for each in range(self.response.min_version, self.response.max_version + 1):
            assert self.response.decode(outcome.response.encode(each), each) == outcome.response
        response: Any = outcome.response
        return [(one.resource_type, one.resource_name, one.error_code) for one in response.responses], outcome.changes


OWN: Parts = (CLIENT_METRICS, "s", {"metrics": "*"})
SUBSCRIPTION = Subscription.from_configs("s", {"metrics": "*"})


@BOTH
def test_only_the_proxys_part(api: str) -> None:
    """Nothing reaches the broker if everybody may alter; the change is made, and returned to be stored."""
    altering, broker, server = Altering(api), Broker(), telemetry([])
    results, changes = altering.talk(broker, server, altering.of(OWN))
    assert results == [(CLIENT_METRICS, "s", 0)]
    assert changes == (Change("s", SUBSCRIPTION),)
    assert (list(server.subscriptions), broker.asked) == ([SUBSCRIPTION], [])


@BOTH
def test_a_mixed_request_is_merged_in_its_order(api: str) -> None:
    """The broker sees its own resources only, in the request's version; its order of answers does not matter."""
    altering, server = Altering(api), telemetry([])
    broker = Broker(answers={altering.request.api_key: altering.answers(error_code=44)})
    bad: Parts = (CLIENT_METRICS, "t", {"interval.ms": "1"})
    request = altering.of((TOPIC, "s", {"x": "1"}), OWN, (BROKER, "", {"y": "2"}), bad, (TOPIC, "u", {}))
    results, changes = altering.talk(broker, server, request)
    assert results == [
        (TOPIC, "s", 44),
        (CLIENT_METRICS, "s", 0),
        (BROKER, "", 44),
        (CLIENT_METRICS, "t", 42),
        (TOPIC, "u", 44),
    ]
    assert [change.name for change in changes] == ["s"]
    ((key, version, asked),) = broker.asked
    assert (key, version) == (altering.request.api_key, altering.request.max_version)
    assert asked == altering.of((TOPIC, "s", {"x": "1"}), (BROKER, "", {"y": "2"}), (TOPIC, "u", {}))


@BOTH
def test_what_is_not_kept_is_reported(api: str) -> None:
    """Only for resources that changed: the error says that it is in effect, that a restart will lose it, and why."""
    altering, server = Altering(api), telemetry([])
    broker = Broker(answers={altering.request.api_key: altering.answers()})
    request = altering.of((TOPIC, "s", {"x": "1"}), OWN, (CLIENT_METRICS, "t", {"interval.ms": "1"}))
    outcome = broker.talk(altering.converse(server, "any", request, altering.request.max_version))
    assert after_keeping(outcome, None) is outcome.response
    results: Any = after_keeping(outcome, "the disk is full")
    assert [one.error_code for one in results.responses] == [0, ErrorCode.KAFKA_STORAGE_ERROR, 42]
    assert results.responses[1].error_message.endswith("was not kept: the disk is full")


@BOTH
def test_validate_only_changes_nothing(api: str) -> None:
    """Errors are reported, and the broker is asked to validate only, too."""
    altering, server = Altering(api), telemetry([])
    broker = Broker(answers={altering.request.api_key: altering.answers()})
    bad: Parts = (CLIENT_METRICS, "t", {"interval.ms": "1"})
    request = altering.of(OWN, bad, (TOPIC, "t", {}), validate_only=True)
    results, changes = altering.talk(broker, server, request)
    assert results == [(CLIENT_METRICS, "s", 0), (CLIENT_METRICS, "t", 42), (TOPIC, "t", 0)]
    assert (changes, len(server.subscriptions)) == ((), 0)
    assert broker.asked[0][2].validate_only  # type: ignore[attr-defined]


@BOTH
@pytest.mark.parametrize(("operations", "code"), [(1 << 11, 0), (1 << 10, 31)])
def test_upstream_decides_who_may(api: str, operations: int, code: int) -> None:
    """Error 31 for the proxy's part only: the broker itself checks its part."""
    altering, server = Altering(api), telemetry([])
    broker = Broker(operations, answers={altering.request.api_key: altering.answers()})
    results, changes = altering.talk(broker, server, altering.of(OWN, (TOPIC, "t", {})), "upstream")
    assert results == [(CLIENT_METRICS, "s", code), (TOPIC, "t", 0)]
    assert len(changes) == len(server.subscriptions) == (not code)
    assert broker.keys == [18, 60, altering.request.api_key]


@BOTH
def test_none_refuses(api: str) -> None:
    """`telemetry.admin: none`: subscriptions are altered in kproxy only."""
    altering, server = Altering(api), telemetry([])
    assert altering.talk(Broker(), server, altering.of(OWN), "none") == ([(CLIENT_METRICS, "s", 31)], ())


@BOTH
def test_a_resource_that_occurs_twice(api: str) -> None:
    """Error 42 for both; neither change is made."""
    altering, server = Altering(api), telemetry([])
    results, changes = altering.talk(Broker(), server, altering.of(OWN, OWN))
    assert (results, changes) == ([(CLIENT_METRICS, "s", 42)] * 2, ())


@BOTH
def test_a_broker_that_does_not_answer(api: str) -> None:
    """Error 13 for its part; the proxy's part is done."""
    altering, server = Altering(api), telemetry([])
    broker = Broker(answers={altering.request.api_key: lambda request: None})
    results, changes = altering.talk(broker, server, altering.of((TOPIC, "t", {}), OWN))
    assert results == [(TOPIC, "t", 13), (CLIENT_METRICS, "s", 0)]
    assert len(changes) == 1


@BOTH
def test_a_broker_that_forgets_a_resource(api: str) -> None:
    """Error -1, as a broker answers for its controller then."""
    altering = Altering(api)
    broker = Broker(answers={altering.request.api_key: lambda request: altering.response()})
    assert altering.talk(broker, telemetry([]), altering.of((TOPIC, "t", {})))[0] == [(TOPIC, "t", -1)]


@BOTH
def test_a_request_for_nothing_is_the_brokers(api: str) -> None:
    """The broker answers it, as it would without a proxy."""
    altering = Altering(api)
    broker = Broker(answers={altering.request.api_key: altering.answers()})
    assert altering.talk(broker, telemetry([]), altering.of(), "upstream") == ([], ())
    assert broker.keys == [altering.request.api_key]
