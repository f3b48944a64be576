"""Telemetry's part of requests for configs. Loaded with the first of them: 25 ms and 3 MB that no start waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kproxy.protocol.ask_broker import conversing
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import AskBroker, Forward
from kproxy.telemetry.apis import (
    a32_describe_configs,
    a33_alter_configs,
    a44_incremental_alter_configs,
    a74_list_config_resources,
)
from kproxy.telemetry.config_resource import CLIENT_METRICS
from kproxy.wire.generated.alter_configs_request import AlterConfigsRequest
from kproxy.wire.generated.describe_configs_request import DescribeConfigsRequest
from kproxy.wire.generated.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kproxy.wire.generated.list_config_resources_request import ListConfigResourcesRequest
from kproxy.wire.message import WireMessage

if TYPE_CHECKING:
    from kproxy.telemetry.apis.conversation import Conversation, Outcome
    from kproxy.telemetry.client_telemetry import ClientTelemetry

_CONFIGS: Final[dict[int, tuple[Any, type[Any]]]] = {
    a32_describe_configs.KEY: (a32_describe_configs, DescribeConfigsRequest),
    a33_alter_configs.KEY: (a33_alter_configs, AlterConfigsRequest),
    a44_incremental_alter_configs.KEY: (a44_incremental_alter_configs, IncrementalAlterConfigsRequest),
    a74_list_config_resources.KEY: (a74_list_config_resources, ListConfigResourcesRequest),
}
"""Module and its request, by api key."""


def handler(telemetry: ClientTelemetry, key: int) -> Callable[[Context, memoryview], AskBroker | Forward]:
    """What the relay hands requests of that api to."""
    api, request_type = _CONFIGS[key]

    def converse(request: WireMessage, version: int) -> Conversation[Outcome]:
        conversation: Conversation[Outcome] = api.converse(telemetry.core, telemetry.admin, request, version)
        return conversation

    return conversing(request_type.decode, _concerns, converse, telemetry.change)


def _concerns(request: Any) -> bool:
    """Whether subscriptions are among the resources; a request to list them may be for any."""
    if isinstance(request, ListConfigResourcesRequest):
        return True
    return any(resource.resource_type == CLIENT_METRICS for resource in request.resources)
