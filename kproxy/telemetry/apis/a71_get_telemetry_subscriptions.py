# This module is pure.
"""GetTelemetrySubscriptions (71): answered by the proxy, never passed on (KIP-714).

Version notes: v0 only. Brokers without a receiver do not list it; the proxy adds it to ApiVersions.
"""

from __future__ import annotations

from kproxy.telemetry.service import Telemetry
from kproxy.telemetry.subscription import ClientInfo
from kproxy.wire.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kproxy.wire.generated.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse


def answer(
    telemetry: Telemetry, info: ClientInfo, request: GetTelemetrySubscriptionsRequest, now: float
) -> GetTelemetrySubscriptionsResponse:
    """What the client is to push, or 89; `now` is in unix seconds."""
    return telemetry.get(info, request, now)
