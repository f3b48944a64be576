"""Telemetry's part in Kafka's APIs: its own two, and its part of those for configs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from kproxy.protocol.answer import Answering, answering
from kproxy.protocol.api_table import ApiPolicy, OnRequest
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import AskBroker
from kproxy.telemetry.apis import (
    a71_get_telemetry_subscriptions,
    a72_push_telemetry,
)
from kproxy.telemetry.subscription import ClientInfo
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kproxy.wire.header import RequestHeader

if TYPE_CHECKING:
    from kproxy.telemetry.apis.dialogue import MayAlter
    from kproxy.telemetry.config_resource import Keep
    from kproxy.telemetry.payload import Push
    from kproxy.telemetry.service import Telemetry
    from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest

ENVELOPE: Final = 64 << 10
"""Bytes of a push beside its metrics, generously."""
REFUSED_AT: Final = 4
"""A push of so many times the limit is still read, to be answered that it is too large; beyond it is cut off."""
CONFIGS_LIMIT: Final = 8 << 20
"""Bytes of a request for configs; Kafka's own tools stay far below."""

_CONFIGS: Final[Mapping[int, tuple[int, int] | None]] = {
    ApiKey.DESCRIBE_CONFIGS: None,
    ApiKey.ALTER_CONFIGS: None,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: None,
    ApiKey.LIST_CONFIG_RESOURCES: (0, 1),
}
"""The versions that are served whether the broker knows them or not, of DescribeConfigs and its kin by api key."""


def policies(
    rules: Telemetry, take: Callable[[Push], None], may_alter: Callable[[], MayAlter], keep: Keep
) -> Mapping[int, ApiPolicy]:
    """By api key, of one virtual cluster.

    `take` gets each push that was accepted; `may_alter` says who may alter subscriptions at the moment; `keep` has what
    was altered survive a restart.
    """
    return {
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: ApiPolicy(
            on_request=OnRequest.WHOLE,
            request=answering(GetTelemetrySubscriptionsRequest.decode, partial(_get, rules)),
            own=(0, 0),
            alone=True,
        ),
        ApiKey.PUSH_TELEMETRY: ApiPolicy(
            on_request=OnRequest.WHOLE,
            request=answering(a72_push_telemetry.decode, partial(_push, rules, take)),
            request_limit=REFUSED_AT * rules.max_bytes + ENVELOPE,
            own=(0, 0),
            alone=True,
        ),
        **{key: _of_configs(rules, may_alter, keep, key, own) for key, own in _CONFIGS.items()},
    }


def _of_configs(
    rules: Telemetry, may_alter: Callable[[], MayAlter], keep: Keep, key: int, own: tuple[int, int] | None
) -> ApiPolicy:
    def handle(context: Context, frame: memoryview) -> AskBroker | None:
        from kproxy.telemetry.config_policies import handler  # noqa: PLC0415 - it says why

        return handler(rules, may_alter(), keep, key)(context, frame)

    return ApiPolicy(on_request=OnRequest.WHOLE, request=handle, request_limit=CONFIGS_LIMIT, own=own)


def _get(
    rules: Telemetry, context: Context, header: RequestHeader, request: GetTelemetrySubscriptionsRequest
) -> Answering:
    info = _info(context, header, request.client_instance_id)
    response = a71_get_telemetry_subscriptions.answer(rules, info, request, time.time())
    yield
    return response


def _push(
    rules: Telemetry,
    take: Callable[[Push], None],
    context: Context,
    header: RequestHeader,
    request: PushTelemetryRequest,
) -> Answering:
    info = _info(context, header, request.client_instance_id)
    response, push = a72_push_telemetry.answer(rules, info, request, time.time())
    yield
    if push is not None:
        take(push)
    return response


def _info(context: Context, header: RequestHeader, instance_id: UUID) -> ClientInfo:
    name, version = context.software or (None, None)
    return ClientInfo(instance_id, header.client_id, name, version, context.host, context.port or 0)
