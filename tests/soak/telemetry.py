"""KIP-714 as a client speaks it, on a socket: it asks what to push, and pushes."""

from __future__ import annotations

import socket
from uuid import UUID

from kproxy.telemetry.compression import ZSTD
from kproxy.wire.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kproxy.wire.generated.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse
from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest
from kproxy.wire.generated.push_telemetry_response import PushTelemetryResponse
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.primitives import ZERO_UUID, frame
from tests.soak.wire import response

GET, PUSH = 71, 72


def subscribed(sock: socket.socket, client_id: str, instance: UUID = ZERO_UUID) -> GetTelemetrySubscriptionsResponse:
    """Return what the instance is to push; by default it is a new one."""
    request = GetTelemetrySubscriptionsRequest(client_instance_id=instance)
    return GetTelemetrySubscriptionsResponse.decode(_asked(sock, GET, client_id, request.encode(0)), 0)


def pushed(sock: socket.socket, client_id: str, found: GetTelemetrySubscriptionsResponse, payload: bytes) -> int:
    """Push a payload that is compressed with zstd; return the error code."""
    request = PushTelemetryRequest(
        client_instance_id=found.client_instance_id,
        subscription_id=found.subscription_id,
        compression_type=ZSTD,
        metrics=payload,
    )
    return PushTelemetryResponse.decode(_asked(sock, PUSH, client_id, request.encode(0)), 0).error_code


def _asked(sock: socket.socket, key: int, client_id: str, body: bytes) -> bytes:
    sock.sendall(frame(encode_request_header(RequestHeader(key, 0, 1, client_id)), body))
    return response(sock)[5:]
