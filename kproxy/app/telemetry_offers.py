"""Telemetry's offers to the relay: its own two APIs, and its part of those for configs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from kproxy.app.answering import answering, conversing
from kproxy.relay.context import Context
from kproxy.relay.routes import Offer, OnRequest
from kproxy.telemetry.apis import (
    a32_describe_configs,
    a33_alter_configs,
    a44_incremental_alter_configs,
    a71_get_telemetry_subscriptions,
    a72_push_telemetry,
    a74_list_config_resources,
)
from kproxy.telemetry.config_resource import CLIENT_METRICS
from kproxy.telemetry.instance import ClientInfo
from kproxy.wire.generated.alter_configs_request import AlterConfigsRequest
from kproxy.wire.generated.describe_configs_request import DescribeConfigsRequest
from kproxy.wire.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kproxy.wire.generated.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kproxy.wire.generated.list_config_resources_request import ListConfigResourcesRequest
from kproxy.wire.header import RequestHeader
from kproxy.wire.message import WireMessage

if TYPE_CHECKING:
    from kproxy.app.telemetry import ClientTelemetry
    from kproxy.telemetry.apis.conversation import Conversation, Outcome
    from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest

ENVELOPE: Final = 64 << 10
"""Bytes of a push beside its metrics, generously."""
REFUSED_AT: Final = 4
"""A push of so many times the limit is still read, to be answered that it is too large; beyond it is cut off."""
CONFIGS_LIMIT: Final = 8 << 20
"""Bytes of a request for configs; Kafka's own tools stay far below."""

_CONFIGS: Final[tuple[tuple[Any, type[Any], tuple[int, int] | None], ...]] = (
    (a32_describe_configs, DescribeConfigsRequest, None),
    (a33_alter_configs, AlterConfigsRequest, None),
    (a44_incremental_alter_configs, IncrementalAlterConfigsRequest, None),
    (a74_list_config_resources, ListConfigResourcesRequest, (0, 1)),
)
"""Module, its request, and the versions that are served whether the broker knows them or not."""


def offers(telemetry: ClientTelemetry) -> Mapping[int, Offer]:
    """What the relay hands to telemetry, by api key."""
    return {
        a71_get_telemetry_subscriptions.KEY: Offer(
            on_request=OnRequest.WHOLE,
            request=answering(GetTelemetrySubscriptionsRequest.decode, partial(_get, telemetry)),
            own=(0, 0),
        ),
        a72_push_telemetry.KEY: Offer(
            on_request=OnRequest.WHOLE,
            request=answering(a72_push_telemetry.decode, partial(_push, telemetry)),
            request_limit=REFUSED_AT * telemetry.max_bytes + ENVELOPE,
            own=(0, 0),
        ),
        **{api.KEY: _of_configs(telemetry, api, request, own) for api, request, own in _CONFIGS},
    }


def _of_configs(telemetry: ClientTelemetry, api: Any, request_type: type[Any], own: tuple[int, int] | None) -> Offer:
    def converse(request: WireMessage, version: int) -> Conversation[Outcome]:
        conversation: Conversation[Outcome] = api.converse(telemetry.core, telemetry.admin, request, version)
        return conversation

    return Offer(
        on_request=OnRequest.WHOLE,
        request=conversing(request_type.decode, _concerns, converse, telemetry.change),
        request_limit=CONFIGS_LIMIT,
        own=own,
    )


def _concerns(request: Any) -> bool:
    """Whether subscriptions are among the resources; a request to list them may be for any."""
    if isinstance(request, ListConfigResourcesRequest):
        return True
    return any(resource.resource_type == CLIENT_METRICS for resource in request.resources)


def _get(
    telemetry: ClientTelemetry, context: Context, header: RequestHeader, request: GetTelemetrySubscriptionsRequest
) -> WireMessage:
    info = _info(context, header, request.client_instance_id)
    return a71_get_telemetry_subscriptions.answer(telemetry.core, info, request, time.time())


def _push(
    telemetry: ClientTelemetry, context: Context, header: RequestHeader, request: PushTelemetryRequest
) -> WireMessage:
    info = _info(context, header, request.client_instance_id)
    response, push = a72_push_telemetry.answer(telemetry.core, info, request, time.time())
    if push is not None:
        telemetry.fanout.offer(push)
    return response


def _info(context: Context, header: RequestHeader, instance_id: UUID) -> ClientInfo:
    name, version = context.software or (None, None)
    port = context.client.rpartition(":")[2]
    return ClientInfo(instance_id, header.client_id, name, version, context.host, int(port) if port.isdigit() else 0)
