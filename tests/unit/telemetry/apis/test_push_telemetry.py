"""GetTelemetrySubscriptions and PushTelemetry, from bytes to bytes."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.telemetry.apis import push_telemetry
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kproxy.wire.generated.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse
from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest
from tests.unit.telemetry.clients import ID, JAVA, NOW, metrics, request, telemetry


def test_a_get_and_a_push() -> None:
    """The answers can be encoded; the pushed payload is handed on."""
    server = telemetry()
    asked = GetTelemetrySubscriptionsRequest.decode(ID.bytes + b"\0", 0)
    subscribed = server.get(JAVA, asked, NOW)
    again = GetTelemetrySubscriptionsResponse.decode(subscribed.encode(0), 0)
    assert (again, again.client_instance_id) == (subscribed, ID)
    body = request(server).encode(0)
    response, push = server.push(JAVA, push_telemetry.decode(body, 0), NOW)
    assert response.encode(0) == b"\0\0\0\0\0\0\0"
    assert push is not None
    assert push.payload == metrics()


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_statement_null_metrics(kind: type) -> None:
    """telemetry.md: librdkafka 2.8 pushes null metrics: tolerate; the schema has no null there."""
    sent = request(telemetry(), terminating=True, payload=b"").encode(0)
    null = sent[:22] + b"\0" + sent[23:]
    with pytest.raises(MalformedMessageError):
        PushTelemetryRequest.decode(null, 0)
    assert push_telemetry.decode(kind(null), 0) == PushTelemetryRequest.decode(sent, 0)


@pytest.mark.parametrize("body", [b"", bytes(22), bytes(21), b"\x01" * 23])
def test_other_bytes_are_refused(body: bytes) -> None:
    """By the one exception that is documented."""
    with pytest.raises(MalformedMessageError):
        push_telemetry.decode(body, 0)


def test_keys() -> None:
    """The api keys are those of the messages."""
    assert ApiKey.GET_TELEMETRY_SUBSCRIPTIONS == GetTelemetrySubscriptionsRequest.api_key == 71
    assert ApiKey.PUSH_TELEMETRY == PushTelemetryRequest.api_key == 72
