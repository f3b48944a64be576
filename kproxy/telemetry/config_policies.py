"""Telemetry's part of config requests: the handlers of requests that describe, alter or list configs.

kproxy.telemetry.policies calls `handler` for each such request. It imports this module at the first of them, not at
start, since that takes 25 ms and 3 MB.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from kproxy.protocol.ask_broker import Dialogue, Reply, asking_broker
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import AskBroker
from kproxy.telemetry.apis import alter_configs, describe_configs, list_config_resources
from kproxy.telemetry.apis.dialogue import Altered, MayAlter
from kproxy.telemetry.apis.listed import Listed
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
from kproxy.wire.message import WireMessage

_CONFIGS: Final[dict[int, tuple[Any, type[Any]]]] = {
    ApiKey.DESCRIBE_CONFIGS: (describe_configs.converse, DescribeConfigsRequest),
    ApiKey.ALTER_CONFIGS: (alter_configs.converse, AlterConfigsRequest),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (alter_configs.converse_incremental, IncrementalAlterConfigsRequest),
    ApiKey.LIST_CONFIG_RESOURCES: (list_config_resources.converse, ListConfigResourcesRequest),
}
"""What starts the dialogue with the broker, and the request type of each API, by api key."""
RESPONSES: Final[dict[int, type[WireMessage]]] = {
    ApiKey.API_VERSIONS: ApiVersionsResponse,
    ApiKey.DESCRIBE_CONFIGS: DescribeConfigsResponse,
    ApiKey.ALTER_CONFIGS: AlterConfigsResponse,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: IncrementalAlterConfigsResponse,
    ApiKey.DESCRIBE_CLUSTER: DescribeClusterResponse,
    ApiKey.LIST_CONFIG_RESOURCES: Listed,
}
"""The broker's response types to the requests of dialogues, by api key."""


def handler(
    telemetry: Telemetry, may_alter: MayAlter, keep: Keep, key: int
) -> Callable[[Context, memoryview], AskBroker | None]:
    """Return the relay's handler for requests of the API `key`."""
    converse, request_type = _CONFIGS[key]

    def begin(request: WireMessage, version: int) -> Dialogue[Altered]:
        dialogue: Dialogue[Altered] = converse(telemetry, may_alter, request, version)
        return dialogue

    return asking_broker(request_type.decode, _concerns, begin, RESPONSES, partial(conclude, keep))


def _concerns(request: Any) -> bool:
    """True when subscriptions are among the resources. A request to list resources may always concern them."""
    if isinstance(request, ListConfigResourcesRequest):
        return True
    return any(resource.resource_type == CLIENT_METRICS for resource in request.resources)


def conclude(keep: Keep, altered: Altered, reply: Reply) -> WireMessage | None:
    """Return the response if nothing was altered. Otherwise return None, and `reply` once the changes are stored."""
    if not altered.changes:
        return altered.response
    keep(altered.changes, lambda unkept: reply(alter_configs.after_keeping(altered, unkept)))
    return None
