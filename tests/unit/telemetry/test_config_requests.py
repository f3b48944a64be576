"""Config requests beside telemetry: only those that name subscriptions are decoded, and only small ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kproxy.cluster.policies import composed
from kproxy.observe.reasons import Reason
from kproxy.telemetry.config_resource import Change
from kproxy.telemetry.policies import LIST_LIMIT, MOST_ELEMENTS, policies
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame as framed
from kproxy.wire.primitives import uvarint
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay, by, play
from tests.unit.telemetry.clients import telemetry

DESCRIBE, ALTER, INCREMENTAL, LIST = 32, 33, 44, 74
TOPIC, BROKER, UNKNOWN, CLIENT_METRICS = 2, 4, 77, 16
READ = 128 << 10
ANSWERED = {DESCRIBE: "Results", ALTER: "Responses", INCREMENTAL: "Responses"}
NEWEST = [(DESCRIBE, 4), (ALTER, 2), (INCREMENTAL, 1)]
SECRET, SHOWN = "CLIENT://secret-7:9092", "CLIENT://masked.invalid:9092"


def relay() -> Relay:
    """A connection to a virtual cluster with telemetry, whose subscriptions anybody may alter."""

    def keep(changes: tuple[Change, ...], call: Callable[[str | None], None]) -> None:
        del changes
        call(None)

    cluster = Cluster(nodes=[(7, "proxy", 19099, None)])
    of_telemetry = policies(telemetry(), lambda push: None, lambda: "any", keep)
    return Relay(cluster, others=composed(cluster, of_telemetry, None), earlier=1)


def resource(key: int, kind: int, name: str, *names: str) -> dict[str, Any]:
    """A resource with keys or configs."""
    if key == DESCRIBE:
        return {"ResourceType": kind, "ResourceName": name, "ConfigurationKeys": list(names) or None}
    return {"ResourceType": kind, "ResourceName": name, "Configs": [{"Name": one, "Value": "v"} for one in names]}


def asks(key: int, version: int, *resources: dict[str, Any]) -> bytes:
    """A request."""
    return frames.request(key, version, 5, {"Resources": list(resources)})


def large(key: int, version: int) -> bytes:
    """A request of 7 MiB with as many resources as fit."""
    empty = asks(key, version)[4:]
    elements = (7 << 20) // 4
    head = 13  # up to the count: key, version, correlation id, client id, tagged fields
    plain = b"\x02\x01\x00\x00" if key == DESCRIBE else b"\x02\x01\x01\x00"
    return framed(empty[:head], uvarint(elements + 1), plain * elements, empty[head + 1 :])


@pytest.mark.parametrize(("key", "version"), NEWEST)
def test_two_million_resources_are_not_decoded(key: int, version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request of 7 MiB passes unchanged. It was decoded whole: the loop stood still for 6 s."""

    def refuse(*args: object, **options: object) -> WireMessage:
        raise AssertionError("a message is decoded")

    monkeypatch.setattr(WireMessage, "decode", refuse)
    sent = large(key, version)
    assert len(sent) > 7 << 20
    one = relay().play([("client", sent)], by(READ))
    assert (one.reason, bytes(one.broker.data) == sent) == (None, True)


@pytest.mark.parametrize(("key", "version"), NEWEST)
def test_a_hundred_thousand_topics(key: int, version: int) -> None:
    """What an honest tool asks passes unchanged, and so does the answer, however large."""
    sent = asks(key, version, *(resource(key, TOPIC, f"topic-{number:015}") for number in range(20_000)))
    results = [{"ResourceType": TOPIC, "ResourceName": f"topic-{number:015}"} for number in range(20_000)]
    answer = frames.response(key, version, 5, {ANSWERED[key]: results})
    one = relay().play([("client", sent), ("broker", answer)], by(READ))
    assert one.reason is None
    assert bytes(one.broker.data) == sent
    assert bytes(one.client.data) == answer


@pytest.mark.parametrize(("key", "version"), NEWEST)
def test_many_elements_beside_a_subscription(key: int, version: int) -> None:
    """It would have to be decoded: it is refused, with the reason. One element fewer is answered."""
    names = [f"k{number}" for number in range(MOST_ELEMENTS - 1)]
    one = relay().play([("client", asks(key, version, resource(key, CLIENT_METRICS, "s", *names)))], by(READ))
    assert (one.reason, len(frames.split(bytes(one.client.data)))) == (None, 1)
    one = relay().play([("client", asks(key, version, resource(key, CLIENT_METRICS, "s", *names, "x")))], by(READ))
    assert one.reason is Reason.FRAME_TOO_LARGE
    assert "1001 resources and configs in a request that names client metrics; the limit is 1000" in one.detail
    assert bytes(one.broker.data) == b""


def described(one: Relay) -> list[tuple[int, str, int, list[str]]]:
    """The results that the client got: type, name, error, values."""
    (frame,) = frames.split(bytes(one.client.data))
    return [
        (each["ResourceType"], each["ResourceName"], each["ErrorCode"], [two["Value"] for two in each["Configs"]])
        for each in frames.understood(DESCRIBE, 4, frame)["Results"]
    ]


def test_the_brokers_part_of_an_answer_is_masked() -> None:
    """A room that asks the broker in the client's name sees what the client would get of the broker."""
    request = asks(DESCRIBE, 4, resource(DESCRIBE, UNKNOWN, "u"), resource(DESCRIBE, CLIENT_METRICS, "all", "match"))
    config = {"Name": "listeners", "Value": SECRET, "Synonyms": [{"Name": "listeners", "Value": SECRET}]}
    result = {"ResourceType": UNKNOWN, "ResourceName": "u", "Configs": [config]}
    answer = frames.response(DESCRIBE, 4, 5, {"Results": [result]})
    one = play([("client", request), ("broker", answer)], relay)
    assert described(one) == [(UNKNOWN, "u", 0, [SHOWN]), (CLIENT_METRICS, "all", 0, [""])]
    assert b"secret" not in one.client.data


@pytest.mark.parametrize(
    "others", [[(BROKER, "7")], [(TOPIC, f"t{number}") for number in range(9)]], ids=["a broker", "9 topics"]
)
def test_what_is_large_is_described_apart(others: list[tuple[int, str]]) -> None:
    """It is answered by 42, and the subscription by its configs; the broker is not asked."""
    resources = [resource(DESCRIBE, kind, name) for kind, name in others]
    one = play([("client", asks(DESCRIBE, 4, *resources, resource(DESCRIBE, CLIENT_METRICS, "all", "match")))], relay)
    assert described(one) == [*((kind, name, 42, []) for kind, name in others), (CLIENT_METRICS, "all", 0, [""])]
    assert b"describe these in a request of their own" in one.client.data
    assert bytes(one.broker.data) == b""


def test_a_listing_of_many_types() -> None:
    """Kafka has seven types of resources; a request with thousands is refused at its head."""
    sent = frames.request(LIST, 1, 5, {"ResourceTypes": [CLIENT_METRICS] * LIST_LIMIT})
    assert relay().play([("client", sent)], by(READ)).reason is Reason.FRAME_TOO_LARGE
    sent = frames.request(LIST, 1, 5, {"ResourceTypes": [CLIENT_METRICS] * 1000})
    assert relay().play([("client", sent)], by(READ)).reason is None
