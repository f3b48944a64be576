# This module is pure (no I/O, no clock).
"""PushTelemetry (72) as clients send it (KIP-714).

The handler of kproxy.telemetry.policies calls `decode` for each request.

Version notes: v0 only. The schema has no null for Metrics, but librdkafka 2.8 sends one when it has nothing to push;
it is read as empty bytes.
"""

from __future__ import annotations

from typing import Final

from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest
from kproxy.wire.primitives import Buffer

_METRICS_AT: Final = 16 + 4 + 1 + 1  # instance id, subscription id, terminating, compression type
_NULL: Final = 0
_EMPTY: Final = b"\x01"


def decode(body: Buffer, version: int) -> PushTelemetryRequest:
    """Return the request; raise MalformedMessageError for malformed bytes."""
    if len(body) > _METRICS_AT and body[_METRICS_AT] == _NULL:
        body = bytes(body[:_METRICS_AT]) + _EMPTY + bytes(body[_METRICS_AT + 1 :])
    return PushTelemetryRequest.decode(body, version)
