"""Configs of brokers that clients alter: masked values are refused, error messages name no address."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.observe.reasons import Reason
from kproxy.relay.apis.altered_configs import MOST_BYTES, MOST_ELEMENTS
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay, play, whole

TOPIC, BROKER = 2, 4
PING = frames.request(3, 0, 1)
"""A first request: the second one may be larger."""
APIS = [(key, version) for key in (33, 44) for version in frames.versions(key)]


def relay() -> Relay:
    """A connection to a cluster of two nodes; one is advertised by an IPv6 address."""
    return Relay(Cluster(nodes=[(7, "proxy", 19099, None), (8, "::1", 19100, None)]))


def alters(key: int, version: int, *resources: tuple[int, str, dict[str, str | None]]) -> bytes:
    """A request that alters some resources."""
    named = [
        {
            "ResourceType": kind,
            "ResourceName": name,
            "Configs": [{"Name": config, "Value": value} for config, value in configs.items()],
        }
        for kind, name, configs in resources
    ]
    return frames.request(key, version, 5, {"Resources": named})


def answer(key: int, version: int, *messages: str | None, name: str = "7") -> bytes:
    """A response with an error message for each resource."""
    results = [
        {"ErrorCode": 42, "ErrorMessage": message, "ResourceType": BROKER, "ResourceName": name} for message in messages
    ]
    return frames.response(key, version, 5, {"ThrottleTimeMs": 3, "Responses": results})


def answered(one: Relay, key: int, version: int) -> list[Any]:
    """The results that the client got: error, type, name, message."""
    (frame,) = frames.split(bytes(one.client.data))
    return [
        (each["ErrorCode"], each["ResourceType"], each["ResourceName"], each["ErrorMessage"])
        for each in frames.understood(key, version, frame)["Responses"]
    ]


@pytest.mark.parametrize(
    "value",
    ["CLIENT://proxy:19099", "A://h:1, B://[::1]:19100", "C://h:1,CONTROLLER://controller-7.invalid:9093"],
)
@every(("key", "version"), APIS)
def test_a_masked_value_that_is_written_back(key: int, version: int, value: str) -> None:
    """The whole request is refused, and says why; the broker would listen at kproxy's address."""
    request = alters(key, version, (TOPIC, "t", {"retention.ms": "5"}), (BROKER, "7", {"a": "b", "listeners": value}))
    one = play([("client", request)], relay)
    assert bytes(one.broker.data) == b""
    for (code, *resource, message), expected in zip(
        answered(one, key, version), ([TOPIC, "t"], [BROKER, "7"]), strict=True
    ):
        assert (code, resource) == (42, expected)
        assert message.startswith("the value of listeners is an address that kproxy shows in place of the broker's own")


@pytest.mark.parametrize(("key", "version"), APIS)
def test_other_values_go_on(key: int, version: int) -> None:
    """A broker's own address, no value, and what names no host."""
    own = {"listeners": "CLIENT://broker-7:9092", "advertised.listeners": None, "a": "proxy:19099"}
    request = alters(key, version, (BROKER, "7", own))
    one = play([("client", request), ("broker", answer(key, version, None, "no: 'x'"))], relay)
    assert (bytes(one.broker.data), bytes(one.client.data)) == (request, answer(key, version, None, "no: 'x'"))


@pytest.mark.parametrize(("key", "version"), APIS)
def test_error_messages_name_no_address(key: int, version: int) -> None:
    """Kafka names the present listeners when a change of them fails."""
    creating = "Error creating broker listeners from '[CLIENT://{}, CONTROLLER://{}]': none"
    real = answer(
        key, version, creating.format("secret:9092", "[fd00::1]:9093"), None, "1@secret:1,2@[fd00::1]:2", "no"
    )
    one = play([("client", alters(key, version, (BROKER, "7", {"x": "y"}))), ("broker", real)], relay)
    assert answered(one, key, version) == [
        (42, BROKER, "7", creating.format("masked.invalid", "masked.invalid")),
        (42, BROKER, "7", None),
        (42, BROKER, "7", "1@masked.invalid,2@masked.invalid"),
        (42, BROKER, "7", "no"),
    ]


@pytest.mark.parametrize(("key", "version"), APIS)
def test_responses_about_other_resources_pass_unseen(key: int, version: int) -> None:
    """Whatever they contain: a group may have any name."""
    request, response = alters(key, version, (32, "a://b:1", {"x": "y"})), answer(key, version, "e", name="a://b:1")
    one = Relay(held_limit=10).play([("client", request), ("broker", response)], lambda data: (data[:12], data[12:]))
    assert (one.reason, bytes(one.client.data)) == (None, response)


@pytest.mark.parametrize(("key", "version"), APIS)
def test_thousands_of_configs_of_brokers(key: int, version: int) -> None:
    """They are refused before they are decoded; the limit's own number is taken."""
    configs: dict[str, str | None] = {f"c{number}": "v" for number in range(MOST_ELEMENTS - 1)}
    request = alters(key, version, (BROKER, "7", configs))
    assert bytes(relay().play([("client", request)], whole).broker.data) == request
    one = relay().play([("client", alters(key, version, (BROKER, "7", {**configs, "x": "y"})))], whole)
    assert one.reason is Reason.FRAME_TOO_LARGE
    assert "1001 resources and configs in a request that alters brokers" in one.detail


@pytest.mark.parametrize(("key", "version"), APIS)
def test_large_values_of_brokers(key: int, version: int) -> None:
    """They are refused before they are looked through: each comma would be looked at."""
    configs: dict[str, str | None] = {f"listener.name.l{number}.listeners": "," * 8000 for number in range(20)}
    one = relay().play(
        [
            ("client", PING),
            ("broker", frames.response(3, 0, 1)),
            ("client", alters(key, version, (BROKER, "7", configs))),
        ],
        whole,
    )
    assert one.reason is Reason.FRAME_TOO_LARGE
    assert str(MOST_BYTES) in one.detail


@pytest.mark.parametrize(("key", "version"), APIS)
def test_an_answer_is_not_much_larger_than_its_request(key: int, version: int) -> None:
    """It has a message for each resource, which repeats the beginning of a config's name."""
    many = [(BROKER, str(number), dict[str, str | None]()) for number in range(900)]
    request = alters(key, version, *many, (BROKER, "7", {"a" * 32_000 + ".host.name": "x.invalid"}))
    one = play([("client", request)], relay)
    assert len(one.client.data) < 10 * len(request)
    assert answered(one, key, version)[0][3].startswith("the value of aaaa")
