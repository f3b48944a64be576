# This module is pure.
"""PushTelemetry (72): answered by the proxy, never passed on (KIP-714).

Version notes: v0 only. The schema has no null for Metrics, but librdkafka 2.8 sends one when it has nothing to push;
it is read as empty bytes.
"""

from __future__ import annotations

from typing import Final

from kproxy.telemetry.payload import Push
from kproxy.telemetry.service import Telemetry
from kproxy.telemetry.subscription import ClientInfo
from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest
from kproxy.wire.generated.push_telemetry_response import PushTelemetryResponse
from kproxy.wire.primitives import Buffer

_METRICS_AT: Final = 16 + 4 + 1 + 1  # instance id, subscription id, terminating, compression type
_NULL: Final = 0
_EMPTY: Final = b"\x01"


def decode(body: Buffer, version: int) -> PushTelemetryRequest:
    """The request; MalformedMessageError for other bytes."""
    if len(body) > _METRICS_AT and body[_METRICS_AT] == _NULL:
        body = bytes(body[:_METRICS_AT]) + _EMPTY + bytes(body[_METRICS_AT + 1 :])
    return PushTelemetryRequest.decode(body, version)


def answer(
    telemetry: Telemetry, info: ClientInfo, request: PushTelemetryRequest, now: float
) -> tuple[PushTelemetryResponse, Push | None]:
    """The answer, and what every receiver is to be offered; call the push's `release` after that."""
    return telemetry.push(info, request, now)
