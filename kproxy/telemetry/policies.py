"""Telemetry's offers to the relay: its own two APIs, and its part of those for configs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from kproxy.protocol.answer import Answering, answering
from kproxy.protocol.api_table import ApiPolicy, OnRequest
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import AskBroker, Forward
from kproxy.telemetry.apis import (
    a71_get_telemetry_subscriptions,
    a72_push_telemetry,
)
from kproxy.telemetry.instance import ClientInfo
from kproxy.wire.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kproxy.wire.header import RequestHeader

if TYPE_CHECKING:
    from kproxy.telemetry.client_telemetry import ClientTelemetry
    from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest

ENVELOPE: Final = 64 << 10
"""Bytes of a push beside its metrics, generously."""
REFUSED_AT: Final = 4
"""A push of so many times the limit is still read, to be answered that it is too large; beyond it is cut off."""
CONFIGS_LIMIT: Final = 8 << 20
"""Bytes of a request for configs; Kafka's own tools stay far below."""

_CONFIGS: Final[Mapping[int, tuple[int, int] | None]] = {32: None, 33: None, 44: None, 74: (0, 1)}
"""The versions that are served whether the broker knows them or not, of DescribeConfigs and its kin by api key."""


def policies(telemetry: ClientTelemetry) -> Mapping[int, ApiPolicy]:
    """What the relay hands to telemetry, by api key."""
    return {
        a71_get_telemetry_subscriptions.KEY: ApiPolicy(
            on_request=OnRequest.WHOLE,
            request=answering(GetTelemetrySubscriptionsRequest.decode, partial(_get, telemetry)),
            own=(0, 0),
        ),
        a72_push_telemetry.KEY: ApiPolicy(
            on_request=OnRequest.WHOLE,
            request=answering(a72_push_telemetry.decode, partial(_push, telemetry)),
            request_limit=REFUSED_AT * telemetry.max_bytes + ENVELOPE,
            own=(0, 0),
        ),
        **{key: _of_configs(telemetry, key, own) for key, own in _CONFIGS.items()},
    }


def _of_configs(telemetry: ClientTelemetry, key: int, own: tuple[int, int] | None) -> ApiPolicy:
    def handle(context: Context, frame: memoryview) -> AskBroker | Forward:
        from kproxy.telemetry.config_policies import handler  # noqa: PLC0415 - it says why

        return handler(telemetry, key)(context, frame)

    return ApiPolicy(on_request=OnRequest.WHOLE, request=handle, request_limit=CONFIGS_LIMIT, own=own)


def _get(
    telemetry: ClientTelemetry, context: Context, header: RequestHeader, request: GetTelemetrySubscriptionsRequest
) -> Answering:
    info = _info(context, header, request.client_instance_id)
    response = a71_get_telemetry_subscriptions.answer(telemetry.core, info, request, time.time())
    yield
    return response


def _push(
    telemetry: ClientTelemetry, context: Context, header: RequestHeader, request: PushTelemetryRequest
) -> Answering:
    info = _info(context, header, request.client_instance_id)
    response, push = a72_push_telemetry.answer(telemetry.core, info, request, time.time())
    yield
    if push is not None:
        telemetry.fanout.offer(push)
    return response


def _info(context: Context, header: RequestHeader, instance_id: UUID) -> ClientInfo:
    name, version = context.software or (None, None)
    return ClientInfo(instance_id, header.client_id, name, version, context.host, context.port or 0)
