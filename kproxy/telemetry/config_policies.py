"""Telemetry's part of requests for configs. Loaded with the first of them: 25 ms and 3 MB that no start waits for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from kproxy.protocol.ask_broker import Dialogue, Reply, asking_broker
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import AskBroker
from kproxy.telemetry.apis import (
    a32_describe_configs,
    a33_alter_configs,
    a44_incremental_alter_configs,
    a74_list_config_resources,
)
from kproxy.telemetry.apis.altering import after_keeping
from kproxy.telemetry.apis.dialogue import Altered, MayAlter
from kproxy.telemetry.config_resource import CLIENT_METRICS, Keep
from kproxy.telemetry.service import Telemetry
from kproxy.wire.generated.alter_configs_request import AlterConfigsRequest
from kproxy.wire.generated.alter_configs_response import AlterConfigsResponse
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.generated.describe_cluster_response import DescribeClusterResponse
from kproxy.wire.generated.describe_configs_request import DescribeConfigsRequest
from kproxy.wire.generated.describe_configs_response import DescribeConfigsResponse
from kproxy.wire.generated.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kproxy.wire.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kproxy.wire.generated.list_config_resources_request import ListConfigResourcesRequest
from kproxy.wire.generated.list_config_resources_response import ListConfigResourcesResponse
from kproxy.wire.message import WireMessage

_CONFIGS: Final[dict[int, tuple[Any, type[Any]]]] = {
    ApiKey.DESCRIBE_CONFIGS: (a32_describe_configs, DescribeConfigsRequest),
    ApiKey.ALTER_CONFIGS: (a33_alter_configs, AlterConfigsRequest),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (a44_incremental_alter_configs, IncrementalAlterConfigsRequest),
    ApiKey.LIST_CONFIG_RESOURCES: (a74_list_config_resources, ListConfigResourcesRequest),
}
"""Module and its request, by api key."""
RESPONSES: Final[dict[int, type[WireMessage]]] = {
    ApiKey.API_VERSIONS: ApiVersionsResponse,
    ApiKey.DESCRIBE_CONFIGS: DescribeConfigsResponse,
    ApiKey.ALTER_CONFIGS: AlterConfigsResponse,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: IncrementalAlterConfigsResponse,
    ApiKey.DESCRIBE_CLUSTER: DescribeClusterResponse,
    ApiKey.LIST_CONFIG_RESOURCES: ListConfigResourcesResponse,
}
"""What a broker answers to what dialogues ask it, by api key."""


def handler(
    rules: Telemetry, may_alter: MayAlter, keep: Keep, key: int
) -> Callable[[Context, memoryview], AskBroker | None]:
    """What the relay hands requests of that api to."""
    api, request_type = _CONFIGS[key]

    def begin(request: WireMessage, version: int) -> Dialogue[Altered]:
        dialogue: Dialogue[Altered] = api.converse(rules, may_alter, request, version)
        return dialogue

    return asking_broker(request_type.decode, _concerns, begin, RESPONSES, partial(conclude, keep))


def _concerns(request: Any) -> bool:
    """Whether subscriptions are among the resources; a request to list them may be for any."""
    if isinstance(request, ListConfigResourcesRequest):
        return True
    return any(resource.resource_type == CLIENT_METRICS for resource in request.resources)


def conclude(keep: Keep, altered: Altered, reply: Reply) -> WireMessage | None:
    """The response; where something was altered it comes once that is kept."""
    if not altered.changes:
        return altered.response
    keep(altered.changes, lambda unkept: reply(after_keeping(altered, unkept)))
    return None
